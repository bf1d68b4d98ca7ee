"""What of a photograph may lie over a map without hiding its colours: a thin line drawing, or a faint relief.

Both are layers: (H, W, 2) grey and alpha, laid over the whole map. Where alpha is 0 the map's colour stays as it is.
They follow the picture's own contrast, so a picture taken at night has lines, too; one without contrast has none.
"""

import base64
import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from sdtps.images.encode import Pixels

Layer = NDArray[np.uint8]
Plane = NDArray[np.float32]

REFERENCE_WIDTH = 128  # of a picture whose lines are one pixel thin
LINE_SHARE = 0.045  # at most so many of the pixels are lines
WEAKEST = 0.12  # of the strongest usual gradient: what is weaker is grain
LEAST_CONTRAST = 2.0  # grey levels between dark and bright below which a picture is empty
NEIGHBOURS = 4  # line pixels within two steps that make a line of a speck
LINE_ALPHA, HALO_ALPHA = 215, 95
STEEP = 2.414  # the tangent of 67.5 degrees: between upright and slanted
RELIEF_ALPHA = 0.10
RELIEF_LEVELS = 8  # steps of the relief on each side: it must be small on its way


def line_drawing(pixels: Pixels) -> Layer:
    """The outlines of a photograph: light lines of one pixel, with a dark halo that sets them off from light colours.

    Args:
        pixels: (H, W, 3).

    Returns:
        (H, W, 2) grey and alpha.
    """
    lines = edge_mask(pixels)
    around = np.asarray(Image.fromarray(lines.astype(np.uint8) * 255).filter(ImageFilter.MaxFilter(3))) > 0
    layer = np.zeros((*lines.shape, 2), np.uint8)
    layer[..., 0] = np.where(lines, 255, 0)
    layer[..., 1] = np.where(lines, LINE_ALPHA, np.where(around, HALO_ALPHA, 0))
    return layer


def edge_mask(pixels: Pixels) -> NDArray[np.bool_]:
    """(H, W) True on the outlines: ridges of the gradient, the strongest of the picture, without specks."""
    grey = _lifted(pixels)
    if grey is None:
        return np.zeros(pixels.shape[:2], bool)
    down, right = _gradient(_blurred(grey, 1.1))
    strength = np.sqrt(down * down + right * right)
    ridge = np.where(_is_ridge(strength, down, right), strength, 0)
    ridges = np.sort(ridge[ridge > 0])[-max(1, int(LINE_SHARE * ridge.size)) :]
    if not len(ridges):
        return np.zeros(grey.shape, bool)
    lines = ridge >= max(ridges[0], WEAKEST * ridges[int(0.9 * len(ridges))])
    return lines & (_sum_around(lines) > NEIGHBOURS)


def relief(pixels: Pixels) -> Layer:
    """Local light and shade of a photograph, at most a tenth of black or white.

    Returns:
        (H / 2, W / 2, 2) grey and alpha: it is smooth, so half the size holds it.
    """
    half = np.asarray(Image.fromarray(pixels).reduce(2)) if min(pixels.shape[:2]) > 1 else pixels
    layer = np.zeros((*half.shape[:2], 2), np.uint8)
    grey = _lifted(half)
    if grey is None:
        return layer
    local = _blurred(grey, 1.0) - _blurred(grey, 9.0)
    spread = float(np.quantile(np.abs(local), 0.99)) or 1.0
    steps = np.rint(np.clip(local / spread, -1, 1) * RELIEF_LEVELS)
    layer[..., 0] = np.where(steps > 0, 255, 0)
    layer[..., 1] = np.rint(np.abs(steps) / RELIEF_LEVELS * RELIEF_ALPHA * 255)
    return layer


def layer_url(layer: Layer) -> str:
    """A layer as a picture for a browser, without loss."""
    stream = io.BytesIO()
    # As quick as it gets, and still half the size of a PNG.
    Image.fromarray(layer).convert("RGBA").save(stream, "WEBP", lossless=True, quality=0, method=0)
    return f"data:image/webp;base64,{base64.b64encode(stream.getvalue()).decode()}"


def _lifted(pixels: Pixels) -> Plane | None:
    """(H, W) brightness between the picture's own dark and bright, shadows lifted; None without contrast."""
    grey = np.asarray(Image.fromarray(pixels).convert("L"), np.float32)
    # From the histogram: sorting 32,768 pixels takes longer than all that follows.
    reached = np.bincount(grey.astype(np.uint8).ravel(), minlength=256).cumsum() / grey.size
    low, high = (float(np.searchsorted(reached, share)) for share in (0.01, 0.99))
    if high - low < LEAST_CONTRAST:
        return None
    lifted: Plane = np.sqrt(np.clip((grey - low) / (high - low), 0, 1))
    return lifted


def _blurred(plane: Plane, pixels: float) -> Plane:
    """Smoothed by so many pixels of a picture of the usual width."""
    radius = max(0.6, pixels * plane.shape[1] / REFERENCE_WIDTH)
    return _smooth(plane, _bell(radius))


@lru_cache
def _bell(radius: float) -> tuple[float, ...]:
    reach = int(np.ceil(2.5 * radius))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / radius) ** 2)
    return tuple(weights / weights.sum())


def _smooth(plane: Plane, weights: tuple[float, ...]) -> Plane:
    """Along both axes; beyond the edge the last value goes on."""
    reach = len(weights) // 2
    for axis in (0, 1):
        length = plane.shape[axis]
        pad = [(reach, reach) if a == axis else (0, 0) for a in (0, 1)]
        padded = np.pad(plane, pad, mode="edge")
        parts = (padded[k : k + length] if axis == 0 else padded[:, k : k + length] for k in range(len(weights)))
        plane = sum((np.float32(w) * part for w, part in zip(weights, parts, strict=True)), np.zeros_like(plane))
    return plane


def _gradient(plane: Plane) -> tuple[Plane, Plane]:
    """Sobel: change downwards and to the right."""
    p = np.pad(plane, 1, mode="edge")
    rows, cols = p[:-2] + 2 * p[1:-1] + p[2:], p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]
    return cols[2:] - cols[:-2], rows[:, 2:] - rows[:, :-2]


def _is_ridge(strength: Plane, down: Plane, right: Plane) -> NDArray[np.bool_]:
    """Whether no neighbour across the edge is stronger; of two equal ones the first is the ridge."""
    s = np.pad(strength, 1)
    height, width = strength.shape

    def tops(dy: int, dx: int) -> NDArray[np.bool_]:
        before, after = (s[1 + d * dy : 1 + d * dy + height, 1 + d * dx : 1 + d * dx + width] for d in (-1, 1))
        return (strength >= before) & (strength > after)

    steep, flat = np.abs(down), np.abs(right)
    across, along = steep > STEEP * flat, flat > STEEP * steep
    falling = (down > 0) == (right > 0)
    slanted = (falling & tops(1, 1)) | (~falling & tops(1, -1))
    return (across & tops(1, 0)) | (along & tops(0, 1)) | (~(across | along) & slanted)


def _sum_around(lines: NDArray[np.bool_]) -> NDArray[np.int32]:
    """(H, W) line pixels in the 5x5 square around each."""
    table = np.pad(lines.astype(np.int32), ((3, 2), (3, 2))).cumsum(0).cumsum(1)
    return table[5:, 5:] - table[:-5, 5:] - table[5:, :-5] + table[:-5, :-5]
