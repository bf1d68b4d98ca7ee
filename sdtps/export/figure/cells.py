"""One picture of a figure: photograph, heat map, kept patches, outline. Everything but the photograph is vector."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from sdtps.export.figure.style import FRAME, FigureOptions
from sdtps.export.payload import colour_table
from sdtps.images.encode import Pixels
from sdtps.types import BoolArray, FloatArray, Grid

DIM, DIM_ALPHA = "#5c6675", 0.82  # as on the page
SEAM = 0.25  # points that a square reaches below its neighbours, so that no viewer shows a seam between them
LINE = 0.7  # points


def colours_of(values: FloatArray, limits: Sequence[float], table: Pixels) -> NDArray[np.float64]:
    """(N, 3) colours in 0..1, by the same rule as on the page."""
    low, high = limits
    place = np.zeros(len(values)) if high <= low else (np.asarray(values, np.float64) - low) / (high - low)
    # Half up, as JavaScript rounds: the page and the figure pick the same entry.
    return table[np.clip(np.floor(place * 255 + 0.5), 0, 255).astype(int)] / 255


def photo(axes: Axes, pixels: Pixels | None, grid: Grid, alpha: float = 1.0, order: int = 0) -> None:
    """The photograph over the whole cell, or the hatched grey of a missing modality."""
    fit(axes, grid)
    if pixels is not None:
        extent = (0, grid.cols, grid.rows, 0)
        axes.imshow(pixels, extent=extent, interpolation="bilinear", aspect="auto", alpha=alpha, zorder=order)
    elif alpha == 1:
        look: dict[str, Any] = {"facecolor": "#c9c9c9", "edgecolor": "#f2f2f2", "linewidth": 0, "hatch": "////"}
        axes.add_patch(Rectangle((0, 0), grid.cols, grid.rows, **look))
    fit(axes, grid)


def heat(
    axes: Axes,
    pixels: Pixels | None,
    values: FloatArray,
    limits: Sequence[float],
    look: FigureOptions,
    grid: Grid,
    mask: BoolArray | None = None,
) -> None:
    """A heat map over the photograph, where the mask is True.

    Squares lie under a photograph of 1 - opacity: the same mix as squares over it, but opaque squares may overlap.
    """
    photo(axes, pixels, grid)
    shown = np.arange(grid.patches) if mask is None else np.flatnonzero(mask)
    rows, cols = np.divmod(shown, grid.cols)
    colours = colours_of(values[shown], limits, colour_table(look.colormap))
    add_squares(axes, cols, rows, cols + 1, rows + 1, colours)
    if mask is not None and len(shown):
        axes.collections[-1].set_clip_path(outline(mask, grid), axes.transData)
    if pixels is not None and look.opacity < 1 and len(shown):
        photo(axes, pixels, grid, 1 - look.opacity, order=2)
        if mask is not None:
            axes.images[-1].set_clip_path(outline(mask, grid), axes.transData)
    fit(axes, grid)


def add_squares(axes: Axes, left: Any, top: Any, right: Any, bottom: Any, colours: NDArray[np.float64]) -> None:
    """(N,) rectangles in (N, 3) colours, each painted over the ones before it."""
    corners = np.stack([[left, top], [right, top], [right, bottom], [left, bottom]]).transpose(2, 0, 1)  # (N, 4, 2)
    look: dict[str, Any] = {"edgecolors": colours, "linewidths": SEAM, "joinstyle": "miter", "antialiased": False}
    axes.add_collection(PolyCollection(list(corners), facecolors=colours, zorder=1, **look))


def dropped(axes: Axes, mask: BoolArray, grid: Grid, how: str) -> None:
    """Dim or blacken what was dropped, and draw the line between kept and dropped."""
    black = how == "black"
    region(axes, ~mask, grid, facecolor="black" if black else DIM, alpha=1 if black else DIM_ALPHA)
    region(axes, mask, grid, facecolor="none", edgecolor="white", linewidth=LINE)


def region(axes: Axes, mask: BoolArray, grid: Grid, **look: Any) -> None:
    """The patches of a mask as one shape."""
    if mask.any():
        axes.add_patch(PathPatch(outline(mask, grid), **({"linewidth": 0, "joinstyle": "miter", "zorder": 3} | look)))
    fit(axes, grid)


def frame(axes: Axes, grid: Grid, color: str = FRAME, width: float = 0.4) -> None:
    """A thin border, so that a white picture has an edge."""
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": color, "linewidth": width, "clip_on": False, "zorder": 4}
    axes.add_patch(Rectangle((0, 0), grid.cols, grid.rows, **look))


def fit(axes: Axes, grid: Grid) -> None:
    """Patch coordinates: x to the right in columns, y down in rows."""
    axes.set_xlim(0, grid.cols)
    axes.set_ylim(grid.rows, 0)


def outline(mask: BoolArray, grid: Grid) -> Path:
    """The border of a set of patches as closed loops; holes run the other way round."""
    cells = np.pad(np.asarray(mask).reshape(grid.rows, grid.cols), 1)
    follows: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def edge(start: tuple[int, int], end: tuple[int, int]) -> None:
        follows.setdefault(start, []).append(end)

    for r, c in np.argwhere(cells):
        x, y = int(c) - 1, int(r) - 1
        if not cells[r - 1, c]:
            edge((x, y), (x + 1, y))
        if not cells[r, c + 1]:
            edge((x + 1, y), (x + 1, y + 1))
        if not cells[r + 1, c]:
            edge((x + 1, y + 1), (x, y + 1))
        if not cells[r, c - 1]:
            edge((x, y + 1), (x, y))
    vertices: list[tuple[int, int]] = []
    codes: list[int] = []
    while follows:
        start = next(iter(follows))
        loop = [start]
        while True:
            ends = follows[loop[-1]]
            loop.append(ends.pop())
            if not ends:
                del follows[loop[-2]]
            if loop[-1] == start:
                break
        vertices += loop
        codes += [int(Path.MOVETO)] + [int(Path.LINETO)] * (len(loop) - 2) + [int(Path.CLOSEPOLY)]
    return Path(np.array(vertices, float), codes)
