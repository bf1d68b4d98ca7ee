"""What surfaces look like to the three sensors: colour, near-infrared reflectance, warmth, texture, pattern."""

from dataclasses import dataclass, replace

import numpy as np

from .types import LABELS, FloatArray, Rng, clamp, pick

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Pattern:
    """A second colour laid over a garment; ``period`` is a fraction of the body height."""

    kind: str
    period: float
    duty: float
    colour: Colour
    nir: float
    phase: float


@dataclass(frozen=True)
class Material:
    """A surface. ``rgb`` and ``nir`` are linear reflectances, ``heat`` is 0 (coldest) to 1 (hottest)."""

    rgb: Colour
    nir: float
    heat: float
    texture: float = 0.05
    folds: float = 0.15
    heat_folds: float = 0.05
    pattern: Pattern | None = None


def colour(values: np.ndarray) -> Colour:
    """Clip to a valid reflectance."""
    red, green, blue = values.tolist()
    return clamp(red, 0.004, 1.0), clamp(green, 0.004, 1.0), clamp(blue, 0.004, 1.0)


def cloth_colour(rng: Rng) -> Colour:
    """A dye: mostly black and dark, as worn at night, then greys, blues and everything else."""
    kind = pick(rng, {"black": 0.34, "dark": 0.16, "grey": 0.13, "white": 0.1, "blue": 0.12, "free": 0.15})
    tint = rng.normal(0, 1, 3)
    if kind == "black":
        return colour(rng.uniform(0.006, 0.04) * (1 + 0.12 * tint))
    if kind == "dark":
        return colour(rng.uniform(0.02, 0.09) * (1 + 0.6 * np.abs(tint)))
    if kind == "grey":
        return colour(rng.uniform(0.08, 0.4) * (1 + 0.06 * tint))
    if kind == "white":
        return colour(rng.uniform(0.5, 0.9) * (1 + 0.05 * tint))
    if kind == "blue":
        return colour(np.array([0.06, 0.1, 0.2]) * rng.uniform(0.3, 2.2) * (1 + 0.2 * tint))
    return colour(rng.random(3) ** 2 * rng.uniform(0.2, 1.0))


def cloth_nir(rng: Rng, rgb: Colour) -> float:
    """Most dyes are transparent in the near infrared, so dark cloth often turns bright; a few stay dark."""
    visible = sum(rgb) / 3
    kind = pick(rng, {"bright": 0.5, "same": 0.2, "mid": 0.3})
    if kind == "bright":
        return float(rng.uniform(min(max(0.3, visible), 0.85), 0.92))
    if kind == "same":
        return clamp(visible * rng.uniform(0.8, 1.8), 0.02, 0.95)
    return float(rng.uniform(0.08, 0.35))


def _pattern(rng: Rng, base: Colour, nir: float) -> Pattern | None:
    kind = pick(
        rng,
        {
            "none": 0.66,
            "bands": 0.09,
            "pinstripe": 0.05,
            "check": 0.06,
            "print": 0.06,
            "blocks": 0.05,
            "camouflage": 0.03,
        },
    )
    if kind == "none":
        return None
    second = cloth_colour(rng) if rng.random() < 0.6 else colour(np.array(base) * rng.uniform(0.3, 2.5) + 0.02)
    second_nir = nir * rng.uniform(0.85, 1.1) if rng.random() < 0.55 else cloth_nir(rng, second)
    period = rng.uniform(0.1, 0.3) if kind == "blocks" else rng.uniform(0.014, 0.06)
    return Pattern(kind, float(period), float(rng.uniform(0.25, 0.6)), second, float(second_nir), float(rng.random()))


def draw_cloth(rng: Rng, heat: tuple[float, float], plain: bool = False) -> Material:
    """A garment whose warmth at the sensor lies in the range ``heat``."""
    rgb = cloth_colour(rng)
    nir = cloth_nir(rng, rgb)
    return Material(
        rgb,
        nir,
        float(rng.uniform(*heat)),
        texture=float(rng.uniform(0.0, 0.07)),
        folds=float(rng.uniform(0.04, 0.24)),
        heat_folds=float(rng.uniform(0.01, 0.055)),
        pattern=None if plain else _pattern(rng, rgb, nir),
    )


def draw_skin(rng: Rng, heat: float) -> Material:
    """Skin is bright in the near infrared whatever its tone."""
    tone = np.array([0.55, 0.34, 0.25]) * rng.uniform(0.35, 1.15)
    return Material(colour(tone), float(rng.uniform(0.4, 0.75)), heat, 0.05, 0.1, 0.05)


def draw_hair(rng: Rng) -> Material:
    """Mostly black hair; near-infrared makes some of it grey."""
    rgb = np.full(3, rng.uniform(0.006, 0.05))
    if rng.random() < 0.25:
        rgb = np.array([0.25, 0.15, 0.08]) * rng.uniform(0.2, 1.6)
    return Material(colour(rgb), float(rng.uniform(0.04, 0.35)), float(rng.uniform(0.5, 0.85)), 0.08, 0.3, 0.06)


def warmed(material: Material, shift: float) -> Material:
    """The same surface at another temperature."""
    return replace(material, heat=clamp(material.heat + shift, 0.0, 1.05))


def pattern_cover(pattern: Pattern, x: np.ndarray, y: np.ndarray, mottle: FloatArray) -> FloatArray:
    """How much of the second colour shows: (h, w) in 0..1 for body coordinates ``x`` (1, w) and ``y`` (h, 1)."""
    along, across = y / pattern.period + pattern.phase, x / pattern.period + pattern.phase
    if pattern.kind == "bands":
        cover = (along % 1 < pattern.duty) & (mottle > -9)
    elif pattern.kind == "pinstripe":
        cover = (across % 1 < pattern.duty) & (mottle > -9)
    elif pattern.kind == "check":
        cover = (along % 1 < pattern.duty) ^ (across % 1 < pattern.duty)
    elif pattern.kind == "blocks":
        cover = (along % 1 < 0.5) & (mottle > -9)
    elif pattern.kind == "print":
        cover = np.sin(along * 2.1) + np.sin(across * 2.7 + along) + 0.8 * mottle > 1.2 - pattern.duty
    else:
        cover = mottle > 0.8 - pattern.duty
    return cover.astype(np.float32)


class MaterialTable:
    """Per-label lookup of everything the sensors need."""

    # columns of ``values``: r, g, b, nir, heat, texture, folds, heat folds
    COLUMNS = 8

    def __init__(self, size: int = LABELS) -> None:
        self.values: FloatArray = np.zeros((size, self.COLUMNS), np.float32)
        self.patterns: dict[int, tuple[Pattern, float, float]] = {}

    def put(self, label: int, material: Material, origin_x: float = 0.0, scale: float = 256.0) -> None:
        """Store a material; patterned ones also need where the body stands and how tall it is in pixels."""
        self.values[label] = (
            *material.rgb,
            material.nir,
            material.heat,
            material.texture,
            material.folds,
            material.heat_folds,
        )
        if material.pattern is not None:
            self.patterns[label] = (material.pattern, origin_x, scale)
