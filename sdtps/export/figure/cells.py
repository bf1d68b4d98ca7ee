"""A picture of a figure: photograph, heat map, kept patches, outline. Vector, but for photographs and their lines."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import NDArray

from sdtps.export.figure.style import FRAME, FigureOptions
from sdtps.export.rendering import SHADE, brightness, colour_table, colours_of, dimmed_to
from sdtps.images.edges import Layer
from sdtps.images.encode import Pixels
from sdtps.types import BoolArray, FloatArray, Grid

HATCH: dict[str, Any] = {"facecolor": "#c9c9c9", "edgecolor": "#f2f2f2", "linewidth": 0, "hatch": "////"}
MARK: dict[str, Any] = {"facecolor": "none", "edgecolor": (1, 1, 1, 0.55), "linewidth": 0, "hatch": "////", "zorder": 3}
SEAM = 0.25  # points that a square reaches below its neighbours, so that no viewer shows a seam between them
LINE = 0.7  # points


def photo(axes: Axes, pixels: Pixels | None, grid: Grid, alpha: float = 1.0, order: int = 0) -> None:
    """The photograph over the whole cell, or the hatched grey of a missing modality."""
    fit(axes, grid)
    if pixels is not None:
        picture(axes, pixels, grid, order, alpha)
    elif alpha == 1:
        axes.add_patch(Rectangle((0, 0), grid.cols, grid.rows, **HATCH))
    fit(axes, grid)


def picture(axes: Axes, pixels: NDArray[np.uint8], grid: Grid, order: int, alpha: float = 1.0) -> None:
    """Pixels over the whole cell."""
    extent = (0, grid.cols, grid.rows, 0)
    axes.imshow(pixels, extent=extent, interpolation="bilinear", aspect="auto", alpha=alpha, zorder=order)


def heat(
    axes: Axes,
    pixels: Pixels | None,
    values: FloatArray,
    limits: Sequence[float],
    look: FigureOptions,
    grid: Grid,
    mask: BoolArray | None = None,
    *,
    flat: bool = False,
) -> None:
    """A heat map in the colours of its bar, where the mask is True, and over it what the options name.

    Blended, squares lie under a photograph of 1 - opacity: the same mix as squares over it, but opaque squares may
    overlap.
    """
    over = look.rendering
    if over.blended:
        photo(axes, pixels, grid)
    elif mask is not None:
        axes.add_patch(Rectangle((0, 0), grid.cols, grid.rows, linewidth=0, facecolor=shade(look.dropped), zorder=0))
    shown = np.arange(grid.patches) if mask is None else np.flatnonzero(mask)
    rows, cols = np.divmod(shown, grid.cols)
    colours = colours_of(values[shown], limits, colour_table(look.colormap), flat=flat) / 255
    add_squares(axes, cols, rows, cols + 1, rows + 1, colours)
    if mask is not None and len(shown):
        axes.collections[-1].set_clip_path(outline(mask, grid), axes.transData)
    layer = None if pixels is None else over.layer(pixels)
    if layer is not None:
        picture(axes, rgba(layer), grid, order=2)
    elif pixels is not None and over.opacity < 1 and len(shown):
        photo(axes, pixels, grid, 1 - over.opacity, order=2)
        if mask is not None:
            axes.images[-1].set_clip_path(outline(mask, grid), axes.transData)
    fit(axes, grid)


def rgba(layer: Layer) -> NDArray[np.uint8]:
    """(H, W, 2) grey and alpha as (H, W, 4)."""
    return np.concatenate([layer[..., :1]] * 3 + [layer[..., 1:]], axis=-1)


def shade(how: str) -> Any:
    """The colour of dropped patches on a map."""
    return "black" if how == "black" else tuple(part / 255 for part in SHADE)


def add_squares(axes: Axes, left: Any, top: Any, right: Any, bottom: Any, colours: NDArray[np.float64]) -> None:
    """(N,) rectangles in (N, 3) colours, each painted over the ones before it."""
    corners = np.stack([[left, top], [right, top], [right, bottom], [left, bottom]]).transpose(2, 0, 1)  # (N, 4, 2)
    look: dict[str, Any] = {"edgecolors": colours, "linewidths": SEAM, "joinstyle": "miter", "antialiased": False}
    axes.add_collection(PolyCollection(list(corners), facecolors=colours, zorder=1, **look))


def dropped(axes: Axes, mask: BoolArray, grid: Grid, how: str, pixels: Pixels | None) -> None:
    """Darken or blacken what was dropped, and draw the line between kept and dropped."""
    left = 0.0 if how == "black" or pixels is None else dimmed_to(mask, brightness(pixels, grid))
    region(axes, ~mask, grid, facecolor="black", alpha=1 - left)
    contour(axes, mask, grid)


def contour(axes: Axes, mask: BoolArray, grid: Grid) -> None:
    """The line between kept and dropped."""
    region(axes, mask, grid, facecolor="none", edgecolor="white", linewidth=LINE)


def hatch(axes: Axes, grid: Grid) -> None:
    """Slanted lines over a map that compares with a picture that was not there."""
    axes.add_patch(Rectangle((0, 0), grid.cols, grid.rows, **MARK))


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
