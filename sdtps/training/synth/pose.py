"""How a body stands: a small 3-D skeleton in units of body height, and its projection into the frame.

Axes of the body: x to its side, y up from the ground, z forward. Yaw 0 faces the camera, pi shows the back.
"""

from dataclasses import dataclass

import numpy as np

from .identity import Identity
from .types import Rng, Vector, pick, vector

# Directions (outwards, up, forwards) of the upper arm and the forearm.
_ARM_POSES: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "pocket": ((0.3, -1.0, -0.25), (-0.2, -1.0, 0.35)),
    "phone": ((0.1, -1.0, 0.25), (-0.35, 0.4, 1.0)),
    "call": ((0.4, -0.9, 0.35), (-0.2, 1.0, 0.2)),
    "folded": ((0.2, -1.0, 0.25), (-1.0, -0.05, 0.6)),
    "raised": ((0.7, 0.4, 0.3), (0.3, 1.0, 0.2)),
    "reach": ((0.8, -0.7, 0.1), (1.0, -0.35, 0.1)),
    "forward": ((0.1, -0.6, 0.9), (0.0, -0.1, 1.0)),
    "carry": ((0.12, -1.0, 0.0), (0.05, -1.0, 0.1)),
    "strap": ((0.3, -1.0, 0.15), (-0.35, 0.9, 0.5)),
    "behind": ((0.2, -1.0, -0.4), (-0.6, -0.8, -0.3)),
}


@dataclass(frozen=True)
class Pose:
    """Joints in body units, by name (``knee-1``, ``wrist1`` …; -1 and 1 are the two sides)."""

    joints: dict[str, Vector]
    yaw: float
    head_yaw: float
    arms: dict[int, str]


@dataclass(frozen=True)
class Placement:
    """Where a body is in the canvas: ground point, height in pixels, sideways stretch and camera tilt."""

    x: float
    ground: float
    height: float
    stretch: float
    tilt: float

    @property
    def thickness(self) -> float:
        """Pixels per body unit for radii."""
        return self.height * (0.5 + 0.5 * self.stretch)

    def project(self, point: Vector, yaw: float) -> tuple[Vector, float]:
        """Pixel position (2,) and nearness to the camera in body units."""
        cos, sin = np.cos(yaw), np.sin(yaw)
        side = point[0] * cos + point[2] * sin
        near = float(point[2] * cos - point[0] * sin)
        return vector(
            self.x + side * self.height * self.stretch, self.ground - self.height * (point[1] - self.tilt * near)
        ), near


def _unit(direction: Vector) -> Vector:
    return direction / float(np.sqrt(direction @ direction))


def _leg(hip: Vector, swing: float, bend: float, spread: float, length: float) -> tuple[Vector, Vector, Vector]:
    """Knee, ankle and toe of a leg whose thigh swings forward by ``swing`` radians and whose knee bends by ``bend``."""
    knee = hip + 0.5 * length * vector(spread, -np.cos(swing), np.sin(swing))
    shin = swing - bend
    ankle = knee + 0.5 * length * vector(spread * 0.6, -np.cos(shin), np.sin(shin))
    # A lifted heel points the toe down.
    drop = -0.35 * max(0.0, bend - 0.25) - 0.12
    toe = ankle + 0.1 * _unit(vector(spread * 1.5, drop, 1.0))
    return knee, ankle, toe


def _arm_style(rng: Rng) -> str:
    return pick(
        rng,
        {
            "swing": 0.5, "pocket": 0.12, "phone": 0.07, "call": 0.03, "raised": 0.03, "reach": 0.08,
            "forward": 0.04, "carry": 0.05, "strap": 0.05, "behind": 0.03,
        },
    )  # fmt: skip


def draw_pose(rng: Rng, who: Identity, arms: dict[int, str] | None = None) -> Pose:
    """A random stance of this person; ``arms`` fixes what one or both arms do."""
    build = who.build
    yaw = float(rng.uniform(0, 2 * np.pi))
    if rng.random() < 0.55:
        yaw = float(rng.integers(4) * np.pi / 2 + rng.normal(0, 0.3))
    walking = rng.random() < 0.72
    phase = rng.uniform(0, 2 * np.pi)
    stride = rng.uniform(0.2, 0.62) if walking else rng.uniform(0.0, 0.12)
    if who.outfit.legs == "long_skirt":
        stride *= 0.6
    lean = rng.normal(0.03, 0.05)
    tip = rng.normal(0, 0.03)
    joints: dict[str, Vector] = {}
    leg_length = build.leg - 0.04
    for side in (-1, 1):
        hip = vector(side * build.hip, build.leg, 0.0)
        swing = float(stride * np.sin(phase + (0 if side < 0 else np.pi)) + rng.normal(0, 0.03))
        going_back = max(0.0, float(np.cos(phase + (0 if side < 0 else np.pi))))
        bend = (
            float((0.12 + 1.0 * going_back * rng.uniform(0.5, 1.0)) * min(1.0, stride / 0.35))
            if walking
            else abs(rng.normal(0, 0.06))
        )
        spread = side * abs(rng.normal(0.02, 0.05 if walking else 0.1))
        joints[f"hip{side}"] = hip
        joints[f"knee{side}"], joints[f"ankle{side}"], joints[f"toe{side}"] = _leg(hip, swing, bend, spread, leg_length)
    # The lower foot stands on the ground.
    sink = min(joints["ankle-1"][1], joints["ankle1"][1]) - 0.035
    for joint in joints.values():
        joint[1] -= sink
    pelvis = vector(0.0, build.leg - sink, 0.0)
    up = _unit(vector(np.sin(tip), 1.0, np.sin(lean)))
    spine = 0.82 - build.leg
    joints["pelvis"] = pelvis
    joints["chest"] = pelvis + up * spine
    joints["neck"] = joints["chest"] + up * 0.03
    nod = vector(rng.normal(0, 0.01), 1.0, rng.normal(0.12, 0.12))
    joints["head"] = joints["neck"] + _unit(nod) * 0.083 * build.head

    both = pick(rng, {"free": 0.88, "folded": 0.07, "forward": 0.03, "phone": 0.02})
    styles = {side: both if both != "free" else _arm_style(rng) for side in (-1, 1)} | (arms or {})
    for side, style in styles.items():
        shoulder = joints["chest"] + vector(side * build.shoulder * 0.93, -0.036, rng.normal(0, 0.01))
        jitter = rng.normal(0, 0.12, 6)
        if style == "swing":
            forward = -stride * 0.9 * np.sin(phase + (0 if side < 0 else np.pi)) if walking else 0.0
            upper = vector(side * (0.14 + jitter[0]), -1.0, forward + jitter[1])
            fore = vector(side * (0.06 + jitter[2]), -1.0, forward + abs(jitter[3]) * 2.5 + 0.15)
        else:
            raw_upper, raw_fore = (
                np.array(raw) + part for raw, part in zip(_ARM_POSES[style], (jitter[:3], jitter[3:]), strict=True)
            )
            upper, fore = raw_upper * (side, 1, 1), raw_fore * (side, 1, 1)
        joints[f"shoulder{side}"] = shoulder
        joints[f"elbow{side}"] = shoulder + _unit(upper) * 0.165
        joints[f"wrist{side}"] = joints[f"elbow{side}"] + _unit(fore) * 0.135
        joints[f"hand{side}"] = joints[f"wrist{side}"] + _unit(fore) * 0.04
    return Pose(joints, yaw, yaw + float(rng.normal(0, 0.4)), styles)
