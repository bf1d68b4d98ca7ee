"""From ideal pictures to camera files: blur, low resolution, sharpening, noise, compression, faults."""

import io
from dataclasses import dataclass
from functools import cache

import numpy as np
from PIL import Image, ImageFilter

from .camera import Camera
from .noise import noise_bank
from .types import CANVAS_H, CANVAS_W, HEIGHT, MARGIN, WIDTH, ByteArray, FloatArray, Rng, clamp

_FRAME = (MARGIN, MARGIN, MARGIN + WIDTH, MARGIN + HEIGHT)
MISSING_LEVEL = 128


def stretch_contrast(rng: Rng, image: FloatArray) -> FloatArray:
    """What cameras with automatic gain deliver: the darkest and brightest few percent meet black and white."""
    low, high = np.percentile(image[..., ::6, ::4], (rng.uniform(0.5, 8), rng.uniform(90, 99.5))).tolist()
    floor, ceiling = rng.uniform(0.0, 0.12), rng.uniform(0.7, 1.05)
    gain = (ceiling - floor) / max(high - low, 0.12)
    return image * np.float32(gain) + np.float32(floor - low * gain)


@cache
def inferno() -> ByteArray:
    """(256, 3) uint8 colour table of thermal pictures."""
    from matplotlib import colormaps

    return (np.asarray(colormaps["inferno"](np.arange(256)))[:, :3] * 255).round().astype(np.uint8)


def motion_blur(image: FloatArray, steps: int) -> FloatArray:
    """Mean of ``steps`` copies of (..., H, W), each shifted one pixel sideways; borders keep their last column."""
    before, after = steps // 2, steps - 1 - steps // 2
    wide = np.concatenate([image[..., :1]] * before + [image] + [image[..., -1:]] * after, -1)
    width = image.shape[-1]
    total = wide[..., :width].copy()
    for step in range(1, steps):
        total += wide[..., step : step + width]
    total /= np.float32(steps)
    return total


def smear_people(rng: Rng, image: FloatArray, people: np.ndarray) -> FloatArray:
    """Sideways motion blur of moving people only, or of everything when the camera shakes."""
    steps = int(rng.integers(3, 8))
    blurred = motion_blur(image, steps)
    if rng.random() < 0.35:
        return blurred
    weight = motion_blur(people.astype(np.float32), steps + 2)
    weight = np.minimum(weight * 1.5, 1)
    return image + (blurred - image) * weight


def _compress(image: Image.Image, quality: int) -> Image.Image:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer)


def _grain(rng: Rng, kind: str, scale: int) -> FloatArray:
    field = noise_bank().draw(rng, kind)
    return field if scale == 1 else np.tile(field, (scale, scale))


@dataclass(frozen=True)
class Recording:
    """How pictures are kept.

    Attributes:
        scale: pixels of picture and result per pixel of the canvas and frame.
        astray: near infrared and thermal look past RGB by up to so many pixels of the frame.
        least: detail that is always kept, 0 to 1.
    """

    scale: int = 1
    astray: float = 2.2
    least: float = 0.0


AS_DRAWN = Recording()


def record(rng: Rng, image: FloatArray, camera: Camera, modality: str, how: Recording) -> ByteArray:
    """Resample, sharpen, add noise and compress: ([3,] H, W) float on the canvas to (256, 128[, 3]) uint8."""
    scale, astray, least = how.scale, how.astray, how.least
    grain = camera.grain * rng.uniform(0.2, 2.2) * (0.5 if modality == "tir" else 1.0)
    noise = _grain(rng, "white", scale) * np.float32(grain * 255)
    levels = image * np.float32(255)
    # One of the colours may be noisier than the rest.
    tinted = int(rng.integers(3))
    levels += noise
    if image.ndim == 3:
        levels[tinted] += _grain(rng, "mottle", scale) * np.float32(grain * 200)
    np.maximum(levels, 0, out=levels)
    np.minimum(levels, 255, out=levels)
    pixels = levels.astype(np.uint8)
    picture = Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)) if image.ndim == 3 else pixels)
    shift_x, shift_y = (0.0, 0.0) if modality == "rgb" else rng.uniform(-astray, astray, 2)
    box = (_FRAME[0] + shift_x, _FRAME[1] + shift_y, _FRAME[2] + shift_x, _FRAME[3] + shift_y)
    box = (box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale)
    width, height = WIDTH * scale, HEIGHT * scale
    detail = clamp(camera.detail[modality] * rng.uniform(0.6, 1.3), 0.28, 1.0)
    if rng.random() < 0.07:
        detail = float(rng.uniform(0.16, 0.28))
    detail = max(detail, least)
    small = (max(20, round(width * detail)), max(40, round(height * detail)))
    picture = picture.resize(small, Image.Resampling.BILINEAR, box=box)
    if modality != "tir" and rng.random() < 0.65:
        # Sharpened before enlarging, so that halos are as wide as in surveillance crops.
        strength = min(240, int(130 * camera.sharpening * rng.uniform(0.4, 2.2)))
        picture = picture.filter(ImageFilter.UnsharpMask(float(rng.uniform(0.8, 1.6)), strength, 2))
    if rng.random() < 0.5:
        picture = _compress(picture, int(rng.integers(35, 92)))
    picture = picture.resize((width, height), Image.Resampling.BICUBIC)
    if rng.random() < 0.25:
        picture = picture.filter(ImageFilter.BoxBlur(float(rng.uniform(0.3, 1.6)) * (1 - least)))
    if rng.random() < 0.3:
        picture = _compress(picture, int(rng.integers(40, 95)))
    return np.asarray(picture)


def blacken(rng: Rng, image: FloatArray) -> FloatArray:
    """Night without lamps: a picture whose mean stays under 10 of 255."""
    scale = rng.uniform(0.004, 0.02) / max(float(image.clip(0, 1).mean()), 1e-3)
    return (image.clip(0, 1) * scale + rng.uniform(0, 0.006)).astype(np.float32)


def saturate(rng: Rng, image: FloatArray) -> FloatArray:
    """A near-infrared picture burnt out by its own lamp."""
    burn = image * rng.uniform(0.2, 0.6) + rng.uniform(0.8, 0.95)
    return np.minimum(burn, 1).astype(np.float32)


def flatten(rng: Rng, image: FloatArray) -> FloatArray:
    """A thermal picture that lost its contrast (warm air, stuck shutter)."""
    level = rng.uniform(0.2, 0.7)
    contrast = rng.uniform(0.02, 0.08)
    return (level + (image - image.mean()) * contrast).astype(np.float32)


def missing(scale: int = 1) -> ByteArray:
    """The stand-in for a sensor that delivered nothing: mid grey, zero after normalisation."""
    return np.full((HEIGHT * scale, WIDTH * scale, 3), MISSING_LEVEL, np.uint8)


def crop(mask: np.ndarray, scale: int = 1) -> np.ndarray:
    """The part of a canvas-sized array that the reference sensor sees."""
    margin = MARGIN * scale
    return mask[margin : CANVAS_H * scale - margin, margin : CANVAS_W * scale - margin]
