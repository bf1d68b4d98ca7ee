"""One decoded image of any kind → upright 8-bit RGB, with a note on everything that was done to it."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from sdtps.support.errors import InputError
from sdtps.support.messages import Message

MAX_SIDE = 2048
MIN_SIDE = 8
PERCENTILES = (0.5, 99.5)
STRIP = 256  # rows that are worked on at once
ORIENTATION = 0x0112
FILL = (128, 128, 128)  # mid-grey: what a missing modality looks like to the model

Pixels = NDArray[np.uint8]


def from_image(image: Image.Image) -> tuple[Pixels, list[Message]]:
    """A loaded PIL image to (H, W, 3) pixels."""
    notes: list[Message] = []
    upright = _upright(image, notes)
    if upright.mode.startswith("I") or upright.mode == "F":
        return _finish(Image.fromarray(_stretch_contrast(np.asarray(upright, dtype=np.float32), notes)), notes)
    if upright.mode in ("LA", "RGBA", "PA", "La", "RGBa") or "transparency" in upright.info:
        upright = _on_grey(upright.convert("RGBA") if upright.mode != "RGBA" else upright, notes)
    return _finish(upright, notes)


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
    return _finish(Image.fromarray(_stretch_contrast(values[..., :3] if values.ndim == 3 else values, notes)), notes)


def _upright(image: Image.Image, notes: list[Message]) -> Image.Image:
    """Turned as its EXIF tag says; a tag that cannot be read says nothing, and the picture is as good without it."""
    try:
        orientation = image.getexif().get(ORIENTATION, 1)
        upright = image if orientation == 1 else ImageOps.exif_transpose(image)
        turned = upright is not image and upright.getexif().get(ORIENTATION, 1) != orientation
    except Exception:  # the EXIF reader raises whatever a damaged directory makes it meet
        return image
    if turned:
        notes.append(Message("input.rotated", "The image was turned upright as its EXIF tag says."))
    return upright


def _on_grey(image: Image.Image, notes: list[Message]) -> Image.Image:
    """An RGBA image without its alpha; strip by strip, because whole copies of a large one would fill the memory."""
    if image.getchannel("A").getextrema()[0] == 255:
        return image
    notes.append(Message("input.alpha", "Transparent areas were filled with mid-grey."))
    canvas = Image.new("RGB", image.size)
    for top in range(0, image.height, STRIP):
        strip = image.crop((0, top, image.width, min(top + STRIP, image.height)))
        filled = Image.alpha_composite(Image.new("RGBA", strip.size, (*FILL, 255)), strip)
        canvas.paste(filled.convert("RGB"), (0, top))
    return canvas


def _stretch_contrast(values: NDArray[np.float32], notes: list[Message]) -> Pixels:
    """16-bit or float values (H, W[, 3]) to 8 bits by percentiles: raw thermal counts fill a sliver of their range."""
    if not np.isfinite(values).all():
        raise InputError("input.nan", "The image holds NaN or infinite values; replace them and try again.")
    low, high = np.percentile(values, PERCENTILES)
    if high <= low:
        low, high = float(values.min()), float(values.max())
    notes.append(
        Message(
            "input.scaled",
            "16-bit or float values were scaled to 8 bits from {low:.6g} to {high:.6g} (0.5 to 99.5 percentile).",
            low=float(low),
            high=float(high),
        )
    )
    pixels = np.full(values.shape, 128, np.uint8)
    for top in range(0, len(values) if high > low else 0, STRIP):
        scaled = (values[top : top + STRIP] - low) / (high - low)
        pixels[top : top + STRIP] = np.rint(np.clip(scaled, 0, 1) * 255)
    return pixels


def _finish(image: Image.Image, notes: list[Message]) -> tuple[Pixels, list[Message]]:
    """Any image without alpha to (H, W, 3) pixels of a sensible size."""
    width, height = image.size
    if min(height, width) < MIN_SIDE:
        raise InputError(
            "input.tiny",
            "The image is only {width}x{height} pixels; give at least {least}x{least}.",
            width=width,
            height=height,
            least=MIN_SIDE,
        )
    image = image.convert("L" if image.mode in ("1", "L") else "RGB")
    if max(height, width) > MAX_SIDE:
        image.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.BOX)
        # A very long, thin image would shrink to a line of no pixels.
        image = image.resize((max(image.width, MIN_SIDE), max(image.height, MIN_SIDE)))
        notes.append(
            Message("input.reduced", "The image was reduced to {side} pixels on its longer side.", side=MAX_SIDE)
        )
    return np.ascontiguousarray(image.convert("RGB")), notes
