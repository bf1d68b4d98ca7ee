"""Runs made by hand, healthy and sick."""

import numpy as np

from sdtps.runs.probe import pack
from sdtps.runs.schema import MAPS, Run, Watched

SEED = np.random.default_rng(0)
PATCHES, KEPT = 128, 64


def steps(count=40, per_epoch=5, **columns):
    """A healthy course, or what is given instead."""
    at = np.arange(count)
    course = {
        "step": at.astype(float),
        "epoch": (at // per_epoch).astype(float),
        "loss": 9.0 - 0.05 * at,
        "acc": np.minimum(0.9, 0.03 * at),
        "grad/scores": np.full(count, 1e-3),
        "grad/predictor": np.full(count, 1e-4),
        "grad/aggregation": np.full(count, 1e-2),
        "grad/head/ori": np.full(count, 3.0),
        "grad/head/sdtps": np.full(count, 3.0),
    }
    return course | {k: np.asarray(v, float) for k, v in columns.items()}


def made(name="run", settings=None, classes=40, about=None, folder=None, **columns):
    return Run(
        name,
        {"seed": 0} if settings is None else settings,
        steps(**columns),
        {},
        folder=folder,
        about={"classes": classes, **(about or {})},
    )


def watched(rng, kept=None, predictor=None):
    predictor = rng.uniform(0.2, 0.8, PATCHES) if predictor is None else predictor
    mask = np.zeros(PATCHES, bool)
    mask[rng.permutation(PATCHES)[:KEPT] if kept is None else kept] = True
    values = rng.uniform(-1, 1, (3, PATCHES)).astype(np.float32)
    total = mask.astype(np.float32)
    return Watched(values[0], values[1:], predictor.astype(np.float32), None, total, mask)


def with_maps(folder, make, epochs=4):
    """A run whose image set is watched; `make(epoch)` gives what is seen in each modality."""
    (folder / MAPS).mkdir(parents=True, exist_ok=True)
    for epoch in range(epochs):
        found = {m: make(epoch) for m in ("rgb", "nir", "tir")}
        np.savez(folder / MAPS / f"{epoch:06d}.npz", **pack([found], light=True))
    return made(folder=folder, about={"probes": [{"name": "a"}], "grid": [16, 8]})
