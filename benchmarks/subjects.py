"""What is measured: the models and the triplet that all topics share."""

from functools import lru_cache
from pathlib import Path

import torch

from sdtps.checkpoints.load import load_model, random_model
from sdtps.images.read import prepare, read_triplet
from sdtps.models.reid import LoadedModel, ModelConfig
from sdtps.resources import EMBEDDED

ROOT = Path(__file__).resolve().parents[1]
VIT_B16 = ModelConfig(kind="clip", name="vit_base_patch16_clip_quickgelu_224", global_local=True)
# For what grows with the number of patches, sessions or triplets: a backbone too small to hide the rest.
SMALL = {"depth": 2, "embed_dim": 48, "num_heads": 3}
FILES = tuple(ROOT / f"assets/examples/day/{m}.png" for m in ("rgb", "nir", "tir"))

Files = tuple[bytes, bytes, bytes]


def files() -> Files:
    """The bytes of an example's three pictures."""
    rgb, nir, tir = (file.read_bytes() for file in FILES)
    return rgb, nir, tir


@lru_cache
def vit() -> LoadedModel:
    """ViT-B/16 in the DeMo layout, random weights: the cost does not depend on them."""
    return random_model(VIT_B16, device="cpu")


@lru_cache
def embedded() -> LoadedModel:
    """The model that ships with the program."""
    return load_model(device="cpu")


def small(input_size: tuple[int, int] = (256, 128)) -> LoadedModel:
    """A two-block ViT with random weights."""
    options = {"timm_options": SMALL}
    config = ModelConfig(kind="vit", name="vit_tiny_patch16_224", input_size=input_size, backbone_options=options)
    return random_model(config, device="cpu")


def subjects() -> dict[str, LoadedModel]:
    """The models of the main table, by the name it gives them."""
    return {"ViT-B/16": vit()} | ({"embedded": embedded()} if EMBEDDED.exists() else {})


def input_tensor(model: LoadedModel) -> torch.Tensor:
    """(3, 1, 3, H, W): the triplet, ready for the bare batched forward that is the limit."""
    backbone = model.net.backbone
    return prepare(read_triplet(*files()), backbone.input_size).tensor(backbone.mean, backbone.std).unsqueeze(1)
