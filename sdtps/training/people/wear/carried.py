"""Things that people carry, push, ride or hold over their heads."""

from dataclasses import dataclass

import numpy as np

from sdtps.training.people.body.assets import bodies
from sdtps.training.people.body.skeleton import Posed
from sdtps.training.people.body.turns import X, Y, about
from sdtps.training.people.view.surface import Kind, Mesh, Owner, Surface
from sdtps.training.people.wear import meshes
from sdtps.training.people.wear.meshes import box, join, ring, solid, tube
from sdtps.training.people.wear.piece import Piece, clinging, riding, weight_of
from sdtps.training.synth.types import FloatArray, Vector

METAL = Surface(Kind.PLAIN, (0.25, 0.25, 0.26), 0.3, 0.2, gloss=0.25)
RUBBER = Surface(Kind.PLAIN, (0.015, 0.015, 0.016), 0.05, 0.22)
PHONE = Surface(Kind.PLAIN, (0.02, 0.02, 0.025), 0.1, 0.6, gloss=0.3)


@dataclass(frozen=True)
class Bag:
    """A bag that belongs to somebody; sizes in decimetres."""

    kind: str
    size: tuple[float, float, float]
    side: str
    surface: Surface
    strap: Surface
    drop: float


def backpack(body: FloatArray, bag: Bag, thick: float) -> list[Piece]:
    """A backpack with straps; `thick` is how far the clothes stand off the body."""
    rest = bodies().rest
    trunk = np.flatnonzero(
        (weight_of("upperarm01", "lowerarm01", "wrist") < 0.1) & (rest[:, 1] > 1.0) & (rest[:, 1] < 6)
    )
    width, height, depth = bag.size
    top = 5.35
    band = trunk[(np.abs(rest[trunk, 0]) < 0.8) & (np.abs(rest[trunk, 1] - (top - height / 2)) < height / 2)]
    back = float(body[band, 2].min()) - thick * 0.8
    lift = float(body[band, 1].mean() - rest[band, 1].mean())
    middle = np.array([0, top - height / 2 + lift, back - depth / 2 + 0.12])
    parts = [
        riding(box((width, height, depth), middle, 4.0), "spine02", bag.surface),
        riding(
            box((width * 0.72, height * 0.42, depth * 0.45), middle + np.array([0, -height * 0.22, -depth * 0.5]), 4.0),
            "spine02",
            bag.surface,
        ),
    ]
    for sign in (-1, 1):
        x = sign * min(0.85, width * 0.36)
        path = []
        for y in (3.0, 3.6, 4.3, 4.9, 5.35):
            column = trunk[(np.abs(body[trunk, 0] - x) < 0.35) & (np.abs(rest[trunk, 1] - y) < 0.45)]
            if len(column):
                path.append(np.array([x, y + lift, body[column, 2].max() + thick * 0.9 + 0.05]))
        shoulder = trunk[np.abs(body[trunk, 0] - x) < 0.3]
        if len(path) < 2 or not len(shoulder):
            continue
        path += [np.array([x, body[shoulder, 1].max() + thick * 0.6 + 0.05, 0.15]), np.array([x, top + lift, back])]
        path[0] = path[0] + np.array([sign * 0.35, -0.3, -0.7])
        parts.append(clinging(tube(path, 0.13, 6), body, bag.strap, trunk))
    return parts


def hand_bag(posed: Posed, bag: Bag, turn: float, owner: Owner) -> list[Mesh]:
    """A bag that hangs from a hand or shoulder; `turn` is its bearing."""
    sign = 1.0 if bag.side == "L" else -1.0
    width, height, depth = bag.size
    if bag.kind in ("hand", "shopping"):
        grip = posed.place(f"wrist.{bag.side}", (sign * 0.12, -0.62, 0.3))
        middle = grip + np.array([0, -bag.drop - height / 2, 0])
        straps = [[grip, middle + np.array([0, height / 2, z])] for z in (-width * 0.25, width * 0.25)]
    elif bag.kind == "trolley":
        grip = posed.place(f"wrist.{bag.side}", (sign * 0.12, -0.6, 0.3))
        middle = np.array([grip[0], 0, grip[2] - 1.6])
        middle[1] = posed.place("root")[1] * 0 + height / 2 - 8.2
        straps = [[grip, middle + np.array([x, height / 2, 0])] for x in (-0.4, 0.4)]
    else:
        top_side = bag.side if bag.kind == "shoulder" else ("R" if bag.side == "L" else "L")
        shoulder = posed.place(f"shoulder01.{top_side}", (0, 0.55, 0))
        hip = posed.place(f"upperleg01.{bag.side}", (sign * 0.95, 0.6, 0.1))
        middle = hip + np.array([0, -bag.drop * 0.4, 0])
        front, back = posed.place("spine02", (0, 0.8, 1.35)), posed.place("spine02", (0, 0.8, -1.1))
        if bag.kind == "shoulder":
            shoulder = shoulder + np.array([sign * 0.25, 0.1, 0])
            front = back = (shoulder + middle) / 2 + np.array([sign * 0.35, 0, 0])
        straps = [[shoulder, via, middle + np.array([0, height / 2, 0])] for via in (front, back)]
    shape = box((depth, height, width), (0, 0, 0), 5.0)
    placed = (shape[0] @ about(Y, turn).T + middle).astype(np.float32), shape[1]
    parts = [solid(placed, bag.surface, owner, rest=shape[0])]
    parts += [solid(tube(np.array(path), 0.07, 5), bag.strap, owner) for path in straps]
    return parts


def umbrella(posed: Posed, side: str, surface: Surface, owner: Owner) -> list[Mesh]:
    """Held over the head."""
    hand = posed.place(f"wrist.{side}", (0, -0.5, 0.3))
    head = posed.place("head")
    top = np.array([0.6 * hand[0] + 0.4 * head[0], head[1] + 3.6, 0.5 * hand[2] + 0.5 * head[2]])
    profile = [(0.02, 0.0), (1.6, -0.28), (3.0, -0.85), (4.3, -1.75), (4.5, -1.95)]
    points, faces = meshes.lathe(profile, top, 24)
    angle = np.arctan2(points[:, 2] - top[2], points[:, 0] - top[0])
    points[:, 1] -= 0.22 * np.abs(np.sin(angle * 4)) * np.hypot(points[:, 0] - top[0], points[:, 2] - top[2]) / 4.5
    parts = [solid((points, faces), surface, owner, rest=(points - top).astype(np.float32))]
    parts.append(
        solid(tube(np.array([hand - np.array([0, 0.6, 0]), top + np.array([0, 0.3, 0])]), 0.06, 6), METAL, owner)
    )
    return parts


def phone(posed: Posed, side: str, owner: Owner) -> list[Mesh]:
    """In the hand."""
    place = posed.place(f"wrist.{side}", (0, -0.75, 0.55))
    shape = box((0.75, 1.4, 0.12))
    return [solid((shape[0] @ about(X, -0.8).T.astype(np.float32) + place.astype(np.float32), shape[1]), PHONE, owner)]


def pram(hands: Vector, ground: float, cloth: Surface, owner: Owner) -> list[Mesh]:
    """Pushed in front: handle at the hands, hood, basket and four wheels."""
    x, z = float(hands[0]), float(hands[2])
    low = ground

    def at(dx: float, y: float, dz: float) -> Vector:
        return np.array([x + dx, low + y, z + dz])

    parts = [
        solid(tube(np.array([at(-1.8, hands[1] - low, 0), at(1.8, hands[1] - low, 0)]), 0.14, 8), RUBBER, owner),
        solid(box((3.2, 2.0, 6.2), at(0, 6.2, 5.0), 3.0), cloth, owner),
        solid(meshes.ball((3.5, 4.4, 4.0), at(0, 7.0, 6.4)), cloth, owner),
    ]  # fmt: skip
    frame = []
    for dx in (-1.6, 1.6):
        frame += [tube(np.array([at(dx, hands[1] - low, 0), at(dx, 5.4, 3.0), at(dx, 1.2, 7.4)]), 0.12, 6),
                  tube(np.array([at(dx, 5.4, 4.4), at(dx, 1.2, 2.0)]), 0.12, 6)]  # fmt: skip
    parts.append(solid(join(frame), METAL, owner))
    wheels = [ring(at(dx, 1.2, dz), 1.05, 0.17, X) for dx in (-1.7, 1.7) for dz in (2.0, 7.4)]
    parts.append(solid(join(wheels), RUBBER, owner))
    return parts


def bicycle(saddle: Vector, paint: Surface, owner: Owner) -> list[Mesh]:
    """Ridden or parked: the saddle's place decides."""

    def at(dx: float, y: float, dz: float) -> Vector:
        return saddle + np.array([dx, y, dz])

    back, front, crank, head, bar = (
        at(0, -6.2, -3.2),
        at(0, -6.2, 6.8),
        at(0, -6.4, 0.9),
        at(0, -0.6, 5.0),
        at(0, 1.4, 4.8),
    )
    wheels = [ring(place, 3.3, 0.19, X) for place in (back, front)]
    spokes = []
    for place in (back, front):
        for angle in np.linspace(0, np.pi, 7)[:-1]:
            arm = 3.2 * np.array([0, np.cos(angle), np.sin(angle)])
            spokes.append(tube(np.array([place - arm, place + arm]), 0.025, 3))
    bars = [(at(0, -0.3, 0), crank), (crank, back), (at(0, -1.2, 0.1), back), (at(0, -1.2, 0.1), head), (crank, head),
            (head, front), (head, bar)]  # fmt: skip
    frame = [tube(np.array(pair), 0.15, 6) for pair in bars]
    handle = [
        tube(
            np.array(
                [
                    bar + np.array([-2.7, 0, -1.0]),
                    bar + np.array([-1.2, 0.1, 0]),
                    bar + np.array([1.2, 0.1, 0]),
                    bar + np.array([2.7, 0, -1.0]),
                ]
            ),
            0.13,
            6,
        )
    ]
    seat = [box((1.4, 0.5, 2.4), at(0, 0, 0), 3.0)]
    guard = [box((2.6, 1.9, 2.6), at(0, -1.0, 8.0), 4.0)] if paint.seed % 2 > 1 else []
    return [
        solid(join(wheels + seat), RUBBER, owner), solid(join(spokes), METAL, owner),
        solid(join(frame + handle), paint, owner), *(solid(g, METAL, owner) for g in guard),
    ]  # fmt: skip
