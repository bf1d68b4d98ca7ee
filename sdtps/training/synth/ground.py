"""What lies on the ground: the plane itself, crossings, verges, paving, shadows."""

import numpy as np

from .backdrop import GRASS, Backdrop
from .types import CANVAS_H, CANVAS_W


def ground_plane(scene: Backdrop) -> None:
    """Everything below the horizon: asphalt, slabs or a lawn."""
    rng = scene.rng
    slope = rng.normal(0, 8)
    grassy = rng.random() < 0.18
    label = scene.surface(
        0.1, 0.7, scene.ground_heat, tint=GRASS if grassy else None, texture=rng.uniform(0.12, 0.4) if grassy else None
    )
    scene.polygon(
        [(0, scene.horizon - slope), (CANVAS_W, scene.horizon + slope), (CANVAS_W, CANVAS_H), (0, CANVAS_H)], label
    )


def zebra(scene: Backdrop) -> None:
    """Crossing stripes: flat bands, or converging bars when seen along the road."""
    rng = scene.rng
    paint = scene.surface(
        0.45, 1.0, scene.ground_heat + rng.normal(0, 0.015), texture=rng.uniform(0.02, 0.16), tint=(1, 1, 0.97)
    )
    top = scene.horizon + rng.uniform(0, 30)
    if rng.random() < 0.7:
        y, thick, skew = top, rng.uniform(2.5, 7), rng.normal(0, 7)
        gap, grow = rng.uniform(0.7, 1.6), rng.uniform(1.04, 1.22)
        while y < CANVAS_H:
            left = rng.uniform(-10, 50) if rng.random() < 0.25 else -5
            right = rng.uniform(80, 150) if rng.random() < 0.25 else CANVAS_W + 5
            scene.polygon([(left, y), (right, y + skew), (right, y + skew + thick), (left, y + thick)], paint)
            y += thick * (1 + gap)
            thick *= grow
        return
    vanish_x, count = rng.uniform(-60, 190), int(rng.integers(3, 8))
    for x in np.linspace(-140, 270, count * 2).tolist():
        width = rng.uniform(12, 26)
        scene.polygon(
            [
                (vanish_x + (x - vanish_x) * 0.35, top),
                (vanish_x + (x + width - vanish_x) * 0.35, top),
                (x + width, CANVAS_H),
                (x, CANVAS_H),
            ],
            paint,
        )


def verge(scene: Backdrop) -> None:
    """A band of grass, soil or shade with a ragged edge, often cold in thermal."""
    rng = scene.rng
    green = rng.random() < 0.7
    cold = scene.ground_heat - rng.uniform(0.02, 0.2)
    band = scene.surface(
        0.04,
        0.45,
        cold,
        texture=rng.uniform(0.1, 0.4),
        tint=GRASS if green else None,
        nir=rng.uniform(0.1, 0.7) if green else None,
    )
    y, depth = rng.uniform(scene.horizon, 230), rng.uniform(10, 70)
    slope = rng.normal(0, 18)
    xs = np.linspace(-4, CANVAS_W + 4, 9)
    upper = [(float(x), float(y + slope * (x / CANVAS_W - 0.5) + rng.normal(0, 2.5))) for x in xs]
    lower = [(float(x), float(y + depth + slope * 1.5 * (x / CANVAS_W - 0.5) + rng.normal(0, 4))) for x in xs[::-1]]
    scene.polygon(upper + lower, band)
    if rng.random() < 0.5:
        kerb = scene.surface(0.3, 1.0, scene.ground_heat)
        scene.line(upper if rng.random() < 0.5 else lower, rng.uniform(2, 6), kerb)


def bright_ground(scene: Backdrop) -> None:
    """A foreground that lamps or wetness turn white."""
    rng = scene.rng
    label = scene.surface(0.8, 1.0, scene.ground_heat, texture=0.05, nir=rng.uniform(0.6, 1.0), tint=(1, 1, 1))
    y = rng.uniform(150, 245)
    scene.polygon(
        [
            (-5, y + rng.normal(0, 12)),
            (CANVAS_W / 2, y + rng.normal(0, 6)),
            (CANVAS_W + 5, y + rng.normal(0, 12)),
            (CANVAS_W + 5, CANVAS_H),
            (-5, CANVAS_H),
        ],
        label,
    )


def paving(scene: Backdrop) -> None:
    """Joints between slabs, in rough perspective."""
    rng = scene.rng
    joint = scene.surface(0.03, 0.5, scene.ground_heat)
    y, step = scene.horizon + rng.uniform(2, 10), rng.uniform(5, 12)
    skew = rng.normal(0, 6)
    while y < CANVAS_H:
        scene.line([(0, y), (CANVAS_W, y + skew)], 1, joint)
        y, step = y + step, step * 1.15
    vanish = rng.uniform(-40, 170)
    for x in np.arange(-150, 290, rng.uniform(24, 60)).tolist():
        scene.line([(vanish + (x - vanish) * 0.3, scene.horizon), (x, CANVAS_H)], 1, joint)


def shadow_play(scene: Backdrop) -> None:
    """Slanted shadows or light cast over the ground."""
    rng = scene.rng
    label = scene.surface(0.03, 0.9, scene.ground_heat + rng.normal(0, 0.02))
    for _ in range(int(rng.integers(1, 4))):
        x, y, w, slant = (
            rng.uniform(-40, CANVAS_W),
            max(scene.horizon, rng.uniform(100, 240)),
            rng.uniform(6, 40),
            rng.normal(0, 60),
        )
        scene.polygon(
            [(x, y), (x + w, y), (x + w + slant, y + rng.uniform(15, 90)), (x + slant, y + rng.uniform(15, 90))], label
        )
