"""From an identity and a pose to pixels: every part is a rounded primitive, painted far to near."""

from collections.abc import Callable

import numpy as np

from .canvas import Canvas
from .carried import carried_parts
from .identity import Identity
from .materials import MaterialTable, warmed
from .pose import Placement, Pose
from .types import PARTS, Part, Rng, Vector, vector

Painter = tuple[float, Callable[[], None]]

# Legs order among themselves but stay under coats and skirts however far they stride.
_LEG_DEPTH = 0.1


class BodyPainter:
    """Collects the parts of one person with their nearness, then paints them in order."""

    def __init__(self, canvas: Canvas, who: Identity, pose: Pose, place: Placement, owner: int) -> None:
        self.canvas, self.who, self.pose, self.place = canvas, who, pose, place
        self.base = owner * PARTS
        self.px = place.thickness
        self._queue: list[Painter] = []

    def at(self, joint: str | Vector) -> tuple[Vector, float]:
        """Pixel position and nearness of a joint or of a point in body units."""
        return self.place.project(self.pose.joints[joint] if isinstance(joint, str) else joint, self.pose.yaw)

    def width_seen(self, half_width: float, half_depth: float) -> float:
        """Half width in pixels of an elliptic cross-section under the current yaw."""
        cos, sin = np.cos(self.pose.yaw), np.sin(self.pose.yaw)
        return float(np.hypot(half_width * cos, half_depth * sin)) * self.px

    def limb(
        self,
        start: str | Vector,
        end: str | Vector,
        r0: float,
        r1: float,
        part: Part,
        lift: float = 0.0,
        depth: float = 1.0,
    ) -> None:
        """Queue a capsule between two joints, radii in body units.

        ``lift`` moves it nearer in the painting order; ``depth`` below 1 keeps it from passing what hangs over it.
        """
        (a, near_a), (b, near_b) = self.at(start), self.at(end)
        label = self.base + part
        self._queue.append(
            ((near_a + near_b) / 2 * depth + lift, lambda: self.canvas.capsule(a, b, r0 * self.px, r1 * self.px, label))
        )

    def blob(
        self, centre: Vector, rx: float, ry: float, part: Part, lift: float = 0.0, power: float = 2.0, tilt: float = 0.0
    ) -> None:
        """Queue an ellipse or rounded box at a point in body units."""
        at, near = self.at(centre)
        label = self.base + part
        self._queue.append(
            (near + lift, lambda: self.canvas.blob(at, rx * self.px, ry * self.place.height, label, power, tilt))
        )

    def column(self, near: float, ys: list[float], xs: list[float], halves: list[float], part: Part) -> None:
        """Queue a vertical shape given in pixels."""
        label = self.base + part
        self._queue.append((near, lambda: self.canvas.column(ys, xs, halves, label)))

    def paint(self) -> None:
        """Paint everything queued, far to near."""
        for _, draw in sorted(self._queue, key=lambda item: item[0]):
            draw()


def _legs(body: BodyPainter) -> None:
    build, outfit = body.who.build, body.who.outfit
    thigh = build.thigh_radius
    bare = outfit.legs in ("skirt", "shorts")
    for side in (-1, 1):
        hip, knee, ankle, toe = (body.pose.joints[f"{name}{side}"] for name in ("hip", "knee", "ankle", "toe"))
        ease = outfit.leg_width
        ankle_radius = thigh * (0.95 if outfit.legs == "wide" else 0.52) * ease
        knee_radius = thigh * (0.86 if outfit.legs == "wide" else 0.74) * ease
        if bare:
            body.limb(knee, ankle, thigh * 0.62, thigh * 0.4, Part.LIMB_SKIN, depth=_LEG_DEPTH)
            body.limb(hip, knee, thigh * 0.9, thigh * 0.62, Part.LIMB_SKIN, depth=_LEG_DEPTH)
            if outfit.legs == "shorts":
                body.limb(
                    hip,
                    hip + (knee - hip) * 2 * outfit.bottom_length,
                    thigh * 1.15,
                    thigh * 1.1,
                    Part.BOTTOM,
                    0.004,
                    depth=_LEG_DEPTH,
                )
        else:
            body.limb(knee, ankle, knee_radius, ankle_radius, Part.BOTTOM, depth=_LEG_DEPTH)
            body.limb(hip, knee, thigh * min(ease, 1.25), knee_radius, Part.BOTTOM, 0.002, depth=_LEG_DEPTH)
        sole = toe - vector(0, 0.012, 0)
        if outfit.sole:
            body.limb(ankle - vector(0, 0.026, 0.012), sole, 0.02, 0.017, Part.SOLE, 0.001, depth=_LEG_DEPTH)
        body.limb(
            ankle - vector(0, 0.012, 0.01), toe, 0.026, 0.02, Part.SHOE, 0.003 if not bare else 0.005, depth=_LEG_DEPTH
        )


def _skirt(body: BodyPainter, part: Part, top_y: float, reach: float, flare: float, lift: float) -> None:
    """Cloth that hangs from the hips around both legs down to ``reach`` of the leg length."""
    pelvis, near = body.at("pelvis")
    build = body.who.build
    hip_half = body.width_seen(build.hip + build.thigh_radius * 1.05, build.depth * 1.05)
    bottom = pelvis[1] + reach * body.place.height * build.leg
    level_xs = []
    for side in (-1, 1):
        knee, ankle = body.at(f"knee{side}")[0], body.at(f"ankle{side}")[0]
        level_xs.append(
            float(np.interp(bottom, [pelvis[1], knee[1], max(ankle[1], knee[1] + 1)], [pelvis[0], knee[0], ankle[0]]))
        )
    half = max(hip_half * flare, (max(level_xs) - min(level_xs)) / 2 + build.thigh_radius * 0.8 * body.px)
    centre = (sum(level_xs) / 2 + pelvis[0]) / 2
    body.column(
        near + lift,
        [top_y, float(pelvis[1]), bottom],
        [pelvis[0], pelvis[0], centre],
        [hip_half * 0.95, hip_half, half],
        part,
    )


def _torso(body: BodyPainter) -> None:
    build, outfit = body.who.build, body.who.outfit
    (chest, near), (pelvis, _), (neck, _) = body.at("chest"), body.at("pelvis"), body.at("neck")
    loose = outfit.top_loose
    height = body.place.height

    def half(width: float, depth: float) -> float:
        return body.width_seen(width, depth)

    shoulder = half(build.shoulder + 0.4 * build.arm_radius, build.depth * 0.8)
    chest_half = half(build.shoulder * 0.98, build.depth * 1.1) * (0.4 + 0.6 * loose)
    waist = half(build.shoulder * 0.84, build.depth) * (0.1 + 0.9 * loose)
    hips = half(build.hip + build.thigh_radius * 1.05, build.depth * 1.08) * max(1.0, 0.25 + 0.75 * loose)
    if outfit.legs in ("skirt", "long_skirt"):
        _skirt(
            body, Part.BOTTOM, float(chest[1] + 0.6 * (pelvis[1] - chest[1])), outfit.bottom_length, outfit.flare, 0.03
        )
    else:
        body.column(
            near + 0.012,
            [float(pelvis[1] - 0.07 * height), float(pelvis[1] + 0.035 * height)],
            [float(pelvis[0])] * 2,
            [hips * 0.97, hips * 0.95],
            Part.BOTTOM,
        )
    if outfit.top_hem > 0.1:
        _skirt(
            body,
            Part.TOP,
            float(pelvis[1] - 0.1 * height),
            outfit.top_hem / build.leg,
            0.9 + 0.25 * outfit.flare,
            0.035,
        )
    hem = float(pelvis[1] + max(outfit.top_hem if outfit.top_hem < 0.1 else 0.02, -0.05) * height)
    ys = [
        float(neck[1]),
        float(chest[1]) + 0.022 * height,
        float(chest[1] + 0.09 * height),
        float(chest[1] + 0.2 * height),
        hem,
    ]
    if ys[-1] <= ys[-2] + 2:
        ys[-2] = (ys[-3] + ys[-1]) / 2
    spine = np.interp(ys, [float(chest[1]), float(pelvis[1])], [float(chest[0]), float(pelvis[0])]).tolist()
    halves = [0.36 * shoulder, shoulder, chest_half, waist, hips]
    body.column(near + 0.04, ys, spine, halves, Part.TOP)
    body.limb("shoulder-1", "shoulder1", build.arm_radius, build.arm_radius, Part.TOP, 0.041)
    _front(body, ys, spine, halves)
    if outfit.edging == "hem":
        body.column(near + 0.046, [hem - 0.025 * height, hem + 0.004 * height], spine[-1:] * 2, [hips] * 2, Part.TRIM)
    elif outfit.edging == "collar":
        body.limb("neck", "chest", build.shoulder * 0.5, build.shoulder * 0.62, Part.TRIM, 0.029)


def _front(body: BodyPainter, ys: list[float], spine: list[float], halves: list[float]) -> None:
    """An open jacket, a logo, a band or a zip; seen only from the side that carries it."""
    front = body.who.outfit.front
    facing = float(np.cos(body.pose.yaw))
    if front == "plain" or (front in ("open", "zip") and facing < 0.15):
        return
    shift = float(np.sin(body.pose.yaw)) * body.who.build.depth * body.px * 0.9
    xs = [x + shift for x in spine]
    near = body.at("chest")[1] + 0.045
    squeeze = abs(facing)
    if front == "open":
        body.column(near, ys, xs, [0.5 * halves[0] * squeeze, *(0.32 * squeeze * h for h in halves[1:])], Part.TRIM)
    elif front == "zip":
        body.column(near, ys[1:], xs[1:], [0.05 * h + 0.4 for h in halves[1:]], Part.TRIM)
    elif front == "chest_band":
        span = [ys[1] + 0.45 * (ys[3] - ys[1]), ys[3]]
        body.column(near, span, [spine[2], spine[3]], [halves[2], halves[3]], Part.TRIM)
    elif squeeze > 0.4:
        chest = body.pose.joints["chest"]
        body.blob(chest + vector(0, -0.1, np.sign(facing) * 0.09), 0.05 * squeeze, 0.035, Part.TRIM, 0.05, power=3.0)


def _arms(body: BodyPainter) -> None:
    build, outfit = body.who.build, body.who.outfit
    radius = build.arm_radius * (0.62 + 0.4 * outfit.top_loose)
    cloth = Part.SLEEVE if outfit.contrast_sleeves else Part.TOP
    for side in (-1, 1):
        shoulder, elbow, wrist, hand = (
            body.pose.joints[f"{name}{side}"] for name in ("shoulder", "elbow", "wrist", "hand")
        )
        # A hanging arm lies over the flank of the torso unless it is on the far side.
        lift = 0.03
        if body.pose.arms[side] != "pocket":
            body.limb(wrist, hand, 0.019, 0.016, Part.LIMB_SKIN, lift)
        if body.pose.arms[side] in ("phone", "call"):
            body.blob(hand + vector(0, 0.015, 0.01), 0.012, 0.02, Part.GADGET, lift + 0.01, power=5.0)
        if outfit.sleeve == 1.0:
            body.limb(elbow, wrist, radius * 0.92, radius * 0.72, cloth, lift + 0.004)
            body.limb(shoulder, elbow, radius * 1.08, radius * 0.95, cloth, lift + 0.002)
            continue
        body.limb(elbow, wrist, build.arm_radius * 0.75, build.arm_radius * 0.55, Part.LIMB_SKIN, lift + 0.004)
        body.limb(shoulder, elbow, build.arm_radius * 0.95, build.arm_radius * 0.75, Part.LIMB_SKIN, lift)
        if outfit.sleeve > 0:
            body.limb(shoulder, shoulder + (elbow - shoulder) * 0.75, radius * 1.25, radius * 1.25, cloth, lift + 0.003)


def _head(body: BodyPainter) -> None:
    outfit, size = body.who.outfit, body.who.build.head
    head = body.pose.joints["head"]
    turn = body.pose.head_yaw - body.pose.yaw
    ahead = vector(np.sin(turn), 0.0, np.cos(turn))
    rx, ry = 0.053 * size, 0.072 * size
    body.limb("chest", head - vector(0, 0.03, 0), 0.032, 0.026, Part.SKIN, 0.03)
    crown = Part.TOP if outfit.head == "hood_up" else Part.SKIN if outfit.hair == "bald" else Part.HAIR
    grow = 1.22 if outfit.head == "hood_up" else 1.04
    body.blob(head + vector(0, 0.006, 0) - ahead * 0.008, rx * grow, ry * grow, crown, 0.05)
    face = head + ahead * 0.03 - vector(0, 0.015, 0)
    body.blob(face, rx * 0.8, ry * 0.82, Part.SKIN, 0.052)
    if outfit.glasses:
        body.blob(face + ahead * 0.014 + vector(0, 0.014, 0), rx * 0.6, 0.007, Part.GADGET, 0.06, power=3.0)
    if outfit.face_mask:
        body.blob(face + ahead * 0.014 - vector(0, 0.028, 0), rx * 0.74, ry * 0.42, Part.FACE_MASK, 0.062, power=2.6)
    if outfit.head in ("cap", "beanie", "wide_hat"):
        body.blob(head + vector(0, 0.034 * size, 0), rx * 1.1, ry * 0.62, Part.HAT, 0.1, power=2.6)
        if outfit.head == "cap":
            body.blob(head + ahead * 0.05 + vector(0, 0.02 * size, 0), rx * 0.9, 0.009, Part.HAT, 0.11)
        elif outfit.head == "wide_hat":
            body.blob(head + vector(0, 0.022 * size, 0), rx * 2.0, 0.016, Part.HAT, 0.11)
    if outfit.head == "hood_up":
        return
    if outfit.hair == "long":
        nape = head - ahead * 0.03
        body.limb(nape, nape - vector(0, 0.04 + outfit.hair_length, 0), rx * 1.02, rx * 0.85, Part.HAIR, 0.02)
        for side in (-1, 1):
            lock = head + vector(ahead[2] * side, 0, -ahead[0] * side) * 0.04
            body.limb(lock, lock - vector(0, 0.03 + outfit.hair_length * 0.8, 0), 0.014, 0.012, Part.HAIR, 0.053)
    elif outfit.hair == "tail":
        knot = head - ahead * 0.055 + vector(0, 0.02, 0)
        body.limb(knot, knot - vector(0, 0.04 + outfit.hair_length, 0) - ahead * 0.015, 0.018, 0.01, Part.HAIR, 0.05)
    elif outfit.hair == "bun":
        body.blob(head - ahead * 0.03 + vector(0, 0.065 * size, 0), 0.026, 0.024, Part.HAIR, 0.05)
    elif outfit.head == "bare" and outfit.top_loose > 1.2:
        body.blob(body.pose.joints["neck"] - ahead * 0.045, 0.06, 0.03, Part.TOP, 0.04)


def paint_person(
    canvas: Canvas,
    table: MaterialTable,
    who: Identity,
    pose: Pose,
    place: Placement,
    owner: int,
    rng: Rng,
    with_bag: bool,
) -> None:
    """Paint one person as ``owner`` and register their materials."""
    body = BodyPainter(canvas, who, pose, place, owner)
    _legs(body)
    _torso(body)
    _arms(body)
    _head(body)
    carried_parts(body, rng, with_bag)
    body.paint()
    # Everyone warms and cools a little as a whole; relations between parts stay.
    drift = float(rng.normal(0, 0.04))
    for name, material in who.materials.items():
        table.put(owner * PARTS + Part[name], warmed(material, drift), place.x, place.height)
