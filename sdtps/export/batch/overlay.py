"""One triplet as a strip: per modality the photograph, the score over it, and what is kept or how it is weighed."""

from collections.abc import Mapping

import numpy as np
from PIL import Image

from sdtps.export.figure.cells import DIM, DIM_ALPHA, colours_of
from sdtps.export.payload import colour_table
from sdtps.images.decode import FILL
from sdtps.images.encode import Pixels
from sdtps.types import Analysis, BoolArray, Grid

OPACITY = 0.65


def overlay(analysis: Analysis, pixels: Mapping[str, Pixels | None], colormap: str = "viridis") -> Pixels:
    """(H, 9W, 3) pixels."""
    shape = next(p.shape for p in pixels.values() if p is not None)
    table = colour_table(colormap)
    tiles: list[Pixels] = []
    for m, trace in analysis.traces.items():
        given = pixels[m]
        photo = np.full(shape, FILL, np.uint8) if given is None else given
        limits = float(trace.score.min()), float(trace.score.max())
        colours = (colours_of(trace.score, limits, table) * 255).round().astype(np.uint8)
        score = blend(photo, spread(colours, analysis.grid, shape), OPACITY)
        dim = np.broadcast_to(np.array([int(DIM[i : i + 2], 16) for i in (1, 3, 5)], np.uint8), shape)
        if trace.weights is not None:
            weights = colours_of(trace.weights, (0.0, 1.0), table)
            kept = blend(photo, spread((weights * 255).round().astype(np.uint8), analysis.grid, shape), OPACITY)
        else:
            mask = spread_mask(trace.mask, analysis.grid, shape)[..., None]
            kept = np.where(mask, photo, blend(photo, dim, DIM_ALPHA))
        tiles += [photo, score, kept]
    return np.concatenate(tiles, axis=1)


def blend(below: Pixels, above: Pixels, opacity: float) -> Pixels:
    """`above` over `below`, in whole numbers."""
    share = round(opacity * 256)
    mixed: Pixels = ((below.astype(np.uint16) * (256 - share) + above.astype(np.uint16) * share) >> 8).astype(np.uint8)
    return mixed


def spread(colours: Pixels, grid: Grid, shape: tuple[int, ...]) -> Pixels:
    """(N, 3) colours as squares of the picture's size."""
    small = Image.fromarray(colours.reshape(grid.rows, grid.cols, 3))
    return np.asarray(small.resize((shape[1], shape[0]), Image.Resampling.NEAREST))


def spread_mask(mask: BoolArray, grid: Grid, shape: tuple[int, ...]) -> BoolArray:
    """(N,) mask as squares of the picture's size."""
    small = Image.fromarray(mask.reshape(grid.rows, grid.cols).astype(np.uint8) * 255)
    return np.asarray(small.resize((shape[1], shape[0]), Image.Resampling.NEAREST)) > 0
