"""Streets: composes ground and uprights into a background."""

from collections.abc import Callable, Sequence

import numpy as np

from . import ground, uprights
from .backdrop import Backdrop
from .materials import Material
from .types import Rng

_GROUND: dict[Callable[[Backdrop], None], float] = {
    ground.zebra: 0.4,
    ground.verge: 0.42,
    ground.bright_ground: 0.14,
    ground.paving: 0.2,
    ground.shadow_play: 0.25,
}
_UPRIGHT: dict[Callable[[Backdrop], None], float] = {
    uprights.facade: 0.4,
    uprights.columns: 0.32,
    uprights.arches: 0.24,
    uprights.car: 0.22,
    uprights.railing: 0.16,
    uprights.foliage: 0.4,
    uprights.sign: 0.28,
    uprights.pole: 0.6,
    uprights.lookalike: 0.25,
    uprights.lamp: 0.16,
}


def draw_scene(
    rng: Rng,
    horizon: float,
    lightness: float,
    ground_heat: float,
    upper_heat: float,
    bias: np.ndarray,
    lookalikes: Sequence[Material] = (),
) -> Backdrop:
    """A street. ``bias`` (15,) multiplies how often each element appears, which is how cameras differ."""
    scene = Backdrop(rng, horizon, lightness, ground_heat, upper_heat, lookalikes)
    dark_behind = rng.random() < 0.5
    scene.fill(scene.surface(0.005, 0.06) if dark_behind else scene.surface(0.02, 0.8))
    weights = iter(bias.tolist())
    chosen = [element for element, chance in _UPRIGHT.items() if rng.random() < chance * next(weights)]
    for index in rng.permutation(len(chosen)).tolist():
        for _ in range(2 if rng.random() < 0.3 else 1):
            chosen[index](scene)
    ground.ground_plane(scene)
    for element, chance in _GROUND.items():
        if rng.random() < chance * next(weights):
            element(scene)
    # What stands on the pavement overlaps the ground.
    for element in (uprights.pole, uprights.lookalike, uprights.car, uprights.foliage, uprights.sign):
        if rng.random() < 0.16:
            element(scene)
    return scene
