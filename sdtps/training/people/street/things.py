"""What stands in a street: walls, gates, fences, poles, cars, bicycles, hedges, trees, boxes."""

import numpy as np

from sdtps.training.people.body.turns import Y, Z, about
from sdtps.training.people.view.surface import Colour, Kind, Mesh, Owner, Surface
from sdtps.training.people.wear import carried
from sdtps.training.people.wear.meshes import Shape, ball, box, grid_faces, join, solid, tube
from sdtps.training.synth.types import FloatArray, Rng, Vector, pick

LEAF: Colour = (0.035, 0.06, 0.02)


def paint(
    rng: Rng, low: float, high: float, heat: float, kind: Kind = Kind.PLAIN, tint: float = 0.08, vivid: float = 0.18
) -> Surface:
    """A surface of a random lightness, mostly grey, as bright in the near infrared give or take."""
    value = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    colour = np.clip(value * (1 + rng.normal(0, tint, 3)), 0.004, 1.2)
    if rng.random() < vivid:
        colour = np.clip(colour * rng.uniform(0.3, 1.7, 3), 0.004, 1.2)
    second = np.clip(float(np.exp(rng.uniform(np.log(0.02), np.log(0.7)))) * (1 + rng.normal(0, tint, 3)), 0.004, 1)
    return Surface(
        kind,
        tuple(colour.tolist()),
        float(np.clip(value * rng.uniform(0.6, 1.7), 0.02, 1)),
        float(heat + rng.normal(0, 0.04)),
        tuple(second.tolist()),
        float(np.clip(second.mean() * rng.uniform(0.6, 1.6), 0.02, 1)),
        grain=float(rng.uniform(0.05, 0.4)),
        seed=float(rng.uniform(0, 50)),
    )


def leaf_colour(rng: Rng, low: float, high: float) -> Colour:
    """A green of some sort."""
    red, green, blue = (c * float(rng.uniform(low, high)) for c in LEAF)
    return red, green, blue


def sheet(corners: FloatArray, rest: FloatArray | None = None) -> tuple[Shape, FloatArray]:
    """A flat four-cornered surface, and coordinates for its pattern."""
    points = np.asarray(corners, np.float32)
    return (points, np.array([[0, 1, 2], [0, 2, 3]])), points if rest is None else np.asarray(rest, np.float32)


def wall(rng: Rng, x0: float, x1: float, z: float, height: float, heat: float) -> list[Mesh]:
    """A house front, shop or brick wall across the view."""
    kind = Kind.BRICK if rng.random() < 0.25 else Kind.FACADE
    surface = paint(rng, 0.03, 0.8, heat, kind)
    if kind is Kind.BRICK:
        surface = surface.but(period=float(rng.uniform(0.7, 1.6)))
    else:
        surface = surface.but(period=float(rng.uniform(8, 34)), duty=float(rng.uniform(0.2, 1.6)),
                              pattern=2 if rng.random() < 0.25 else 0)  # fmt: skip
    shape, rest = sheet(np.array([[x0, 0, z], [x1, 0, z], [x1, height, z], [x0, height, z]]))
    parts = [solid(shape, surface, rest=rest, shadow=False)]
    if rng.random() < 0.5:
        base = paint(rng, 0.05, 0.5, heat)
        parts.append(solid(box((x1 - x0, rng.uniform(2, 8), 1.0), ((x0 + x1) / 2, 2, z + 0.5), 12), base))
    return parts


def columns(rng: Rng, x: float, z: float, heat: float) -> list[Mesh]:
    """Pillars, doors or gate wings of alternating lightness."""
    parts = []
    for _ in range(int(rng.integers(2, 7))):
        width = rng.uniform(0.8, 5)
        parts.append(solid(box((width, rng.uniform(18, 60), rng.uniform(0.5, 3)), (x, 12, z), 14),
                           paint(rng, 0.02, 0.9, heat)))  # fmt: skip
        x += width + rng.uniform(0.5, 6)
    return parts


def arches(rng: Rng, x: float, z: float, heat: float) -> list[Mesh]:
    """Curved bars of an ornate gate."""
    bars = []
    for _ in range(int(rng.integers(2, 6))):
        wide, tall, lift = rng.uniform(3, 14), rng.uniform(8, 26), rng.uniform(2, 8)
        angle = np.linspace(rng.uniform(0, 1), rng.uniform(2, 3.1), 12)
        path = np.stack([x + wide * np.cos(angle), lift + tall * np.sin(angle), np.full(12, z)], 1)
        bars.append(tube(path, rng.uniform(0.15, 0.7), 6))
        x += rng.uniform(1, 6)
    return [solid(join(bars), paint(rng, 0.25, 0.95, heat))]


def fence(rng: Rng, x: float, z: float, heat: float) -> list[Mesh]:
    """Rails with bars."""
    high, gap, length = rng.uniform(7, 16), rng.uniform(0.9, 3.2), rng.uniform(20, 70)
    bars = [tube(np.array([[x - length / 2, y, z], [x + length / 2, y, z]]), rng.uniform(0.12, 0.4), 5)
            for y in (high, high * rng.uniform(0.1, 0.5))]  # fmt: skip
    thick = rng.uniform(0.08, 0.3)
    bars += [
        tube(np.array([[u, 0, z], [u, high, z]]), thick, 5) for u in np.arange(x - length / 2, x + length / 2, gap)
    ]
    return [solid(join(bars), paint(rng, 0.03, 0.9, heat))]


def pole(rng: Rng, x: float, z: float, heat: float) -> list[Mesh]:
    """A lamp post, sign post, bollard or trunk."""
    kind = pick(rng, {"lamp": 0.35, "sign": 0.25, "bollard": 0.2, "trunk": 0.2})
    thick = {"lamp": (0.4, 1.0), "sign": (0.25, 0.5), "bollard": (0.5, 1.4), "trunk": (1.0, 2.6)}[kind]
    high = rng.uniform(6, 11) if kind == "bollard" else 60.0
    radius = float(rng.uniform(*thick))
    lean = rng.normal(0, 1.5, 2)
    surface = paint(rng, 0.03, 0.85, heat)
    if kind == "trunk":
        surface = surface.but(colour=(0.06, 0.045, 0.035), nir=0.25, grain=0.6)
    parts = [solid(tube(np.array([[x, -0.2, z], [x + lean[0], high, z + lean[1]]]), radius, 10), surface)]
    if kind == "sign":
        board = paint(rng, 0.1, 1.0, heat, tint=0.5)
        parts.append(
            solid(box((rng.uniform(3, 7), rng.uniform(3, 9), 0.3), (x, rng.uniform(14, 24), z + 0.4), 10), board)
        )
    return parts


def car(rng: Rng, x: float, z: float, heat: float, bearing: float = 0.0) -> list[Mesh]:
    """A parked or passing car, seen from the side at bearing 0."""
    long, wide = rng.uniform(38, 46), rng.uniform(17, 19)
    # Outline from bumper to bumper: share of the length, height, half width of the body there.
    outline = np.array([(0, 4.5, 0.80), (0.02, 7.4, 0.9), (0.22, 8.6, 1), (0.36, 13.6, 0.84), (0.55, 14.4, 0.84),
                        (0.76, 13.4, 0.84), (0.92, 9.4, 1), (0.985, 7.6, 0.95), (1, 4.5, 0.85)])  # fmt: skip
    angle = np.linspace(-np.pi / 2, 3 * np.pi / 2, 20, endpoint=False)
    rows = []
    for share, high, half in outline:
        y = 2.2 + (high - 2.2) * (0.5 + 0.5 * np.sign(np.sin(angle)) * np.abs(np.sin(angle)) ** 0.45)
        across = np.sign(np.cos(angle)) * np.abs(np.cos(angle)) ** 0.45 * half * wide / 2
        rows.append(np.stack([np.full(20, (share - 0.5) * long), y, across], 1))
    points = np.concatenate(rows).astype(np.float32)
    body = points, grid_faces(len(outline), 20, closed=True)
    turn, place = about(Y, bearing), np.array([x, 0, z])
    surface = paint(rng, 0.01, 0.85, heat, Kind.CAR, 0.05)
    if rng.random() < 0.2:
        surface = surface.but(colour=(float(rng.uniform(0.1, 0.4)), 0.02, 0.02))
    parts = [solid(body, surface.but(gloss=0.3))]
    wheels = [
        tube(np.array([[u * long, 3.1, -wide * 0.51], [u * long, 3.1, wide * 0.51]]), 3.1, 16) for u in (-0.32, 0.3)
    ]
    hubs = [ball((3.4, 3.4, 0.6), (u * long, 3.1, s * wide * 0.52)) for u in (-0.32, 0.3) for s in (-1, 1)]
    warm = carried.RUBBER.but(heat=heat + 0.12)
    parts += [solid(join(wheels), warm), solid(join(hubs), carried.METAL.but(heat=heat + 0.1))]
    lights = [box((0.5, 1.3, 3.0), (s * long * 0.493, 6.6, t * wide * 0.34), 4) for s in (-1, 1) for t in (-1, 1)]
    parts.append(solid(join(lights), Surface(Kind.PLAIN, (0.8, 0.75, 0.7), 0.8, heat + 0.1, gloss=0.4)))
    return [p.moved(turn, place) for p in parts]


def bush(rng: Rng, x: float, z: float, heat: float, tallest: float = 14) -> list[Mesh]:
    """Bushes, or a hedge."""
    green = Surface(
        Kind.LEAVES, leaf_colour(rng, 0.5, 1.6), float(rng.uniform(0.3, 0.85)), heat - 0.05,
        (0.08, 0.12, 0.04), seed=float(rng.uniform(0, 50)),
    )  # fmt: skip
    if rng.random() < 0.35:
        high = rng.uniform(4, tallest)
        return [solid(box((rng.uniform(20, 80), high, rng.uniform(3, 8)), (x, high / 2, z), 8), green, loose=0.5)]
    parts = []
    for _ in range(int(rng.integers(2, 6))):
        size = rng.uniform(3, 0.8 * tallest)
        place = (x + rng.normal(0, 5), size * 0.4, z + rng.normal(0, 2))
        parts.append(solid(ball((size * 1.3, size, size * 1.2), place), green, loose=0.75))
    return parts


def tree(rng: Rng, x: float, z: float, heat: float) -> list[Mesh]:
    """A trunk and a crown."""
    bark = Surface(Kind.PLAIN, (0.07, 0.05, 0.035), 0.25, heat, grain=0.7)
    green = Surface(Kind.LEAVES, LEAF, float(rng.uniform(0.35, 0.9)), heat - 0.06, (0.07, 0.11, 0.03),
                    seed=float(rng.uniform(0, 50)))  # fmt: skip
    radius = rng.uniform(0.8, 2.2)
    parts = [solid(tube(np.array([[x, -0.2, z], [x + rng.normal(0, 1), 14, z], [x + rng.normal(0, 3), 40, z]]),
                        [radius * 1.2, radius, radius * 0.6], 10), bark)]  # fmt: skip
    for _ in range(4):
        size = rng.uniform(12, 26)
        parts.append(solid(ball((size, size, size), (x + rng.normal(0, 8), rng.uniform(24, 44), z + rng.normal(0, 5))),
                           green, loose=0.75))  # fmt: skip
    return parts


def boxes(rng: Rng, x: float, z: float, heat: float) -> list[Mesh]:
    """A bin, kiosk, bench, cabinet or step."""
    size = rng.uniform([2, 2, 2], [14, 22 if rng.random() < 0.3 else 10, 8])
    surface = paint(rng, 0.02, 0.9, heat + (0.1 if rng.random() < 0.15 else 0.0), tint=0.25)
    return [solid(box(size, (x, size[1] / 2, z), 10), surface)]


def parked(rng: Rng, x: float, z: float, heat: float) -> list[Mesh]:
    """One or more bicycles in a row."""
    parts: list[Mesh] = []
    for k in range(int(rng.integers(1, 4))):
        surface = paint(rng, 0.02, 0.8, heat, tint=0.5)
        whole = carried.bicycle(np.array([0.0, 9.5, 0.0]), surface, Owner.SCENE)
        turn = about(Y, np.pi / 2 + rng.normal(0, 0.3)) @ about(Z, rng.normal(0, 0.06))
        parts += [m.moved(turn, np.array([x, 0, z + k * rng.uniform(2, 4)])) for m in whole]
    return parts


def lit_pane(rng: Rng, x: float, z: float) -> list[Mesh]:
    """A bright window, advert or lamp, far brighter than what it lights."""
    glow = float(rng.uniform(2, 14))
    colour = (glow, glow * float(rng.uniform(0.7, 1.05)), glow * float(rng.uniform(0.4, 1.1)))
    size = (rng.uniform(1, 10), rng.uniform(1, 14), 0.3)
    surface = Surface(Kind.PLAIN, colour, glow * float(rng.uniform(0.2, 0.9)), 0.25)
    return [solid(box(size, (x, rng.uniform(8, 30), z), 10), surface, shadow=False)]


def in_front(rng: Rng, place: Vector, heat: float) -> list[Mesh]:
    """Something between the camera and a person."""
    kind = pick(rng, {"pole": 0.32, "fence": 0.22, "car": 0.14, "bush": 0.18, "box": 0.14})
    x, z = float(place[0] + rng.normal(0, 2.4)), float(place[2])
    if kind == "pole":
        parts = pole(rng, x, z, heat)
    elif kind == "fence":
        parts = fence(rng, x, z, heat)
    elif kind == "car":
        parts = car(rng, x + rng.choice((-1, 1)) * rng.uniform(12, 24), z + 10, heat, rng.normal(0, 0.1))
    elif kind == "bush":
        parts = bush(rng, x + rng.choice((-1, 1)) * rng.uniform(2, 6), z, heat, tallest=8)
    else:
        parts = boxes(rng, x + rng.choice((-1, 1)) * rng.uniform(1, 5), z, heat)
    return parts
