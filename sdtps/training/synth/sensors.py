"""Three sensors looking at the same painted world: colour, near-infrared and thermal."""

from dataclasses import dataclass

import numpy as np

from .backdrop import Backdrop
from .camera import Camera, Conditions
from .canvas import Canvas
from .materials import MaterialTable, pattern_cover
from .noise import noise_bank
from .types import CANVAS_H, CANVAS_W, LABELS, OBJECT_OWNER, PARTS, FloatArray, Part, Rng, clamp

_X = (np.arange(CANVAS_W, dtype=np.float32) / CANVAS_W)[None]
_Y = (np.arange(CANVAS_H, dtype=np.float32) / CANVAS_H)[:, None]


@dataclass(frozen=True)
class World:
    """Per-pixel surface of one shot, all float32.

    Attributes:
        albedo: (4, H, W) reflectance in red, green, blue and near infrared; planes first, which NumPy handles faster.
        heat: (H, W) warmth.
        relief: (H, W) shading by the surface normal and folds, about 1.
        people: (H, W) bool, any person.
    """

    albedo: FloatArray
    heat: FloatArray
    relief: FloatArray
    people: np.ndarray


def _spot(rng: Rng, size: tuple[float, float] = (0.15, 0.6)) -> FloatArray:
    """A soft pool of light, (H, W) in 0..1, possibly centred outside the frame."""
    cy, cx = rng.uniform(-0.2, 1.2, 2).tolist()
    sy, sx = rng.uniform(*size, 2).tolist()
    return np.exp(-(((_Y - cy) / sy) ** 2)) * np.exp(-(((_X - cx) / (sx * 1.6)) ** 2))


def _ramp(rng: Rng, strength: float) -> FloatArray:
    """Light that falls off across the frame, about 1."""
    down, right = rng.normal(0, strength, 2).tolist()
    return np.maximum(1 + down * (_Y - 0.5) + right * (_X - 0.5), 0.1)


def build_world(rng: Rng, canvas: Canvas, table: MaterialTable, scene: Backdrop, shadow: FloatArray) -> World:
    """Look up materials, lay patterns and folds, shade bodies as rounded things."""
    bank = noise_bank()
    label = canvas.label
    covered = label > 0
    both = np.concatenate([table.values, scene.table.values]).T.copy()
    surface = both.take(np.where(covered, label, scene.label + np.uint8(LABELS)), 1)  # (8, H, W)
    albedo = surface[:4]
    mottle = bank.draw(rng, "patch")
    for key, (pattern, x0, scale) in table.patterns.items():
        where = label == key
        if not where.any():
            continue
        rows, cols = np.flatnonzero(where.any(1)), np.flatnonzero(where.any(0))
        box = slice(rows[0], rows[-1] + 1), slice(cols[0], cols[-1] + 1)
        x = np.arange(cols[0] - int(x0), cols[-1] + 1 - int(x0), dtype=np.float32)[None] / np.float32(scale)
        y = np.arange(rows[0], rows[-1] + 1, dtype=np.float32)[:, None] / np.float32(scale)
        cover = pattern_cover(pattern, x, y, mottle[box]) * where[box]
        second = np.array([*pattern.colour, pattern.nir], np.float32)[:, None, None]
        plain = albedo[:, box[0], box[1]]
        plain += cover * (second - plain)
    fine = bank.draw(rng, ("grain", "mottle", "upright", "flat", "mottle")[int(rng.integers(5))])
    albedo *= np.maximum(1 + surface[5] * fine, 0.05)

    folds = bank.draw(rng, "folds")
    broad = bank.draw(rng, "cloud")
    people = covered & (label < OBJECT_OWNER * PARTS)
    across = np.minimum(np.maximum(canvas.across, -1), 1) * covered
    bulge = across * across
    facing = np.sqrt(1 - 0.98 * bulge)
    side_light = rng.normal(0, 0.35)
    depth = rng.uniform(0.15, 0.6)
    relief = 1 - depth + depth * facing + side_light * across * depth
    folds = np.where(covered, folds, broad)
    relief *= 1 + surface[6] * folds
    relief *= np.where(covered, np.float32(1), shadow)
    np.maximum(relief, 0.08, out=relief)

    heat = surface[4] + surface[7] * folds
    # Limb edges look cooler (grazing angle), limbs cool towards their ends.
    edge, fade = rng.uniform(0.02, 0.16), rng.uniform(-0.02, 0.12)
    heat -= (edge * bulge * bulge + fade * (canvas.along - 0.4)) * people
    skin = (label % PARTS == Part.SKIN) & people
    heat += skin * (0.05 * fine)
    return World(albedo, heat, relief, people)


def _exposure(image: FloatArray, percentile: float, target: float) -> float:
    """The gain that brings a percentile of the picture to ``target``."""
    return target / max(float(np.percentile(image, percentile)), 1e-3)


def _tone(image: FloatArray, linear: float) -> FloatArray:
    """Display curve between a square root (0) and a straight line (1); far cheaper than a power."""
    image = np.minimum(np.maximum(image, 0), np.float32(1.4))
    return np.sqrt(image) * np.float32(1 - linear) + image * np.float32(linear)


def see_rgb(rng: Rng, world: World, camera: Camera, conditions: Conditions) -> FloatArray:
    """(3, H, W) display values, about 0..1."""
    light = world.relief * _ramp(rng, 0.5)
    if conditions.night:
        ambient = rng.uniform(0.15, 0.8)
        for _ in range(int(rng.integers(1, 3))):
            light = light * (ambient + rng.uniform(0.5, 2.0) * _spot(rng))
    # The person may stand in the light or against it.
    backlit = rng.uniform(0.12, 0.85) if rng.random() < 0.45 else rng.uniform(0.8, 1.6)
    light = light * np.where(world.people, np.float32(backlit), np.float32(1))
    tint = camera.tint * (1 + rng.normal(0, 0.05, 3))
    if conditions.night and rng.random() < 0.3:
        tint = tint * np.array([1.15, 1.0, 0.75]) ** rng.uniform(-0.6, 1.0)
    gain = _exposure(world.albedo[1, ::6, ::4] * light[::6, ::4], rng.uniform(78, 98), rng.uniform(0.14, 0.6))
    image = world.albedo[:3] * light
    image *= (tint * gain).astype(np.float32)[:, None, None]
    if conditions.glare:
        for _ in range(int(rng.integers(1, 3))):
            colour = np.array([1.0, rng.uniform(0.85, 1.0), rng.uniform(0.7, 1.0)], np.float32)
            veil = rng.uniform(0.2, 1.0) * _spot(rng, (0.1, 0.5))
            lamp = rng.uniform(1, 3) * _spot(rng, (0.02, 0.08))
            image += (veil + lamp) * colour[:, None, None]
    elif rng.random() < 0.15:
        image += rng.uniform(0.02, 0.15) * _spot(rng, (0.3, 0.8))
    if conditions.fog:
        image = _fog(rng, image)
    image = _tone(image, rng.uniform(-0.15, 0.4))
    # Cheap cameras crush the shadows.
    contrast = camera.contrast * rng.uniform(0.85, 1.25)
    black = rng.uniform(0.0, 0.16) if rng.random() < 0.6 else -rng.uniform(0, 0.06)
    contrast *= 1 + camera.exposure + rng.normal(0, 0.1)
    saturation = rng.uniform(0.35, 1.15)
    grey = image.sum(0) * np.float32(contrast * (1 - saturation) / 3) - np.float32(black * contrast)
    image *= np.float32(contrast * saturation)
    image += grey
    return image


def _fog(rng: Rng, image: FloatArray) -> FloatArray:
    thickness = rng.uniform(0.3, 0.62) * (1 - rng.uniform(0, 0.5) * _Y)
    veil = rng.uniform(0.3, 0.75)
    return (image * (1 - thickness) + veil * thickness).astype(np.float32)


def see_nir(rng: Rng, world: World, camera: Camera, conditions: Conditions) -> FloatArray:
    """(H, W) display values, about 0..1; often a flat grey picture."""
    light = (1 + (world.relief - 1) * rng.uniform(0.4, 1.0)) * _ramp(rng, 0.4)
    if rng.random() < 0.5:
        light = light * (rng.uniform(0.3, 1.0) + rng.uniform(0.3, 1.5) * _spot(rng, (0.3, 0.8)))
    near = rng.uniform(0.9, 1.9) if rng.random() < 0.55 else rng.uniform(0.5, 1.0)
    image = world.albedo[3] * light * np.where(world.people, np.float32(near), np.float32(1))
    image *= np.float32(_exposure(image[::6, ::4], rng.uniform(70, 97), rng.uniform(0.3, 0.8)))
    if conditions.glare and rng.random() < 0.6:
        image = image + rng.uniform(0.1, 0.7) * _spot(rng, (0.1, 0.6))
    if conditions.fog:
        image = _fog(rng, image)
    image = _tone(image, rng.uniform(0.0, 0.6))
    flatness = clamp(camera.nir_flatness + rng.normal(0, 0.2), -0.2, 0.7)
    middle = rng.uniform(0.3, 0.55)
    return (middle + (image - middle) * (1 - flatness) * rng.uniform(0.95, 1.35)).astype(np.float32)


def see_tir(rng: Rng, world: World, conditions: Conditions) -> FloatArray:
    """(H, W) warmth as displayed, about 0..1; colour comes last."""
    warmth = rng.uniform(0.82, 1.12)
    lift = rng.uniform(0.0, 0.08)
    background = world.heat * rng.uniform(0.6, 1.2) + lift + rng.uniform(-0.02, 0.14) * (_Y - 0.4)
    if rng.random() < 0.2:
        background = background + rng.uniform(0.05, 0.25) * _spot(rng, (0.1, 0.5))
    image = np.where(world.people, world.heat * warmth + rng.normal(0, 0.03), background)
    if conditions.fog:
        image = image * 0.8 + 0.08
    if rng.random() < 0.1:
        image = image * rng.uniform(0.5, 0.8) + rng.uniform(0.05, 0.25)
    return image.astype(np.float32)
