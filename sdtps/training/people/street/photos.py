"""CC0 environment photographs: what is behind a person, and the light that falls from there."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from sdtps.resources import ENVIRONMENTS
from sdtps.training.synth.types import FloatArray, Vector

FOLDER = ENVIRONMENTS
DAY = ("city", "courtyard", "forest", "sunrise", "sunset")
NIGHT = ("night", "interior", "courtyard")


@dataclass(frozen=True)
class Photo:
    """A panorama's light, in its own bearing.

    Attributes:
        path: the file.
        gain: factor that brings its horizon to a middle grey.
        sky, ground: (3,) mean light of the upper and lower half, after the gain.
        sun_place: (u, v) of the brightest spot, 0 to 1 from left and top.
        sun: how much light that spot adds to the sky's mean.
    """

    path: Path
    gain: float
    sky: Vector
    ground: Vector
    sun_place: tuple[float, float]
    sun: float


@cache
def read_photo(name: str) -> Photo:
    """Measure one photograph."""
    path = FOLDER / f"{name}.jpg"
    with Image.open(path) as image:
        small = np.asarray(image.convert("RGB").resize((128, 64), Image.Resampling.BOX), np.float32) / 255
    light: FloatArray = np.exp2(small * 16 - 9)
    grey = light.mean(-1)
    gain = 0.25 / float(np.median(grey[28:48]))
    row, col = np.unravel_index(int(grey[:34].argmax()), grey[:34].shape)
    peak = float(grey[row, col] / max(grey[:32].mean(), 1e-4))
    place = (float(col + 0.5) / 128, float(row + 0.5) / 64)
    return Photo(path, gain, light[:32].mean((0, 1)) * gain, light[32:].mean((0, 1)) * gain, place, min(peak / 40, 1.0))


def direction(place: tuple[float, float], turn: float) -> Vector:
    """(3,) where a spot of a panorama stands in the world when it is turned by `turn`."""
    around, up = 2 * np.pi * (place[0] - turn), np.pi * (0.5 - place[1])
    return np.array([np.sin(around) * np.cos(up), np.sin(up), np.cos(around) * np.cos(up)])
