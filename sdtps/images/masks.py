"""Person masks: 255 the person, 64 other people, 0 the rest; and how much of each patch they cover."""

import os

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sdtps.images.read import Fit, fit_image, read_mask
from sdtps.types import FloatArray, Grid

HALF = 0.5
PEOPLE, PERSON = 32, 127  # above the first anyone at all, above the second the person alone


def patch_share(mask: NDArray[np.bool_], grid: Grid) -> NDArray[np.float16]:
    """(H, W) mask to (N,) share of each patch that it covers."""
    height, width = mask.shape[0] // grid.rows, mask.shape[1] // grid.cols
    return mask.reshape(grid.rows, height, grid.cols, width).mean((1, 3)).ravel().astype(np.float16)


def fitted_mask(mask: str | os.PathLike[str], size: tuple[int, int], fit: Fit | str = Fit.STRETCH) -> NDArray[np.uint8]:
    """(H, W) the mask fitted to the model's size like its picture."""
    return np.asarray(fit_image(read_mask(mask), size, Fit(fit), Image.Resampling.NEAREST, 0))


def people_share(
    mask: str | os.PathLike[str], size: tuple[int, int], grid: Grid, fit: Fit | str = Fit.STRETCH
) -> FloatArray:
    """(N,) share of each patch that people cover, for a mask fitted to the model's size like its picture."""
    return patch_share(fitted_mask(mask, size, fit) > PEOPLE, grid).astype(np.float32)


def people_patches(
    mask: str | os.PathLike[str], size: tuple[int, int], grid: Grid, fit: Fit | str = Fit.STRETCH
) -> NDArray[np.bool_]:
    """(N,) patches that people cover at least half."""
    found: NDArray[np.bool_] = people_share(mask, size, grid, fit) >= HALF
    return found
