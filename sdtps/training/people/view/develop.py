"""From light to display values: what each camera makes of the radiance and warmth that reach it."""

import numpy as np

from sdtps.training.people.view.raster import Seen
from sdtps.training.synth.camera import Camera, Conditions
from sdtps.training.synth.types import FloatArray, Rng, clamp


class Frame:
    """Coordinates of a picture, 0 to 1, for light that varies across it."""

    def __init__(self, height: int, width: int) -> None:
        self.x: FloatArray = (np.arange(width) / width).astype(np.float32)[None]
        self.y: FloatArray = (np.arange(height) / height).astype(np.float32)[:, None]

    def spot(self, rng: Rng, size: tuple[float, float] = (0.15, 0.6)) -> FloatArray:
        """A soft pool of light, possibly centred outside."""
        cy, cx = rng.uniform(-0.2, 1.2, 2).tolist()
        sy, sx = rng.uniform(*size, 2).tolist()
        return np.exp(-(((self.y - cy) / sy) ** 2)) * np.exp(-(((self.x - cx) / (sx * 1.6)) ** 2))

    def ramp(self, rng: Rng, strength: float) -> FloatArray:
        """Light that falls off across the frame, about 1."""
        down, right = rng.normal(0, strength, 2).tolist()
        return np.maximum(1 + down * (self.y - 0.5) + right * (self.x - 0.5), 0.1)


def _gain(image: FloatArray, percentile: float, target: float) -> float:
    return target / max(float(np.percentile(image[..., ::6, ::4], percentile)), 1e-3)


def _tone(image: FloatArray, linear: float) -> FloatArray:
    """Display curve between a square root (0) and a straight line (1), with a shoulder."""
    image = np.minimum(np.maximum(image, 0), np.float32(1.6))
    image = image / (1 + 0.12 * image * image)
    return np.sqrt(image) * np.float32(1 - linear) + image * np.float32(linear)


def colour_picture(rng: Rng, seen: Seen, camera: Camera, conditions: Conditions, frame: Frame) -> FloatArray:
    """(3, H, W) display values, about 0..1."""
    light = frame.ramp(rng, 0.3)
    people = seen.person + seen.others
    if conditions.night:
        for _ in range(int(rng.integers(0, 3))):
            light = light * (rng.uniform(0.25, 0.9) + rng.uniform(0.4, 1.6) * frame.spot(rng))
        # Against lit ground people are dark more often than bright.
        if rng.random() < 0.5:
            light = light * (1 - people * (1 - rng.uniform(0.15, 0.85)))
        if rng.random() < 0.35:
            light = light * (1 + (1 - people) * rng.uniform(0.5, 3.0) * frame.spot(rng, (0.2, 0.5)))
    image = seen.radiance[:3] * light
    tint = camera.tint * (1 + rng.normal(0, 0.05, 3))
    image *= (tint * _gain(image[1], rng.uniform(78, 98), rng.uniform(0.14, 0.6))).astype(np.float32)[:, None, None]
    if conditions.glare:
        for _ in range(int(rng.integers(1, 3))):
            shade = np.array([1.0, rng.uniform(0.85, 1.0), rng.uniform(0.7, 1.0)], np.float32)
            veil, lamp = (
                rng.uniform(0.2, 1.0) * frame.spot(rng, (0.1, 0.5)),
                rng.uniform(1, 3) * frame.spot(rng, (0.02, 0.08)),
            )
            image += (veil + lamp) * shade[:, None, None]
    elif rng.random() < 0.15:
        image += rng.uniform(0.02, 0.15) * frame.spot(rng, (0.3, 0.8))
    image = _tone(image, rng.uniform(-0.15, 0.4))
    # Cheap cameras crush the shadows.
    contrast = camera.contrast * rng.uniform(0.85, 1.25) * (1 + camera.exposure + rng.normal(0, 0.1))
    black = rng.uniform(0.0, 0.14) if rng.random() < 0.6 else -rng.uniform(0, 0.06)
    saturation = rng.uniform(0.35, 1.1)
    grey = image.sum(0) * np.float32(contrast * (1 - saturation) / 3) - np.float32(black * contrast)
    return image * np.float32(contrast * saturation) + grey


def infrared_picture(rng: Rng, seen: Seen, camera: Camera, conditions: Conditions, frame: Frame) -> FloatArray:
    """(H, W) display values, about 0..1; often a flat grey picture."""
    light = frame.ramp(rng, 0.3)
    if rng.random() < 0.4:
        light = light * (rng.uniform(0.3, 1.0) + rng.uniform(0.3, 1.5) * frame.spot(rng, (0.3, 0.8)))
    people = seen.person + seen.others
    near = rng.uniform(0.8, 1.7) if rng.random() < 0.55 else rng.uniform(0.5, 1.0)
    image = seen.radiance[3] * light * (1 + people * np.float32(near - 1))
    image *= np.float32(_gain(image, rng.uniform(70, 97), rng.uniform(0.3, 0.8)))
    if conditions.glare and rng.random() < 0.6:
        image = image + rng.uniform(0.1, 0.7) * frame.spot(rng, (0.1, 0.6))
    image = _tone(image, rng.uniform(0.0, 0.6))
    flatness = clamp(camera.nir_flatness + rng.normal(0, 0.2), -0.2, 0.7)
    middle = rng.uniform(0.3, 0.55)
    return (middle + (image - middle) * (1 - flatness) * rng.uniform(0.95, 1.35)).astype(np.float32)


def thermal_picture(rng: Rng, seen: Seen, conditions: Conditions, frame: Frame) -> FloatArray:
    """(H, W) warmth as displayed, about 0..1; colour comes last."""
    people = seen.person + seen.others
    warmth, lift = rng.uniform(0.82, 1.1), rng.uniform(0.0, 0.08)
    # The share of a border pixel that is street was averaged in already: both scales meet there.
    scale = people * warmth + (1 - people) * rng.uniform(0.6, 1.2)
    image = (
        seen.heat * scale
        + (1 - people) * (lift + rng.uniform(0.0, 0.16) * (frame.y - 0.4))
        + people * rng.normal(0, 0.03)
    )
    if rng.random() < 0.2:
        image = image + (1 - people) * rng.uniform(0.05, 0.25) * frame.spot(rng, (0.1, 0.5))
    if conditions.fog:
        image = image * 0.8 + 0.08
    if rng.random() < 0.1:
        image = image * rng.uniform(0.5, 0.8) + rng.uniform(0.05, 0.25)
    return image.astype(np.float32)


def rain_on(rng: Rng, image: FloatArray, strength: float) -> FloatArray:
    """Bright slanted streaks and a few out-of-focus drops; (..., H, W)."""
    height, width = image.shape[-2:]
    streaks = np.zeros((height, width), np.float32)
    slope = rng.normal(0, 0.12)
    for _ in range(int(rng.uniform(40, 150))):
        length = int(rng.uniform(0.03, 0.12) * height)
        y, x = int(rng.integers(-length, height)), rng.uniform(0, width)
        rows = np.arange(max(y, 0), min(y + length, height))
        cols = np.clip((x + slope * (rows - y)).astype(int), 0, width - 1)
        streaks[rows, cols] += rng.uniform(0.2, 1.0)
    return image + np.float32(strength) * streaks
