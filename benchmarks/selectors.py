"""A slider move of every selector against one of SDTPS, at the same tokens."""

import itertools
from dataclasses import replace
from functools import lru_cache

import numpy as np

from benchmarks.measure import Bar, Findings, Row, Work, compare
from benchmarks.subjects import files
from sdtps.checkpoints.load import random_model
from sdtps.images.read import read_triplet
from sdtps.models.feature import FusionConfig
from sdtps.models.reid import LoadedModel, ModelConfig
from sdtps.pipeline import OpenSet

BAR = Bar(1.1)
# The tokens of DeMo's CLIP (128 of 512 channels) from a backbone that is quickly built: it is not what is measured.
SDTPS = ModelConfig(
    kind="clip",
    name="vit_base_patch16_clip_quickgelu_224",
    backbone_options={"projection": 512, "timm_options": {"embed_dim": 64, "num_heads": 4, "depth": 1}},
)
DGAF = FusionConfig(("dgaf",), dgaf={})
MOVES = 37  # positions of a slider, none twice in a row


def models() -> dict[str, ModelConfig]:
    """Every selector, with the fusion heads that wait for its choice."""
    soft, sim = replace(SDTPS, variant="soft"), replace(SDTPS, variant="sim")
    return {
        "importance": replace(SDTPS, variant="importance"),
        "SDTPS + DGAF": replace(SDTPS, fusion=DGAF),
        "soft": soft,
        "soft + DGAF": replace(soft, fusion=DGAF),
        "SIM": sim,
    }


@lru_cache
def _opened(config: str) -> OpenSet:
    chosen = SDTPS if config == "SDTPS" else models()[config]
    model: LoadedModel = random_model(chosen, device="cpu")
    return OpenSet.of(model, read_triplet(*files()))


def moving(config: str) -> Work:
    """One slider move, all numbers: the sparse ratio, or the first knob where a selector does not read it."""
    opened = _opened(config)
    variant = opened.model.net.sdtps.variant
    start = opened.model.settings
    if "sparse_ratio" in variant.reads:
        places = [replace(start, sparse_ratio=float(v)) for v in np.linspace(0.1, 0.9, MOVES)]
    else:
        knob = variant.knobs[0]
        values = np.linspace(knob.low, min(knob.high, opened.model.net.backbone.grid.patches), MOVES).round()
        places = [replace(start, knobs={**start.knobs, knob.name: float(v)}) for v in values]
    settings = itertools.cycle(places)
    return lambda: opened.analyse(next(settings))


def run(quick: bool) -> Findings:
    """Each against SDTPS, taking turns."""
    rounds = 20 if quick else 100
    rows: list[Row] = [
        compare(f"slider move of {name} / of SDTPS", moving(name), moving("SDTPS"), BAR, rounds) for name in models()
    ]
    return Findings(tuple(rows))
