"""Small deterministic inputs and models; nothing is downloaded."""

import numpy as np
import pytest
import torch

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.checkpoints.load import random_model
from sdtps.models.reid import LoadedModel, ModelConfig
from tests import harness

harness.warm_start = True
TINY_VIT = {"depth": 2, "embed_dim": 48, "num_heads": 3}


def random_tokens(batch: int, patches: int, dim: int, seed: int = 0, dtype: torch.dtype = torch.float64):
    """Correlated tokens with unequal norms and a global vector per modality, so that no map is trivial."""
    generator = torch.Generator().manual_seed(seed)
    common = torch.randn(batch, 1, dim, generator=generator, dtype=dtype)
    tokens, vectors = {}, {}
    for m in ("rgb", "nir", "tir"):
        noise = torch.randn(batch, patches, dim, generator=generator, dtype=dtype)
        size = 0.5 + 2 * torch.rand(batch, patches, 1, generator=generator, dtype=dtype)
        tokens[m] = (common + noise) * size
        vectors[m] = torch.randn(batch, dim, generator=generator, dtype=dtype) + common[:, 0]
    return tokens, vectors


def shaken_module(dim: int, patches: int, *, seed: int = 0, dtype: torch.dtype = torch.float64, **options):
    """A module whose every parameter is away from its initial value, so that a forgotten affine or scale shows."""
    torch.manual_seed(seed)
    module = MultiModalSDTPS(dim, patches, **options).to(dtype)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module.eval()


def tiny_vit_config(input_size: tuple[int, int] = (256, 128), **options) -> ModelConfig:
    return ModelConfig(
        kind="vit",
        name="vit_tiny_patch16_224",
        input_size=input_size,
        backbone_options={"timm_options": TINY_VIT},
        **options,
    )


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """Features go into a folder of the test run, in this process and in those it starts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDTPS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def tiny_model() -> LoadedModel:
    return random_model(tiny_vit_config(num_classes=5), device="cpu")


@pytest.fixture(scope="session")
def photos() -> dict[str, np.ndarray]:
    """Three (256, 128, 3) pictures with structure."""
    y, x = np.mgrid[0:256, 0:128].astype(np.float32)
    body = np.exp(-(((x - 64) / 24) ** 2) - ((y - 128) / 80) ** 2)[..., None]
    rng = np.random.default_rng(7)
    pictures = {}
    for i, m in enumerate(("rgb", "nir", "tir")):
        wave = np.stack([np.sin(x / (7 + c) + i) + np.cos(y / (15 + i)) for c in range(3)], -1)
        pixels = 110 + 40 * wave + 90 * body + rng.normal(0, 8, (256, 128, 3))
        pictures[m] = np.clip(pixels, 0, 255).astype(np.uint8)
    return pictures
