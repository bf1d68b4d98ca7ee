"""One decoded image of any kind → upright 8-bit RGB, with a note on everything that was done to it."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from sdtps.messages import InputError, Message

MAX_SIDE = 2048
MIN_SIDE = 8
PERCENTILES = (0.5, 99.5)
FILL = (128, 128, 128)  # mid-grey: what a missing modality looks like to the model

Pixels = NDArray[np.uint8]


def from_image(image: Image.Image) -> tuple[Pixels, list[Message]]:
    """A loaded PIL image to (H, W, 3) pixels."""
    notes: list[Message] = []
    upright = ImageOps.exif_transpose(image)
    if upright.size != image.size or upright.getexif().get(0x0112, 1) != image.getexif().get(0x0112, 1):
        notes.append(Message("input.rotated", "The image was turned upright as its EXIF tag says."))
    if upright.mode.startswith("I") or upright.mode == "F":
        return _finish(_stretch_contrast(np.asarray(upright, dtype=np.float32), notes), notes)
    if upright.mode in ("LA", "RGBA", "PA", "La", "RGBa") or "transparency" in upright.info:
        rgba = upright.convert("RGBA")
        if np.asarray(rgba)[..., 3].min() < 255:
            rgba = Image.alpha_composite(Image.new("RGBA", rgba.size, (*FILL, 255)), rgba)
            notes.append(Message("input.alpha", "Transparent areas were filled with mid-grey."))
        upright = rgba
    return _finish(np.asarray(upright.convert("RGB")), notes)


def from_array(array: NDArray[np.generic]) -> tuple[Pixels, list[Message]]:
    """An (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) array to (H, W, 3) pixels."""
    notes: list[Message] = []
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.size == 0 or not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))):
        raise InputError(
            "input.shape",
            "An array of shape {shape} is not an image; give (height, width) or (height, width, 3).",
            shape=tuple(array.shape),
        )
    if array.dtype == np.bool_:
        array = array.astype(np.uint8) * np.uint8(255)
    if array.dtype == np.uint8:
        return from_image(Image.fromarray(np.ascontiguousarray(array)))
    if not np.issubdtype(array.dtype, np.number) or np.issubdtype(array.dtype, np.complexfloating):
        raise InputError("input.dtype", "An array of {dtype} is not an image; give numbers.", dtype=array.dtype)
    values = array.astype(np.float32)
    colour_in_unit_range = array.ndim == 3 and np.issubdtype(array.dtype, np.floating)
    if colour_in_unit_range and np.isfinite(values).all() and values.min() >= 0 and values.max() <= 1:
        return from_image(Image.fromarray(np.rint(values * 255).astype(np.uint8)))
    return _finish(_stretch_contrast(values[..., :3] if values.ndim == 3 else values, notes), notes)


def _stretch_contrast(values: NDArray[np.float32], notes: list[Message]) -> Pixels:
    """16-bit or float values (H, W[, 3]) to 8 bits by percentiles: raw thermal counts fill a sliver of their range."""
    if not np.isfinite(values).all():
        raise InputError("input.nan", "The image holds NaN or infinite values; replace them and try again.")
    low, high = np.percentile(values, PERCENTILES)
    if high <= low:
        low, high = float(values.min()), float(values.max())
    scaled = (values - low) / (high - low) if high > low else np.full_like(values, 0.5)
    notes.append(
        Message(
            "input.scaled",
            "16-bit or float values were scaled to 8 bits from {low:.6g} to {high:.6g} (0.5 to 99.5 percentile).",
            low=float(low),
            high=float(high),
        )
    )
    return np.rint(np.clip(scaled, 0, 1) * 255).astype(np.uint8)


def _finish(pixels: Pixels, notes: list[Message]) -> tuple[Pixels, list[Message]]:
    height, width = pixels.shape[:2]
    if min(height, width) < MIN_SIDE:
        raise InputError(
            "input.tiny",
            "The image is only {width}x{height} pixels; give at least {least}x{least}.",
            width=width,
            height=height,
            least=MIN_SIDE,
        )
    if max(height, width) > MAX_SIDE:
        image = Image.fromarray(pixels)
        image.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.BOX)
        # A very long, thin image would shrink to a line of no pixels.
        pixels = np.asarray(image.resize((max(image.width, MIN_SIDE), max(image.height, MIN_SIDE))))
        notes.append(
            Message("input.reduced", "The image was reduced to {side} pixels on its longer side.", side=MAX_SIDE)
        )
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    return np.ascontiguousarray(pixels), notes
