"""What stands behind a person: buildings, gates, poles, signs, cars, railings, greenery, lamps."""

import numpy as np

from .backdrop import GRASS, Backdrop
from .types import CANVAS_H, CANVAS_W


def facade(scene: Backdrop) -> None:
    """A wall with a grid of windows or shop panes, some lit."""
    rng = scene.rng
    foot = scene.horizon + rng.uniform(-25, 8)
    left, right = rng.uniform(-40, 50), rng.uniform(70, 180)
    scene.box(left, -5, right, foot, scene.surface(0.03, 0.8))
    panes = [scene.surface(0.02, 0.25), scene.surface(0.3, 1.0), scene.surface(0.05, 0.9)]
    width, height = rng.uniform(6, 34), rng.uniform(8, 60)
    gap_x, gap_y = rng.uniform(2, 12), rng.uniform(3, 16)
    y = rng.uniform(-20, 10)
    while y < foot - 4:
        x = left + rng.uniform(0, 10)
        while x < right:
            scene.box(x, y, min(x + width, right), min(y + height, foot - 2), panes[int(rng.integers(3))])
            x += width + gap_x
        y += height + gap_y


def columns(scene: Backdrop) -> None:
    """Doors, pillars, gates: uprights of alternating lightness."""
    rng = scene.rng
    tones = [scene.surface(0.2, 1.0), scene.surface(0.02, 0.2), scene.surface(0.05, 0.7)]
    foot, x = scene.horizon + rng.uniform(-20, 15), rng.uniform(-15, 40)
    for _ in range(int(rng.integers(2, 9))):
        width = rng.uniform(2, 18)
        scene.box(x, rng.uniform(-40, 20), x + width, foot, tones[int(rng.integers(3))])
        x += width + rng.uniform(1, 22)


def arches(scene: Backdrop) -> None:
    """Curved gate ornaments and wheels: thin bright arcs beside dark ones."""
    rng = scene.rng
    bright, dark = scene.surface(0.4, 1.0), scene.surface(0.02, 0.2)
    for _ in range(int(rng.integers(1, 6))):
        x, y, w, h = rng.uniform(-70, 120), rng.uniform(-90, 70), rng.uniform(16, 90), rng.uniform(40, 170)
        start = rng.uniform(0, 360)
        scene.arc(x, y, x + w, y + h, start, start + rng.uniform(60, 300), rng.uniform(2, 9), bright)
        if rng.random() < 0.6:
            scene.arc(x + 3, y + 3, x + w - 3, y + h - 3, start, start + rng.uniform(60, 300), rng.uniform(1, 5), dark)


def pole(scene: Backdrop) -> None:
    """A lamp post, trunk or bollard; some as thick and as tall as a person."""
    rng = scene.rng
    x, width = rng.uniform(0, CANVAS_W), rng.uniform(1, 7) if rng.random() < 0.75 else rng.uniform(8, 20)
    foot = rng.uniform(max(40.0, scene.horizon), CANVAS_H)
    top = -5.0 if rng.random() < 0.7 else rng.uniform(0, foot - 20)
    label = scene.surface(0.03, 0.9, scene.upper_heat + rng.normal(0.03, 0.08))
    lean = rng.normal(0, 3)
    scene.polygon([(x - width + lean, top), (x + width + lean, top), (x + width, foot), (x - width, foot)], label)


def sign(scene: Backdrop) -> None:
    """A board with lines of something like writing."""
    rng = scene.rng
    x, y, w, h = rng.uniform(-15, CANVAS_W - 10), rng.uniform(-15, 150), rng.uniform(10, 60), rng.uniform(8, 40)
    scene.box(x, y, x + w, y + h, scene.surface(0.1, 1.0))
    ink = scene.surface(0.02, 1.0)
    row = y + 3
    while row < y + h - 3:
        scene.line([(x + 2, row), (x + rng.uniform(0.4, 0.95) * w, row)], rng.uniform(1, 3), ink)
        row += rng.uniform(4, 9)


def car(scene: Backdrop) -> None:
    """A parked car from the side, sometimes with a warm engine."""
    rng = scene.rng
    length, x = rng.uniform(60, 150), rng.uniform(-70, CANVAS_W - 10)
    foot = rng.uniform(max(60.0, scene.horizon), min(245.0, max(80.0, scene.horizon + 70)))
    height = length * rng.uniform(0.22, 0.34)
    paint = scene.surface(0.02, 0.9, scene.upper_heat + rng.uniform(-0.03, 0.1), texture=0.05)
    glass, tyre = scene.surface(0.01, 0.2), scene.surface(0.01, 0.05, scene.ground_heat + rng.uniform(0, 0.3))
    scene.polygon(
        [
            (x + 0.2 * length, foot - 0.6 * height),
            (x + 0.32 * length, foot - height * 1.15),
            (x + 0.72 * length, foot - height * 1.15),
            (x + 0.88 * length, foot - 0.6 * height),
        ],
        glass,
    )
    scene.box(x, foot - 0.65 * height, x + length, foot - 0.1 * height, paint)
    for at in (0.2, 0.78):
        radius = 0.09 * length
        scene.ellipse(
            x + at * length - radius, foot - 1.4 * radius, x + at * length + radius, foot + 0.4 * radius, tyre
        )
    lamp = scene.surface(
        0.6,
        1.0,
        scene.upper_heat + rng.uniform(0, 0.5),
        tint=(1.0, 0.95, 0.8) if rng.random() < 0.6 else (1.0, 0.15, 0.1),
    )
    scene.box(x, foot - 0.5 * height, x + 0.05 * length, foot - 0.38 * height, lamp)
    if rng.random() < 0.3:
        bonnet = scene.surface(0.02, 0.9, rng.uniform(0.3, 0.8))
        scene.box(x + 0.02 * length, foot - 0.6 * height, x + 0.2 * length, foot - 0.3 * height, bonnet)


def railing(scene: Backdrop) -> None:
    """A fence of thin bars across the frame."""
    rng = scene.rng
    label = scene.surface(0.03, 1.0)
    foot, height = scene.horizon + rng.uniform(-10, 40), rng.uniform(20, 60)
    for at in (0.05, rng.uniform(0.4, 0.95)):
        scene.line(
            [(0, foot - height * (1 - at)), (CANVAS_W, foot - height * (1 - at) + rng.normal(0, 4))],
            rng.uniform(1, 4),
            label,
        )
    for x in np.arange(rng.uniform(0, 6), CANVAS_W, rng.uniform(5, 22)).tolist():
        scene.line([(x, foot - height), (x, foot)], rng.uniform(1, 3), label)


def foliage(scene: Backdrop) -> None:
    """Bushes and crowns: bright in the near infrared, cool in thermal."""
    rng = scene.rng
    leaves = scene.surface(
        0.02,
        0.3,
        scene.upper_heat + rng.normal(0, 0.04),
        texture=rng.uniform(0.15, 0.5),
        tint=GRASS,
        nir=rng.uniform(0.15, 0.85),
    )
    x, y, w, h = rng.uniform(-10, CANVAS_W + 10), rng.uniform(-10, 200), rng.uniform(12, 70), rng.uniform(12, 60)
    angle = np.linspace(0, 2 * np.pi, 19)[:-1]
    radius = rng.uniform(0.6, 1.25, 18)
    scene.polygon(
        list(zip((x + w * radius * np.cos(angle)).tolist(), (y + h * radius * np.sin(angle)).tolist(), strict=True)),
        leaves,
    )


def lookalike(scene: Backdrop) -> None:
    """Upright things of human width that are not people: bins, hydrants, mannequins behind glass, parked scooters."""
    rng = scene.rng
    x, foot = rng.uniform(0, CANVAS_W), rng.uniform(max(90.0, scene.horizon), CANVAS_H + 10)
    width, height = rng.uniform(8, 26), rng.uniform(30, 140)
    label = scene.surface(0.02, 0.9, scene.upper_heat + rng.normal(0.04, 0.08))
    scene.ellipse(x - width, foot - height - width * 0.6, x + width, foot - height + width * 0.6, label)
    scene.box(x - width, foot - height, x + width, foot, label)
    if rng.random() < 0.6:
        scene.box(
            x - width,
            foot - height * rng.uniform(0.3, 0.9),
            x + width,
            foot - height * rng.uniform(0.1, 0.3),
            scene.surface(0.02, 0.9),
        )


def lamp(scene: Backdrop) -> None:
    """A small light source, bright in every picture."""
    rng = scene.rng
    x, y, radius = rng.uniform(0, CANVAS_W), rng.uniform(0, 150), rng.uniform(1.5, 8)
    warm = (1.0, rng.uniform(0.7, 1.0), rng.uniform(0.4, 1.0))
    scene.ellipse(
        x - radius, y - radius, x + radius, y + radius, scene.surface(0.9, 1.0, rng.uniform(0.1, 0.8), 0.0, warm, 1.0)
    )
