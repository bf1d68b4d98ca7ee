"""The small words that every other record is made of: arrays, modalities, the grid of patches."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Payload = dict[str, Any]  # what travels as JSON


class Modality(StrEnum):
    """One of the three cameras; equal to its plain string (`Modality.RGB == "rgb"`)."""

    RGB = "rgb"
    NIR = "nir"
    TIR = "tir"

    @property
    def others(self) -> tuple["Modality", "Modality"]:
        """The two other modalities, in the reference order (rgb: nir, tir; nir: rgb, tir; tir: rgb, nir)."""
        first, second = (m for m in Modality if m is not self)
        return first, second


MODALITIES: tuple[Modality, ...] = tuple(Modality)


@dataclass(frozen=True)
class Grid:
    """Rows and columns of patches. It travels with the tokens and is never guessed from their number."""

    rows: int
    cols: int

    def __post_init__(self) -> None:
        if self.rows < 1 or self.cols < 1:
            raise ValueError(f"A grid needs at least one row and one column, not {self.rows}x{self.cols}.")

    def __iter__(self) -> Iterator[int]:
        return iter((self.rows, self.cols))

    @property
    def patches(self) -> int:
        """N, the number of patches."""
        return self.rows * self.cols

    def row_col(self, index: int) -> tuple[int, int]:
        """Row and column of a patch; patches are numbered row by row."""
        return divmod(index, self.cols)
