"""Shapes, part names and the sample record shared by the whole generator."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

EDITION = 2  # raised when a seed gives other pictures than before; what is cached of them carries it
WIDTH, HEIGHT = 128, 256
# Drawn around the frame so that the sensors can look a little past one another without empty borders.
MARGIN = 4
CANVAS_W, CANVAS_H = WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN

FloatArray = NDArray[np.float32]
ByteArray = NDArray[np.uint8]
BoolArray = NDArray[np.bool_]
Vector = NDArray[np.float64]
Rng = np.random.Generator

# A canvas label is owner * PARTS + part. Owner 0 is the background.
PART_BITS = 4
PARTS = 1 << PART_BITS
MAIN_OWNER = 1
OBJECT_OWNER = 7
LABELS = 8 * PARTS


class Part(IntEnum):
    """What a pixel of a person belongs to."""

    SKIN = 1
    HAIR = 2
    TOP = 3
    BOTTOM = 4
    SHOE = 5
    BAG = 6
    TRIM = 7
    HAT = 8
    FACE_MASK = 9
    STRAP = 10
    LIMB_SKIN = 11
    UMBRELLA = 12
    SLEEVE = 13
    SOLE = 14
    GADGET = 15


TAGS = frozenset(
    {
        "day",
        "night",
        "glare",
        "fog",
        "black_rgb",
        "saturated_nir",
        "flat_tir",
        "missing_rgb",
        "missing_nir",
        "missing_tir",
        "occluded",
        "bag",
        "two_people",
        "cut_off",
    }
)


@dataclass(frozen=True)
class SynthSample:
    """One aligned triplet with its truth.

    Attributes:
        rgb: (256, 128, 3) uint8.
        nir: (256, 128, 3) uint8, three equal channels.
        tir: (256, 128, 3) uint8, inferno-coloured.
        person: (256, 128) bool, the visible main person with all that they wear and carry.
        others: (256, 128) bool, every other person.
        pid: identity label.
        cam: camera label, 1 to 4 as in RGBNT201 file names.
        tags: what is special about this sample, a subset of ``TAGS``.
    """

    rgb: ByteArray
    nir: ByteArray
    tir: ByteArray
    person: BoolArray
    others: BoolArray
    pid: int
    cam: int
    tags: frozenset[str]


def pick(rng: Rng, weights: dict[str, float]) -> str:
    """One key, drawn in proportion to its weight; much faster than ``Generator.choice``."""
    mark = rng.random() * sum(weights.values())
    for key, weight in weights.items():
        mark -= weight
        if mark < 0:
            return key
    return next(iter(weights))


def clamp(value: float, low: float, high: float) -> float:
    """A float inside the bounds; much faster than ``numpy.clip`` on scalars."""
    return min(max(float(value), low), high)


def vector(*values: Any) -> Vector:
    """A float64 vector."""
    return np.array(values, np.float64)
