"""One triplet as a strip: per modality the photograph, its score map, and what is kept or how it is weighed."""

from collections.abc import Mapping

import numpy as np

from sdtps.export.rendering import Over, colour_table, colours_of, dim, painted
from sdtps.images.decode import FILL
from sdtps.images.encode import Pixels
from sdtps.metrics.flatness import flat_maps
from sdtps.types import Analysis

STRIPE, STRIPES = 40, 10  # grey levels and pixels of the hatching


def overlay(
    analysis: Analysis, pixels: Mapping[str, Pixels | None], colormap: str = "viridis", over: Over | None = None
) -> Pixels:
    """(H, 9W, 3) pixels; a missing modality is hatched, since nothing was seen there."""
    over = over or Over()
    shape = next(p.shape for p in pixels.values() if p is not None)
    table = colour_table(colormap)
    tiles: list[Pixels] = []
    for m, trace in analysis.traces.items():
        photo = pixels[m]
        if photo is None:
            tiles += [hatched(shape)] * 3
            continue
        flat = flat_maps(trace, m, analysis.settings, moving=True)["score"]
        limits = float(trace.score.min()), float(trace.score.max())
        colours = colours_of(trace.score, limits, table, flat=flat)
        tiles += [photo, painted(photo, colours, analysis.grid, over)]
        if trace.weights is None:
            tiles.append(dim(photo, trace.mask, analysis.grid))
        else:
            tiles.append(painted(photo, colours_of(trace.weights, (0.0, 1.0), table), analysis.grid, over))
    return np.concatenate(tiles, axis=1)


def hatched(shape: tuple[int, ...]) -> Pixels:
    """(H, W, 3) grey with slanted stripes."""
    down, right = np.indices(shape[:2])
    stripes = ((down + right) // STRIPES) % 2
    grey = np.array(FILL, np.int64) + STRIPE * stripes[..., None]
    return grey.astype(np.uint8)
