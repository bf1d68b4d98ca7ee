"""Vital signs as a table beside those of an untrained selector, and the parts that do nothing, by name."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sdtps.matters.measure import Measured
from sdtps.matters.vital import FATE, SPREAD, movement
from sdtps.models.reid import LoadedModel
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

FLAT = 0.002  # a map between 0 and 1 whose spread is below this decides by rounding
IDLE = 0.005  # a map that changes fewer fates than this
SMALL_SHARE = 0.01
UNMOVED = 1e-4


@dataclass(frozen=True)
class Sign:
    """One vital sign of one modality: the mean over the data set, and that of an untrained selector (NaN without)."""

    name: str
    modality: str
    value: float
    untrained: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values; None for what is not known."""
        return {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in asdict(self).items()}


@dataclass(frozen=True)
class Signs:
    """All of them, and how far the weights moved."""

    rows: tuple[Sign, ...]
    moved: Mapping[str, float]

    def of(self, name: str) -> dict[str, Sign]:
        """One sign by modality."""
        return {s.modality: s for s in self.rows if s.name == name}

    def names(self, prefix: str) -> list[str]:
        """The maps that have a sign of this kind."""
        return [n.removeprefix(prefix) for n in dict.fromkeys(s.name for s in self.rows) if n.startswith(prefix)]


def vital_signs(measured: Measured, model: LoadedModel, initial: LoadedModel | None = None) -> Signs:
    """Means over a data set."""
    trained = measured.signs.mean(0, dtype=np.float64)  # (M, V)
    fresh = measured.untrained.mean(0, dtype=np.float64) if len(measured.untrained) else np.full_like(trained, np.nan)
    rows = [
        Sign(name, str(m), float(trained[i, v]), float(fresh[i, v]))
        for v, name in enumerate(measured.columns)
        for i, m in enumerate(MODALITIES)
    ]
    return Signs(tuple(rows), movement(model, initial))


def dead_parts(signs: Signs, share: float, model: LoadedModel) -> tuple[Message, ...]:
    """A sentence for each part that does nothing."""
    found = []
    if not model.net.selected_parts:
        text = "No part of the test feature passes through the selection, so nothing that it keeps can change a result."
        found.append(Message("matters.dead.unused", text))
    elif share < SMALL_SHARE:
        text = "Only {share:.2f} % of the feature's length passes through the selection."
        found.append(Message("matters.dead.share", text, share=100 * share))
    for name in signs.names(SPREAD):
        flat = [m.upper() for m, s in signs.of(SPREAD + name).items() if s.value < FLAT]
        if flat:
            text = "{name} is flat in {modalities} (spread below {limit})."
            found.append(Message("matters.dead.flat", text, name=name, modalities=", ".join(flat), limit=FLAT))
    for name in signs.names(FATE):
        fates = signs.of(FATE + name)
        if all(s.value < IDLE for s in fates.values()):
            text = "{name} decides nothing: with its mean instead, at most {share:.1f} % of the patches change sides."
            found.append(
                Message("matters.dead.idle", text, name=name, share=100 * max(s.value for s in fates.values()))
            )
    for part, distance in signs.moved.items():
        if distance < UNMOVED:
            text = "The {part} is where its training began: its norm layers and scale never moved."
            found.append(Message("matters.dead.unmoved", text, part=part))
    return tuple(found)
