"""Pixels as pictures for a browser."""

import base64
import io
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
BLANK_URL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="  # one clear pixel
THUMBNAIL_QUALITY = 82


def photo_url(pixels: Pixels, *, quality: int | None = None) -> str:
    """The pixels as a data URL: lossless WebP, or JPEG when a quality is given (thumbnails)."""
    stream = io.BytesIO()
    image = Image.fromarray(pixels)
    if quality is None:
        # Smaller than PNG in less than half the time; without loss, quality says how hard to try.
        image.save(stream, "WEBP", lossless=True, quality=0, method=0)
    else:
        image.save(stream, "JPEG", quality=quality)
    kind = "webp" if quality is None else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode()}"


def strip_url(parts: Iterable[Pixels | None], size: tuple[int, int]) -> str:
    """Small pictures of one (height, width) side by side; grey where one is missing."""
    blank = np.full((*size, 3), 128, np.uint8)
    strip = np.concatenate([blank if part is None else part for part in parts], axis=1)
    return photo_url(strip, quality=THUMBNAIL_QUALITY)
