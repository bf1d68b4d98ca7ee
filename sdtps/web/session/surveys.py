"""Galleries that were looked over: held for their thumbnails and figures, and for the order of the folder browser."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sdtps.matters.cases import COLUMNS, Survey
from sdtps.models.reid import LoadedModel
from sdtps.support.byte_lru import ByteLru
from sdtps.types import Settings
from sdtps.web.session.data_registry import Located, NamedDataset
from sdtps.web.session.requests import Refusal

HELD_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True)
class Held:
    """A survey, and what is needed to show its sets."""

    survey: Survey
    source: NamedDataset
    split: str
    model: LoadedModel
    settings: Settings

    def holds(self, source: NamedDataset, split: str) -> bool:
        """Whether it is about this split."""
        return self.source is source and self.split == split

    def located(self, number: int) -> Located:
        """The record at a place of the survey."""
        return self.source.at(self.split, self.source.place(self.split, self.survey.records[number]))


@dataclass(frozen=True)
class Arrangement:
    """By which number records are sorted, and between which bounds it lies; None means any."""

    column: str
    descending: bool = False
    low: float | None = None
    high: float | None = None

    def accepts(self, value: float) -> bool:
        """Whether a number lies between the bounds; one that cannot be told does so only where there are none."""
        if self.low is None and self.high is None:
            return True
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


_held: ByteLru[Held] = ByteLru(HELD_BYTES, lambda held: held.survey.bytes)
hold = _held.put


def find(key: str, numbers: Sequence[int] = ()) -> Held:
    """A survey by its key; refused where it is gone, or has no such numbers."""
    held = _held.get(key)
    if held is None or any(n >= len(held.survey.records) for n in numbers):
        raise Refusal("cases.gone", "The server no longer holds this overview; look the data over again.")
    return held


def values_of(held: Held, column: str) -> dict[int, float]:
    """A number of each record, by its place in the split's list."""
    values = held.survey.table[:, COLUMNS.index(column)]
    return {
        held.source.place(held.split, record): float(value)
        for record, value in zip(held.survey.records, values, strict=True)
    }


def arranged(places: Sequence[int], values: dict[int, float], wanted: Arrangement) -> list[int]:
    """Places in the order of their numbers, those without one last, as far as they lie between the bounds."""
    told = {place: values.get(place, math.nan) for place in places}
    listed = [place for place in places if wanted.accepts(told[place])]
    known = [place for place in listed if not math.isnan(told[place])]
    unknown = [place for place in listed if math.isnan(told[place])]
    sign = -1 if wanted.descending else 1
    return sorted(known, key=lambda place: (sign * told[place], place)) + unknown
