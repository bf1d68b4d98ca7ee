"""Somebody: a body, what they wear and carry; the same in every view."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from sdtps.training.people.body.assets import SIDES
from sdtps.training.people.body.shape import Build, close_hands, draw_build, shape
from sdtps.training.people.view.surface import Colour, Kind, Surface
from sdtps.training.people.wear import garments, head
from sdtps.training.people.wear.carried import Bag, backpack
from sdtps.training.people.wear.head import Cut
from sdtps.training.people.wear.piece import Piece
from sdtps.training.people.wear.shoes import shoes
from sdtps.training.synth.materials import cloth_colour, cloth_nir, draw_hair, draw_skin
from sdtps.training.synth.types import FloatArray, Rng, clamp, pick

_STREAM = 5
_PATTERNS = {
    "none": 0.58, "bands": 0.07, "pinstripe": 0.03, "check": 0.06, "print": 0.03, "yoke": 0.05, "camouflage": 0.03,
    "chest": 0.09, "back": 0.03, "sleeves": 0.03,
}  # fmt: skip
_PATTERN_NUMBERS = {"none": 0, "bands": 1, "pinstripe": 2, "check": 3, "print": 4, "yoke": 5, "camouflage": 6,
                    "chest": 7, "back": 8, "sleeves": 9}  # fmt: skip


@dataclass(frozen=True)
class Person:
    """A dressed body in the rest pose.

    Attributes:
        build: what kind of body.
        body: (V, 3) vertices.
        pieces: all that is worn.
        without_pack: the same without the backpack.
        bag: what is carried, if anything.
        umbrella, ride: cloth of an umbrella, pram or paint of a bicycle.
    """

    build: Build
    body: FloatArray
    pieces: tuple[Piece, ...]
    without_pack: tuple[Piece, ...]
    bag: Bag | None
    umbrella: Surface
    ride: Surface
    looks: dict[str, Surface] = field(default_factory=dict)


def worn_colour(rng: Rng) -> Colour:
    """A dye that people wear: strong colours are mostly muted."""
    colour = np.array(cloth_colour(rng))
    grey = float(colour @ [0.3, 0.55, 0.15])
    spread = (colour.max() - colour.min()) / max(colour.max(), 1e-3)
    keep = 1.0 if spread < 0.5 or rng.random() < 0.15 else float(rng.uniform(0.25, 0.7))
    red, green, blue = np.clip(
        (grey + keep * (colour - grey)) * np.array([1.0, 1.0 - 0.15 * (colour[1] > grey), 1.0]), 0.004, 0.92
    )
    return float(red), float(green), float(blue)


def cloth(rng: Rng, heat: tuple[float, float], seed: float, patterned: bool = True, kind: Kind = Kind.CLOTH) -> Surface:
    """A dyed cloth whose warmth on the body lies in a range."""
    colour = worn_colour(rng)
    nir = cloth_nir(rng, colour)
    name = pick(rng, _PATTERNS) if patterned else "none"
    second = worn_colour(rng)
    second_nir = nir * float(rng.uniform(0.85, 1.1)) if rng.random() < 0.5 else cloth_nir(rng, second)
    period = rng.uniform(0.25, 1.1) if name in ("bands", "pinstripe", "check") else rng.uniform(0.4, 1.4)
    slant = rng.uniform(0.8, 2.2)
    return Surface(
        kind, colour, nir, float(rng.uniform(*heat)), second, second_nir, _PATTERN_NUMBERS[name], float(period),
        float(rng.uniform(0.25, 0.6)), float(rng.random()), wrinkle=float(rng.uniform(0.35, 1.0)),
        stretch=(float(slant), float(rng.uniform(0.5, 1.3)), float(slant)), grain=float(rng.uniform(0.02, 0.25)),
        loose_cool=float(rng.uniform(0.03, 0.14)), heat_folds=float(rng.uniform(0.1, 0.42)),
        gloss=float(rng.uniform(0.02, 0.1)) if rng.random() < 0.25 else 0.0, seed=seed + float(rng.uniform(0, 9)),
    )  # fmt: skip


def _skin(rng: Rng, build: Build) -> Surface:
    drawn = draw_skin(rng, float(rng.uniform(0.86, 1.02)))
    dark = build.origins[2]
    tone = tuple(c * (1 - 0.72 * dark) for c in drawn.rgb)
    return Surface(Kind.SKIN, tone, drawn.nir, drawn.heat, seed=float(rng.uniform(0, 50)))  # type: ignore[arg-type]


def _hair_cut(rng: Rng, build: Build) -> Cut:
    kinds = (
        {"short": 0.9, "bald": 0.05, "long": 0.03, "bun": 0.02}
        if build.male
        else {"short": 0.14, "long": 0.5, "tail": 0.24, "bun": 0.12}
    )
    kind = pick(rng, kinds)
    end = float(rng.uniform(2.6, 6.4)) if kind == "long" else float(rng.uniform(6.5, 7.5))
    fringe = float(rng.uniform(-0.05, 0.14) if build.male else rng.uniform(0.0, 0.35))
    return Cut(kind, float(rng.uniform(0.09, 0.3)), end, fringe, float(rng.random()))


def _lower(rng: Rng, person: FloatArray, male: bool, warm: float, seed: float) -> tuple[list[Piece], float, str]:
    """Trousers, shorts, skirt or dress; with it how much of the legs stays bare, and what it was."""
    kinds = {"jeans": 0.34, "loose": 0.24, "leggings": 0.12, "wide": 0.12, "shorts": 0.05}
    if not male:
        kinds |= {"skirt": 0.1, "dress": 0.09, "shorts": 0.03, "loose": 0.14}
    kind = pick(rng, kinds)
    # Thin cloth over warm legs: mostly the warmest thing after the face.
    fabric = cloth(rng, (0.68, 0.98), seed, rng.random() < 0.12)
    fabric = fabric.but(
        loose_cool=fabric.loose_cool * 0.8, detail=(4 if rng.random() < 0.08 else 0) | (16 * (rng.random() < 0.3))
    )
    long_end = float(rng.uniform(-7.75, -7.2))
    if kind == "leggings":
        tight = fabric.but(wrinkle=fabric.wrinkle * 0.35)
        return [garments.trousers(person, tight, float(rng.uniform(0.03, 0.08)), -7.6, 0.0)], 0.0, kind
    if kind in ("jeans", "loose", "wide"):
        push = {"jeans": (0.06, 0.16), "loose": (0.14, 0.28), "wide": (0.25, 0.42)}[kind]
        hang = {"jeans": (0.1, 0.5), "loose": (0.5, 0.9), "wide": (0.8, 1.0)}[kind]
        flare = float(rng.uniform(0.0, 0.35)) if kind == "wide" else 0.0
        piece = garments.trousers(person, fabric, float(rng.uniform(*push)), long_end, float(rng.uniform(*hang)), flare)
        return [piece], 0.0, kind
    if kind == "shorts":
        return [garments.trousers(person, fabric, 0.2, float(rng.uniform(-3.6, -1.8)), 0.9)], 0.62, kind
    hem = float(rng.uniform(-6.6, -2.2))
    fall = fabric.but(stretch=(fabric.stretch[0] * 1.7, 0.3, fabric.stretch[2] * 1.7), detail=0)
    parts = [garments.skirt(person, fall, float(rng.uniform(0.06, 0.25)), hem, wide=float(rng.uniform(0, 0.5)))]
    bare = clamp((hem + 7.0) / 7.5 + 0.15, 0.1, 0.8)
    if warm < 0.5 or rng.random() < 0.5:
        stockings = cloth(rng, (0.8, 1.0), seed, False).but(wrinkle=0.0)
        return [*parts, garments.trousers(person, stockings, 0.02, -7.7, 0.0)], 0.0, kind
    return parts, bare, kind


def _upper(rng: Rng, person: FloatArray, warm: float, lower: str, lower_cloth: Surface, seed: float,
           ) -> tuple[list[Piece], float, float, Surface]:  # fmt: skip
    """Layers of the upper body, how much of the arms stays bare, how thick it all is, and the outermost cloth."""
    if warm > 0.6:
        kind = pick(rng, {"shirt": 0.75, "hoodie": 0.15, "jacket": 0.1})
    else:
        kind = pick(rng, {"shirt": 0.18, "hoodie": 0.22, "jacket": 0.32, "coat": 0.14, "padded": 0.14})
    heat = {
        "shirt": (0.6, 0.9),
        "hoodie": (0.48, 0.78),
        "jacket": (0.4, 0.74),
        "coat": (0.36, 0.64),
        "padded": (0.24, 0.5),
    }
    fabric = cloth(
        rng, heat[kind], seed, kind != "coat", Kind.QUILT if kind == "padded" and rng.random() < 0.6 else Kind.CLOTH
    )
    if lower == "dress":
        fabric = lower_cloth.but(pattern=0)
    if kind == "shirt":
        sleeve = float(rng.uniform(0.2, 0.5)) if rng.random() < 0.7 * warm + 0.1 else 1.0
        hem = float(rng.uniform(-0.6, 1.0)) if lower != "dress" else 0.9
        piece = garments.top(person, fabric, float(rng.uniform(0.05, 0.2)), hem, sleeve, float(rng.uniform(0.2, 0.9)),
                             open_neck=float(rng.uniform(0, 0.9)))  # fmt: skip
        return [piece], 0.0 if sleeve == 1 else (1.0 if sleeve < 0.1 else 0.5), 0.15, fabric
    push = {"hoodie": (0.14, 0.3), "jacket": (0.16, 0.34), "coat": (0.18, 0.34), "padded": (0.32, 0.62)}[kind]
    thick = float(rng.uniform(*push))
    hem = float(rng.uniform(-0.75, 0.6)) if kind != "coat" else float(rng.uniform(-5.2, -1.6))
    details = 1 * (kind != "coat" or rng.random() < 0.5) | 8 * (rng.random() < 0.4)
    if kind == "hoodie" and rng.random() < 0.6:
        details &= ~1
    fabric = fabric.but(detail=details, grain=fabric.grain)
    collar = float(rng.uniform(0.0, 0.3))
    parts = [garments.top(person, fabric, thick, hem, 1.0, float(rng.uniform(0.3, 0.9)), collar)]
    if hem < garments.CROTCH:
        fall = fabric.but(stretch=(fabric.stretch[0] * 1.5, 0.3, fabric.stretch[2] * 1.5))
        parts.append(garments.skirt(person, fall, thick + 0.12, hem, 0.5))
    if kind == "hoodie" or (kind in ("jacket", "padded") and rng.random() < 0.35):
        parts.append(head.fallen_hood(person, fabric.but(pattern=0, detail=0, heat=fabric.heat - 0.05)))
    return parts, 0.0, thick, fabric


def _shoes(rng: Rng, person: FloatArray, lower: str, seed: float) -> list[Piece]:
    upper = cloth(rng, (0.42, 0.85), seed, False).but(wrinkle=0.1)
    if rng.random() < 0.38:
        white = float(rng.uniform(0.5, 0.85))
        upper = upper.but(colour=(white, white, white * 0.98), nir=float(rng.uniform(0.6, 0.92)))
    pale = rng.random() < 0.45
    sole = Surface(
        Kind.PLAIN, (0.7, 0.69, 0.66) if pale else (0.03, 0.03, 0.03), 0.7 if pale else 0.12,
        max(0.2, upper.heat - 0.2), seed=seed,
    )  # fmt: skip
    boots = (
        float(rng.uniform(0.5, 2.6))
        if rng.random() < (0.4 if lower in ("skirt", "dress", "leggings") else 0.06)
        else 0.0
    )
    return shoes(person, upper, sole, boots, float(rng.uniform(0.9, 1.12)))


def _bag(rng: Rng, seed: float) -> Bag | None:
    kind = pick(rng, {"none": 0.36, "backpack": 0.27, "hand": 0.09, "shopping": 0.09, "shoulder": 0.08,
                      "crossbody": 0.08, "trolley": 0.03})  # fmt: skip
    if kind == "none":
        return None
    low, high = {
        "backpack": ((2.3, 3.3, 1.0), (3.2, 4.8, 1.9)), "hand": ((2.0, 1.5, 0.6), (3.2, 2.4, 1.2)),
        "shopping": ((2.0, 2.6, 0.8), (3.2, 4.0, 1.6)), "shoulder": ((2.2, 1.8, 0.6), (3.6, 3.4, 1.2)),
        "crossbody": ((1.6, 1.2, 0.5), (2.8, 2.2, 0.9)), "trolley": ((2.4, 5.2, 3.4), (2.8, 6.4, 4.2)),
    }[kind]  # fmt: skip
    size = tuple(rng.uniform(low, high).tolist())
    surface = cloth(rng, (0.1, 0.42), seed, rng.random() < 0.25).but(
        loose_cool=0.0, wrinkle=float(rng.uniform(0.1, 0.6))
    )
    strap = surface.but(pattern=0) if rng.random() < 0.7 else cloth(rng, (0.2, 0.5), seed, False)
    return Bag(
        kind,
        size,
        SIDES[int(rng.integers(2))],
        surface,
        strap.but(heat=surface.heat + 0.1),
        float(rng.uniform(0.2, 1.2)),
    )  # type: ignore[arg-type]


def draw_person(rng: Rng, other: Build | None = None) -> Person:
    """A new person, or these clothes on the body of another."""
    build = draw_build(rng)
    build = other or build
    person = close_hands(shape(build), float(rng.uniform(0.3, 0.6)))
    seed = float(rng.uniform(0, 40))
    warm = float(rng.random())
    skin = _skin(rng, build)
    lower, legs, kind = _lower(rng, person, build.male, warm, seed)
    upper, arms, thick, outer = _upper(rng, person, warm, kind, lower[0].surface, seed)
    hair_drawn = draw_hair(rng)
    tone = (
        hair_drawn.rgb
        if build.old < 0.55 or rng.random() < 0.3
        else tuple(np.array([0.3, 0.29, 0.28]) * rng.uniform(0.6, 1.8))
    )
    strands = Surface(Kind.HAIR, tone, hair_drawn.nir, float(rng.uniform(0.55, 0.8)), seed=seed)  # type: ignore[arg-type]
    cut = _hair_cut(rng, build)
    beard = float(rng.uniform(0.3, 1.0)) if build.male and rng.random() < 0.25 else 0.0
    bare = head.skin_parts(person, skin, arms, legs, False, float(rng.uniform(0.3, 0.8)), beard, seed)
    on_head = head.hair(person, cut, strands)
    covering = pick(rng, {"none": 0.8, "cap": 0.06, "beanie": 0.05 + 0.04 * (warm < 0.4), "bucket": 0.02, "hood": 0.06})
    if covering == "hood":
        on_head = head.hat(person, "hood", outer.but(pattern=0, detail=0, heat=outer.heat - 0.02))
    elif covering != "none":
        on_head = [*on_head[1:], *head.hat(person, covering, cloth(rng, (0.35, 0.65), seed, False))]
    worn = (*bare, *lower, *upper, *_shoes(rng, person, kind, seed), *on_head)
    bag = _bag(rng, seed)
    packed = (*worn, *backpack(person, bag, thick)) if bag is not None and bag.kind == "backpack" else worn
    ride = cloth(rng, (0.15, 0.35), seed, False).but(kind=Kind.PLAIN, gloss=0.15, loose_cool=0.0)
    umbrella = cloth(rng, (0.1, 0.35), seed).but(loose_cool=0.0, wrinkle=0.1)
    looks = {"top": outer, "bottom": lower[0].surface, "hair": strands}
    return Person(build, person, packed, worn, bag, umbrella, ride, looks)


@lru_cache(maxsize=96)
def person_of(pid: int, seed: int = 0, body: Build | None = None) -> Person:
    """The person with label `pid` in the world `seed`, the same in every view; `body` puts the clothes on another."""
    return draw_person(np.random.default_rng(np.random.SeedSequence([seed, pid, 0], spawn_key=(_STREAM,))), body)
