"""The one rule by which maps become colours: page, figure, contact sheet and supplement all follow it.

A map is opaque: each patch has the colour of its value on the bar. What lies over it is named by `over`:

    lines    a thin line drawing of the photograph (the default)
    relief   a tenth of the photograph's local light and shade
    blend    the map at `opacity` over the photograph; its colours are mixed and no longer those of the bar

An opacity without an `over` means `blend`: that is what it meant before the choice was there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sdtps.images.edges import Layer, line_drawing, relief
from sdtps.images.encode import Pixels
from sdtps.support.errors import SettingsError
from sdtps.types import BoolArray, FloatArray, Grid

COLOUR_MAPS = {"viridis": "viridis", "cividis": "cividis", "inferno": "inferno", "jet": "jet", "diverging": "RdBu_r"}
LINES, RELIEF, BLEND = OVER = ("lines", "relief", "blend")
OPACITY = 0.65  # of a map that is blended
MIDDLE = 128  # entry of a colour table that an empty range gets: neutral in a diverging one
NEUTRAL = (150, 156, 164)  # a map that is flat
SHADE = (13, 15, 19)  # where a map has dropped patches: darker than any map's mean
DIM_MOST, DIM_AGAINST = 0.35, 0.5  # of its brightness that a dropped patch keeps, at most; and against the kept ones
LUMA = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True)
class Over:
    """What lies over a map, and how much of the map is seen where it is blended."""

    name: str = LINES
    opacity: float = OPACITY

    @classmethod
    def of(cls, name: str | None, opacity: float | None) -> "Over":
        """What was asked for, where either may be left out."""
        if opacity is not None and not 0 <= opacity <= 1:
            text = "opacity must lie between 0 and 1, not at {value}."
            raise SettingsError("figure.opacity", text, value=opacity)
        chosen = name or (LINES if opacity is None else BLEND)
        if chosen not in OVER:
            text = "There is no {what} {value!r}; choose one of {names}."
            raise SettingsError("figure.unknown", text, what="over", value=chosen, names=", ".join(OVER))
        return cls(chosen, OPACITY if opacity is None else opacity)

    def __str__(self) -> str:
        return f"{self.name} {self.opacity:g} (colours are mixed with the photograph)" if self.blended else self.name

    @property
    def blended(self) -> bool:
        """Whether colours are mixed with the photograph."""
        return self.name == BLEND

    def layer(self, pixels: Pixels) -> Layer | None:
        """What is drawn over the opaque map; None where it is blended instead."""
        return None if self.blended else (line_drawing if self.name == LINES else relief)(pixels)


@lru_cache
def colour_table(name: str) -> Pixels:
    """(256, 3) colours of a map in `COLOUR_MAPS`."""
    from matplotlib import colormaps  # only here: importing this package must stay cheap

    table: Pixels = colormaps[COLOUR_MAPS[name]](np.arange(256), bytes=True)[:, :3]
    return table


def colours_of(values: FloatArray, limits: Sequence[float], table: Pixels, *, flat: bool = False) -> Pixels:
    """(N, 3) colours, by the same rule as on the page; a flat map has one neutral colour."""
    if flat:
        return np.broadcast_to(np.array(NEUTRAL, np.uint8), (len(values), 3))
    low, high = limits
    if not high > low:
        return table[np.full(len(values), MIDDLE)]
    place = (np.asarray(values, np.float64) - low) / (high - low)
    # Half up, as JavaScript rounds: the page and the figure pick the same entry.
    return table[np.clip(np.floor(place * 255 + 0.5), 0, 255).astype(int)]


def brightness(pixels: Pixels, grid: Grid) -> FloatArray:
    """(N,) mean brightness of each patch, 0 to 255."""
    luma = Image.fromarray(pixels).convert("L")
    means = luma.resize((grid.cols, grid.rows), Image.Resampling.BOX)
    return np.asarray(means, np.float32).ravel()


def dimmed_to(mask: BoolArray, brightnesses: FloatArray) -> float:
    """Share of its brightness that a dropped patch keeps: so little that dropped is darker than kept in every picture.

    At most `DIM_MOST`, and as a whole at most `DIM_AGAINST` of the mean brightness of what is kept.
    """
    if mask.all() or not mask.any():
        return DIM_MOST
    kept, dropped = float(brightnesses[mask].mean()), float(brightnesses[~mask].mean())
    return DIM_MOST if dropped <= 0 else min(DIM_MOST, DIM_AGAINST * kept / dropped)


def blended(below: Pixels, above: Pixels, opacity: float) -> Pixels:
    """`above` over `below`, in whole numbers."""
    share = round(opacity * 256)
    mixed: Pixels = ((below.astype(np.uint16) * (256 - share) + above.astype(np.uint16) * share) >> 8).astype(np.uint8)
    return mixed


def painted(photo: Pixels, colours: Pixels, grid: Grid, over: Over) -> Pixels:
    """(H, W, 3) a map of (N, 3) colours on a photograph."""
    squares = spread(colours, grid, photo.shape)
    layer = over.layer(photo)
    if layer is None:
        return blended(photo, squares, over.opacity)
    above = Image.fromarray(layer).convert("RGBA").resize((photo.shape[1], photo.shape[0]), Image.Resampling.BILINEAR)
    return np.asarray(Image.alpha_composite(Image.fromarray(squares).convert("RGBA"), above).convert("RGB"))


def dim(photo: Pixels, mask: BoolArray, grid: Grid) -> Pixels:
    """(H, W, 3) the photograph with dropped patches darkened."""
    kept = spread_mask(mask, grid, photo.shape)[..., None]
    dark = np.rint(photo * dimmed_to(mask, brightness(photo, grid))).astype(np.uint8)
    return np.where(kept, photo, dark)


def spread(colours: Pixels, grid: Grid, shape: tuple[int, ...]) -> Pixels:
    """(N, 3) colours as squares of the picture's size."""
    small = Image.fromarray(np.ascontiguousarray(colours).reshape(grid.rows, grid.cols, 3))
    return np.asarray(small.resize((shape[1], shape[0]), Image.Resampling.NEAREST))


def spread_mask(mask: BoolArray, grid: Grid, shape: tuple[int, ...]) -> BoolArray:
    """(N,) mask as squares of the picture's size."""
    small = Image.fromarray(mask.reshape(grid.rows, grid.cols).astype(np.uint8) * 255)
    found: NDArray[np.bool_] = np.asarray(small.resize((shape[1], shape[0]), Image.Resampling.NEAREST)) > 0
    return found
