"""Bags and umbrellas, attached to the skeleton."""

from typing import TYPE_CHECKING

from .types import Part, Rng, Vector, vector

if TYPE_CHECKING:
    from .body import BodyPainter


def _backpack(body: "BodyPainter") -> None:
    who = body.who
    chest, bag, depth = body.pose.joints["chest"], who.bag, who.build.depth
    centre = chest + vector(0, -0.01 - bag.height, -(depth + 0.035))
    seen = body.width_seen(bag.width, 0.055) / body.px
    body.blob(centre, seen, bag.height, Part.BAG, 0.035, power=3.6)
    body.blob(centre + vector(0, -0.45 * bag.height, -0.03), seen * 0.7, bag.height * 0.34, Part.STRAP, 0.04, power=4.0)
    for side in (-1, 1):
        top = chest + vector(side * 0.06, 0.008, depth * 0.5)
        body.limb(top, chest + vector(side * 0.075, -0.15, depth * 0.95), 0.011, 0.01, Part.STRAP, 0.05)


def _crossbody(body: "BodyPainter") -> None:
    who = body.who
    chest, pelvis, bag, depth = body.pose.joints["chest"], body.pose.joints["pelvis"], who.bag, who.build.depth
    hang = pelvis + vector(bag.side * (who.build.hip + 0.045), 0.02, 0.03)
    for front in (-1, 1):
        shoulder = chest + vector(-bag.side * 0.07, 0.01, front * depth * 0.7)
        body.limb(shoulder, pelvis + vector(bag.side * 0.08, 0.05, front * depth), 0.007, 0.007, Part.STRAP, 0.045)
    body.blob(hang, body.width_seen(bag.width, 0.035) / body.px, bag.height, Part.BAG, 0.05, power=4.0)


def _hanging(body: "BodyPainter", rng: Rng) -> None:
    """A handbag, tote or shopping bag, from the hand or the shoulder."""
    bag = body.who.bag
    seen = body.width_seen(bag.width, bag.width * 0.55) / body.px
    if bag.kind == "tote":
        shoulder = body.pose.joints[f"shoulder{bag.side}"]
        centre = shoulder + vector(bag.side * 0.035, -0.27 - bag.height * 0.5, -0.02)
        body.limb(
            shoulder + vector(0, 0.025, 0.02), centre + vector(0, bag.height, 0.02), 0.007, 0.007, Part.STRAP, 0.06
        )
        body.blob(centre, seen, bag.height, Part.BAG, 0.055, power=4.5)
        return
    hand = body.pose.joints[f"hand{bag.side}"]
    centre = hand - vector(0, bag.height + 0.03, 0)
    for offset in (-0.6, 0.6):
        body.limb(hand, centre + vector(0, bag.height * 0.8, offset * bag.width), 0.005, 0.005, Part.STRAP, 0.03)
    body.blob(
        centre,
        seen,
        bag.height,
        Part.BAG,
        0.045,
        power=4.0 if bag.kind == "handbag" else 3.0,
        tilt=float(rng.normal(0, 0.08)),
    )


def _suitcase(body: "BodyPainter") -> None:
    bag = body.who.bag
    hand = body.pose.joints[f"hand{bag.side}"]
    ground = vector(hand[0] + bag.side * 0.06, bag.height + 0.02, hand[2] - 0.12)
    body.limb(hand, ground + vector(0, bag.height, 0), 0.006, 0.006, Part.STRAP, 0.02)
    body.blob(ground, body.width_seen(bag.width, bag.width * 0.7) / body.px, bag.height, Part.BAG, 0.02, power=5.0)


def _belly(body: "BodyPainter") -> None:
    bag, build = body.who.bag, body.who.build
    pelvis = body.pose.joints["pelvis"]
    centre: Vector = pelvis + vector(0, 0.05, build.depth + 0.015)
    body.blob(centre, body.width_seen(bag.width, 0.03) / body.px, bag.height, Part.BAG, 0.05, power=3.0)


def _umbrella(body: "BodyPainter") -> None:
    hand = body.pose.joints["hand1"]
    top = body.pose.joints["head"] + vector(0.05, 0.15, 0.0)
    body.limb(hand, top, 0.005, 0.005, Part.STRAP, 0.06)
    body.blob(top, 0.24, 0.07, Part.UMBRELLA, 0.12, power=2.2)


def carried_parts(body: "BodyPainter", rng: Rng, with_bag: bool) -> None:
    """Queue whatever this person carries in this view."""
    if body.who.has_umbrella:
        _umbrella(body)
    if not with_bag:
        return
    kind = body.who.bag.kind
    if kind == "backpack":
        _backpack(body)
    elif kind == "crossbody":
        _crossbody(body)
    elif kind == "belly":
        _belly(body)
    elif kind == "suitcase":
        _suitcase(body)
    else:
        _hanging(body, rng)
