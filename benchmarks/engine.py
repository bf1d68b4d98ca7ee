"""First analysis against the bare backbone forward; re-scoring against the ViT-B/16 forward."""

import itertools

import numpy as np
import torch

import sdtps
from benchmarks.measure import Row, compare
from sdtps import pipeline
from sdtps.checkpoints import EMBEDDED, load_model, random_model
from sdtps.inputs import prepare, read_triplet
from sdtps.model import LoadedModel, ModelConfig

VIT_B16 = ModelConfig(kind="clip", name="vit_base_patch16_clip_quickgelu_224", global_local=True)
FIRST_ANALYSIS_BAR = 1.15
RESCORE_BAR = 0.01


def photos(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three (256, 128, 3) pictures with structure."""
    y, x = np.mgrid[0:256, 0:128]
    rng = np.random.default_rng(seed)
    body = 90 * np.exp(-(((x - 64) / 24) ** 2) - ((y - 128) / 80) ** 2)[..., None]
    rgb, nir, tir = (np.clip(110 + body + rng.normal(0, 30, (256, 128, 3)), 0, 255) for _ in range(3))
    return rgb.astype(np.uint8), nir.astype(np.uint8), tir.astype(np.uint8)


def input_tensor(model: LoadedModel, pictures: tuple[np.ndarray, np.ndarray, np.ndarray]) -> torch.Tensor:
    """(3, 1, 3, H, W), ready for the bare batched forward that is the limit."""
    backbone = model.net.backbone
    return prepare(read_triplet(*pictures), backbone.input_size).tensor(backbone.mean, backbone.std).unsqueeze(1)


def first_analysis(name: str, model: LoadedModel, pairs: int) -> Row:
    pictures = photos()
    images = input_tensor(model, pictures)

    def ours() -> None:
        pipeline.forget()
        sdtps.analyse(model, *pictures)

    def reference() -> None:
        with torch.inference_mode():
            model.net.backbone(images)

    return compare(f"first analysis / bare forward, {name}", ours, reference, FIRST_ANALYSIS_BAR, pairs)


def rescore(name: str, model: LoadedModel, vit: LoadedModel, pairs: int) -> Row:
    triplet = read_triplet(*photos())
    images = input_tensor(vit, photos())
    size = model.net.backbone.input_size
    encoding = pipeline.encode(model, prepare(triplet, size))
    steps = itertools.cycle(np.linspace(0.1, 0.9, 37))

    def ours() -> None:
        pipeline.decide(model, encoding, sdtps.Settings(sparse_ratio=float(next(steps)), beta=0.2, tau=0.7))

    def reference() -> None:
        with torch.inference_mode():
            vit.net.backbone(images)

    return compare(f"re-scoring, all numbers, {name} / ViT-B/16 forward", ours, reference, RESCORE_BAR, pairs)


def run(quick: bool) -> list[Row]:
    pairs = 8 if quick else 25
    vit = random_model(VIT_B16, device="cpu")
    rows = [first_analysis("ViT-B/16", vit, pairs), rescore("ViT-B/16", vit, vit, pairs)]
    if EMBEDDED.exists():
        embedded = load_model(device="cpu")
        rows += [first_analysis("embedded", embedded, pairs), rescore("embedded", embedded, vit, pairs)]
    return rows
