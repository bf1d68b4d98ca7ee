"""A slider move, all numbers, against the ViT-B/16 forward that it saves."""

import itertools

import numpy as np
import torch

from benchmarks.measure import Bar, Findings, Row, compare
from benchmarks.subjects import files, input_tensor, subjects, vit
from sdtps import Settings
from sdtps.images.read import read_triplet
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet

BAR = Bar(0.01)


def rescore(name: str, model: LoadedModel, rounds: int) -> Row:
    """Cached tokens to every number of the page, at ever new settings."""
    backbone = vit().net.backbone
    images = input_tensor(vit())
    opened = OpenSet.of(model, read_triplet(*files()))
    steps = itertools.cycle(np.linspace(0.1, 0.9, 37))

    def ours() -> None:
        opened.analyse(Settings(sparse_ratio=float(next(steps)), beta=0.2, tau=0.7))

    def reference() -> None:
        with torch.inference_mode():
            backbone(images)

    return compare(f"slider move, all numbers / ViT-B/16 forward, {name}", ours, reference, BAR, rounds)


def run(quick: bool) -> Findings:
    """Every model."""
    return Findings(tuple(rescore(name, model, 5 if quick else 25) for name, model in subjects().items()))
