"""Who a person is: everything that stays the same from camera to camera."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .materials import Material, cloth_colour, cloth_nir, draw_cloth, draw_hair, draw_skin
from .types import Rng, clamp, pick

_IDENTITY_STREAM = 1


@dataclass(frozen=True)
class Build:
    """Body proportions as fractions of the standing height."""

    leg: float
    shoulder: float
    hip: float
    depth: float
    head: float
    arm_radius: float
    thigh_radius: float
    stature: float


@dataclass(frozen=True)
class Outfit:
    """Which garments are worn and how they are cut."""

    legs: str
    leg_width: float
    bottom_length: float
    flare: float
    top_hem: float
    top_loose: float
    sleeve: float
    front: str
    edging: str
    contrast_sleeves: bool
    head: str
    hair: str
    hair_length: float
    face_mask: bool
    glasses: bool
    sole: bool


@dataclass(frozen=True)
class Bag:
    """What is carried. Sizes are fractions of the standing height; ``side`` is -1 or 1."""

    kind: str
    width: float
    height: float
    side: int


@dataclass(frozen=True)
class Identity:
    """One person. Materials are keyed by part name."""

    build: Build
    outfit: Outfit
    bag: Bag
    has_bag: bool
    has_umbrella: bool
    materials: dict[str, Material]


def _build(rng: Rng) -> Build:
    heavy = clamp(rng.normal(1.0, 0.12), 0.75, 1.4)
    return Build(
        leg=float(rng.uniform(0.475, 0.535)),
        shoulder=float(rng.uniform(0.07, 0.09)) * (0.5 + 0.5 * heavy),
        hip=float(rng.uniform(0.046, 0.062)) * heavy,
        depth=float(rng.uniform(0.064, 0.086)) * heavy,
        head=float(rng.uniform(0.92, 1.14)),
        arm_radius=float(rng.uniform(0.027, 0.034)) * heavy,
        thigh_radius=float(rng.uniform(0.043, 0.054)) * heavy,
        stature=clamp(rng.normal(1.0, 0.06), 0.8, 1.12),
    )


def _outfit(rng: Rng) -> Outfit:
    legs = pick(
        rng, {"trousers": 0.54, "wide": 0.14, "tights": 0.09, "shorts": 0.06, "skirt": 0.08, "long_skirt": 0.06}
    )
    coat = rng.random() < 0.2
    return Outfit(
        legs=legs,
        leg_width={"wide": rng.uniform(1.3, 1.75), "tights": 0.98}.get(legs, rng.uniform(1.05, 1.32)),
        bottom_length=float(
            {"skirt": rng.uniform(0.3, 0.55), "shorts": rng.uniform(0.35, 0.52)}.get(legs, rng.uniform(0.68, 0.98))
        ),
        flare=float(rng.uniform(0.95, 1.5)),
        top_hem=float(rng.uniform(0.14, 0.34) if coat else rng.uniform(-0.06, 0.08)),
        top_loose=float(rng.uniform(1.0, 1.35)),
        sleeve=float(pick(rng, {"1.0": 0.8, "0.4": 0.14, "0.0": 0.06})),
        front=pick(rng, {"plain": 0.45, "open": 0.22, "logo": 0.15, "chest_band": 0.08, "zip": 0.1}),
        edging=pick(rng, {"none": 0.66, "hem": 0.16, "collar": 0.18}),
        contrast_sleeves=bool(rng.random() < 0.1),
        head=pick(rng, {"bare": 0.7, "cap": 0.1, "beanie": 0.06, "hood_up": 0.09, "wide_hat": 0.05}),
        hair=pick(rng, {"short": 0.46, "long": 0.3, "bun": 0.07, "tail": 0.1, "bald": 0.07}),
        hair_length=float(rng.uniform(0.03, 0.2)),
        face_mask=bool(rng.random() < 0.3),
        glasses=bool(rng.random() < 0.14),
        sole=bool(rng.random() < 0.4),
    )


def _bag(rng: Rng) -> Bag:
    kind = pick(
        rng,
        {
            "backpack": 0.42,
            "handbag": 0.14,
            "tote": 0.12,
            "shopping": 0.1,
            "crossbody": 0.12,
            "belly": 0.05,
            "suitcase": 0.05,
        },
    )
    width, height = {
        "backpack": (rng.uniform(0.06, 0.1), rng.uniform(0.1, 0.17)),
        "handbag": (rng.uniform(0.04, 0.08), rng.uniform(0.03, 0.06)),
        "tote": (rng.uniform(0.05, 0.09), rng.uniform(0.06, 0.11)),
        "shopping": (rng.uniform(0.04, 0.09), rng.uniform(0.06, 0.12)),
        "crossbody": (rng.uniform(0.035, 0.07), rng.uniform(0.03, 0.06)),
        "belly": (rng.uniform(0.05, 0.075), rng.uniform(0.02, 0.035)),
        "suitcase": (rng.uniform(0.06, 0.1), rng.uniform(0.12, 0.18)),
    }[kind]
    return Bag(kind, float(width), float(height), int(rng.choice((-1, 1))))


def draw_identity(rng: Rng) -> Identity:
    """A new person."""
    outfit = _outfit(rng)
    thick = outfit.top_hem > 0.1
    top = draw_cloth(rng, (0.42, 0.7) if thick else (0.5, 0.85))
    bottom = draw_cloth(rng, (0.6, 0.95))
    if rng.random() < 0.12:
        bottom = top
    face_heat = float(rng.uniform(0.82, 1.0))
    skin = draw_skin(rng, face_heat)
    limb = Material(skin.rgb, skin.nir, clamp(face_heat - rng.uniform(-0.05, 0.3), 0, 1), 0.05, 0.12, 0.06)
    shoe = draw_cloth(rng, (0.4, 0.85), plain=True)
    if rng.random() < 0.4:
        shoe = Material((0.75, 0.75, 0.74), float(rng.uniform(0.6, 0.95)), shoe.heat, 0.05, 0.15, 0.08)
    bag = draw_cloth(rng, (0.1, 0.48), plain=rng.random() < 0.6)
    strap_rgb = cloth_colour(rng) if rng.random() < 0.3 else bag.rgb
    mask_rgb = (
        (0.75, 0.78, 0.8) if rng.random() < 0.5 else (0.35, 0.55, 0.7) if rng.random() < 0.6 else (0.02, 0.02, 0.02)
    )
    materials = {
        "SKIN": skin,
        "LIMB_SKIN": limb,
        "HAIR": draw_hair(rng),
        "TOP": top,
        "BOTTOM": bottom,
        "SHOE": shoe,
        "SOLE": Material((0.7, 0.7, 0.68), 0.7, max(0.2, shoe.heat - 0.2), 0.02, 0.05, 0.02),
        "BAG": bag,
        "STRAP": Material(strap_rgb, cloth_nir(rng, strap_rgb), clamp(bag.heat + 0.15, 0, 1), 0.02, 0.1, 0.04),
        "TRIM": draw_cloth(rng, (0.5, 0.9)),
        "SLEEVE": draw_cloth(rng, (0.5, 0.8)),
        "HAT": draw_cloth(rng, (0.35, 0.7), plain=True),
        "FACE_MASK": Material(mask_rgb, float(rng.uniform(0.4, 0.9)), float(rng.uniform(0.55, 0.9)), 0.02, 0.1, 0.08),
        "UMBRELLA": draw_cloth(rng, (0.1, 0.4)),
        "GADGET": Material(
            (0.03, 0.03, 0.04), float(rng.uniform(0.05, 0.6)), float(rng.uniform(0.3, 0.8)), 0.0, 0.05, 0.0
        ),
    }
    return Identity(_build(rng), outfit, _bag(rng), bool(rng.random() < 0.62), bool(rng.random() < 0.03), materials)


@lru_cache(maxsize=256)
def identity_of(pid: int, seed: int = 0) -> Identity:
    """The person with label ``pid`` in the world ``seed``, the same in every view."""
    return draw_identity(np.random.default_rng(np.random.SeedSequence([seed, pid, 0], spawn_key=(_IDENTITY_STREAM,))))
