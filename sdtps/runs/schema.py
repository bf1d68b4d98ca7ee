"""A recorded training as data, and the names of its files.

    run.json        what was trained, with which settings and versions, and which image sets were watched
    steps.jsonl     one line per step: losses, accuracies, gradient norms by route
    epochs.jsonl    one line per epoch: its scores, such as mAP
    maps/000003.npz what the selection saw and decided on the watched image sets after epoch 3
    probes/0/       the watched pictures, at the model's size
    first_bad.json  the first step that was not finite or that exploded, with its batch's statistics

JSON has no word for a number that is none, so the words "NaN", "Infinity" and "-Infinity" stand for it.
Lines are appended and files appear whole, so a training that is killed leaves a folder that opens.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.types import Grid

SCHEMA = "sdtps-run/1"
ABOUT, STEPS, EPOCHS, MAPS, PROBES, FIRST_BAD = (
    "run.json",
    "steps.jsonl",
    "epochs.jsonl",
    "maps",
    "probes",
    "first_bad.json",
)
LAB_TABLE = "lab.json"  # beside the runs of a lab: its experiments in numbers, and what the notes said of them
# What a gradient passes on its way back from the loss to the selection and on to the backbone.
ROUTES = ("scores", "predictor", "patches", "globals", "aggregation", "backbone")
GRADIENT = "grad/"  # before a route in a step's line
HEAD = "grad/head/"  # before a head's name
SEED = "seed"  # the setting that repeats of one run differ in

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Watched:
    """What the selection saw and decided on one image set after one epoch, by modality; N patches.

    Attributes:
        raw_self: (N,) cosines with the own global vector.
        raw_cross: (2, N) cosines with the two others' global vectors.
        predictor: (N,) or None.
        logits: (rows, N) aggregation logits, where they were recorded.
        aggregation: (N,) total weight of each patch over the aggregated tokens, at the recorded settings; the mask of a
            soft selector, or how much the globals look at each patch.
        kept: (N,) bool, at the recorded settings; the heaviest patches where a mask weighs and drops none.
        own: what a selector besides SDTPS computes and decides from, by name.
    """

    raw_self: NDArray[np.float32]
    raw_cross: NDArray[np.float32]
    predictor: NDArray[np.float32] | None
    logits: NDArray[np.float32] | None
    aggregation: NDArray[np.float32] | None
    kept: NDArray[np.bool_]
    own: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """One recorded training.

    Attributes:
        name: what to call it.
        settings: everything that was set, by name; two runs are compared by it.
        steps: scalar name → (S,) values by step, `columns.ABSENT` where a step has none; `step` and
            `epoch` among them.
        epochs: scalar name → (E,) values by epoch; `epoch` among them.
        folder: where it lies; None for runs read from other programs' logs.
        about: the rest of `run.json`: versions, classes, grid, probes.
        first_bad: the first bad step, where there was one.
        notes: plain sentences on what was left out while reading.
    """

    name: str
    settings: Mapping[str, Any]
    steps: Mapping[str, Values]
    epochs: Mapping[str, Values]
    folder: Path | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    first_bad: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()

    @property
    def grid(self) -> Grid | None:
        """Rows and columns of the watched maps."""
        grid = self.about.get("grid")
        return Grid(*grid) if grid else None

    @property
    def probes(self) -> tuple[str, ...]:
        """Names of the watched image sets."""
        return tuple(p["name"] for p in self.about.get("probes", ()))

    @property
    def classes(self) -> int | None:
        """Identities that the heads tell apart."""
        return self.about.get("classes")

    @cached_property
    def watched_epochs(self) -> tuple[int, ...]:
        """Epochs with maps, in order."""
        if self.folder is None:
            return ()
        return tuple(sorted(int(f.stem) for f in (self.folder / MAPS).glob("*.npz") if f.stem.isdigit()))

    def scalar(self, name: str) -> Values:
        """Values by step; empty where the run has no such number."""
        return self.steps.get(name, np.empty(0))

    def by_epoch(self, name: str) -> tuple[Values, Values]:
        """Epochs and the mean of a step's number in each, or the epoch's own number; empty where there is none."""
        if name in self.epochs:
            there = np.isfinite(self.epochs[name])
            return self.epochs["epoch"][there], self.epochs[name][there]
        values, of = self.scalar(name), self.scalar("epoch")
        if not len(values) or np.isnan(values).all():
            return np.empty(0), np.empty(0)
        numbers = np.unique(of)
        means = [float(np.mean(values[of == n])) for n in numbers]
        return numbers, np.array(means)
