"""Cameras and the conditions they work in: what persists per camera and what changes per shot."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .types import Rng, Vector

CAMERAS = 4
_CAMERA_STREAM = 2


@dataclass(frozen=True)
class Camera:
    """A persistent style. Every shot scatters around it."""

    tint: Vector
    contrast: float
    exposure: float
    horizon: float
    tilt: float
    lightness: float
    detail: dict[str, float]
    sharpening: float
    grain: float
    ground_heat: float
    upper_heat: float
    nir_flatness: float
    scene_bias: Vector


@dataclass(frozen=True)
class Conditions:
    """Weather and light of one shot."""

    night: bool
    glare: bool
    fog: bool


@lru_cache(maxsize=64)
def camera_of(cam: int, seed: int = 0) -> Camera:
    """Camera ``cam`` (1 to 4) of the world ``seed``."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, cam], spawn_key=(_CAMERA_STREAM,)))
    return Camera(
        tint=1 + rng.normal(0, 0.06, 3),
        contrast=float(rng.uniform(0.95, 1.3)),
        exposure=float(rng.uniform(-0.12, 0.12)),
        horizon=float(rng.uniform(40, 150)),
        tilt=float(rng.uniform(0.03, 0.3)),
        lightness=float(rng.uniform(0.6, 1.2)),
        detail={
            "rgb": float(rng.uniform(0.45, 0.85)),
            "nir": float(rng.uniform(0.45, 0.85)),
            "tir": float(rng.uniform(0.5, 0.9)),
        },
        sharpening=float(rng.uniform(0.2, 1.2)),
        grain=float(rng.uniform(0.002, 0.012)),
        ground_heat=float(rng.uniform(0.16, 0.34)),
        upper_heat=float(rng.uniform(0.03, 0.16)),
        nir_flatness=float(rng.uniform(-0.05, 0.45)),
        scene_bias=rng.uniform(0.4, 1.7, 15),
    )


def draw_conditions(rng: Rng, force: frozenset[str]) -> Conditions:
    """Mostly nights, as in surveillance crops; a black picture means a night without lamps."""
    dark = "black_rgb" in force
    night = (dark or "night" in force or rng.random() < 0.62) and "day" not in force
    return Conditions(
        night,
        bool(rng.random() < (0.0 if dark else 0.2 if night else 0.08)) or "glare" in force,
        bool(rng.random() < 0.06) or "fog" in force,
    )
