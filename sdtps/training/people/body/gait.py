"""Poses: walking, standing and riding, with arms that swing, carry, phone, push, hold, fold or hide in pockets."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from sdtps.training.people.body.assets import SIDES
from sdtps.training.people.body.shape import joint
from sdtps.training.people.body.skeleton import Turns
from sdtps.training.people.body.turns import X, Y, about, aim, part_of
from sdtps.training.synth.types import FloatArray, Rng, Vector, pick

ARMS = ("swing", "carry", "phone", "pocket", "strap", "folded", "push", "ride", "hold", "still", "reach")
_SPINE = ("root", "spine05", "spine04", "spine03", "spine02", "spine01")


@dataclass(frozen=True)
class Stance:
    """Everything about a pose that was drawn at random; angles in radians."""

    walking: bool
    riding: bool
    phase: float
    stride: float
    lean: float
    look: tuple[float, float]
    arms: dict[str, str]
    spread: dict[str, tuple[float, float, float, float]]
    splay: dict[str, tuple[float, float]]


def draw_stance(rng: Rng, arms: dict[str, str] | None = None, riding: bool = False) -> Stance:
    """A pose; `arms` fixes what an arm does by side, L or R."""
    walking = bool(rng.random() < 0.78)
    stride = float(rng.uniform(13, 27) if walking else rng.uniform(0, 6))
    usual = pick(rng, {"swing": 0.64, "phone": 0.09, "pocket": 0.12, "still": 0.07, "strap": 0.04, "folded": 0.04})
    one_sided = usual in ("phone", "strap")
    busy = SIDES[int(rng.integers(2))]
    chosen = {}
    for side in SIDES:
        fits = not one_sided or side == busy
        chosen[side] = (arms or {}).get(side) or (usual if fits else "swing")
    if (arms or {}) and "folded" in chosen.values():
        chosen = {s: "swing" if a == "folded" else a for s, a in chosen.items()}
    spread = {s: tuple(rng.random(4).tolist()) for s in SIDES}
    splay = {s: (float(rng.normal(1.5, 1.5)), float(abs(rng.normal(3, 4)))) for s in SIDES}
    nod = rng.uniform(15, 32) if rng.random() < 0.15 or "phone" in chosen.values() else rng.normal(6, 9)
    lean = float(np.deg2rad(rng.normal(4, 3) + (22 if riding else 4 if "push" in chosen.values() else 0)))
    look = (float(np.deg2rad(rng.normal(0, 18))), float(np.deg2rad(nod - (14 if riding else 0))))
    phase = float(rng.uniform(0, 2 * np.pi))
    return Stance(walking or riding, riding, phase, stride, lean, look, chosen, spread, splay)  # type: ignore[arg-type]


def _along(bone: str, end: str, vertices: FloatArray) -> Vector:
    return (joint(vertices, end) - joint(vertices, bone)).astype(np.float64)


def _leg(turns: Turns, vertices: FloatArray, stance: Stance, side: str, hips: Vector) -> None:
    sign = 1 if side == "L" else -1
    step = stance.phase + (0 if side == "L" else np.pi)
    stride = np.deg2rad(stance.stride)
    out, rest_bend = (np.deg2rad(a) for a in stance.splay[side])
    if stance.riding:
        thigh = np.deg2rad(52) + np.deg2rad(24) * np.sin(step)
        knee = np.deg2rad(78) + np.deg2rad(26) * np.sin(step)
        pitch = 0.1
    elif stance.walking:
        thigh = stride * np.sin(step) + 0.05
        knee = np.deg2rad(6) + 1.7 * stride * max(0.0, np.cos(step)) ** 1.5 + 0.25 * stride * max(0.0, -np.sin(step))
        behind = thigh - knee
        pitch = np.deg2rad(9) * np.sin(step) if behind > -0.1 else -behind * 0.8
    else:
        thigh, knee, pitch = rest_bend * 0.5, rest_bend, 0.0
    down = np.array([sign * np.sin(out), -np.cos(thigh), np.sin(thigh)])
    turns[f"upperleg01.{side}"] = aim(_along(f"upperleg01.{side}", f"lowerleg01.{side}", vertices), hips.T @ down)
    upper = hips @ turns[f"upperleg01.{side}"]
    shin = np.array([sign * np.sin(out) * 0.5, -np.cos(thigh - knee), np.sin(thigh - knee)])
    turns[f"lowerleg01.{side}"] = aim(_along(f"lowerleg01.{side}", f"foot.{side}", vertices), upper.T @ shin)
    lower = upper @ turns[f"lowerleg01.{side}"]
    turns[f"foot.{side}"] = lower.T @ about(Y, sign * np.deg2rad(-8)) @ about(X, pitch)


def _arm_angles(stance: Stance, side: str) -> tuple[float, float, float, float]:
    """Swing forwards, bend of the elbow, spread sideways, forearm inwards."""
    step = stance.phase + (0 if side == "L" else np.pi)
    a, b, c, d = stance.spread[side]
    swing = -np.deg2rad(stance.stride * (0.6 + 0.45 * a)) * np.sin(step)
    elbow = np.deg2rad(8 + 22 * b) + max(0.0, swing) * 0.6
    spread, inward = np.deg2rad(5 + 9 * c), np.deg2rad(16 * d - 8)
    what = stance.arms[side]
    if what == "carry":
        return swing * 0.25, np.deg2rad(3 + 8 * b), spread + 0.05, 0.0
    if what == "phone":
        return np.deg2rad(8 + 20 * a), np.deg2rad(85 + 35 * b), spread, np.deg2rad(-28)
    if what == "pocket":
        return np.deg2rad(-14 + 14 * a), np.deg2rad(30 + 16 * b), np.deg2rad(13 + 9 * c), np.deg2rad(-14)
    if what == "strap":
        return 0.17, np.deg2rad(112 + 18 * b), spread, np.deg2rad(-14)
    if what == "folded":
        return np.deg2rad(24), np.deg2rad(76 + 8 * a), np.deg2rad(10), np.deg2rad(-66)
    if what in ("push", "ride"):
        return np.deg2rad(28 if what == "push" else 58), np.deg2rad(42 if what == "push" else 16), 0.12, np.deg2rad(-4)
    if what == "hold":
        return np.deg2rad(14), np.deg2rad(118), spread, np.deg2rad(-10)
    if what == "reach":
        return np.deg2rad(45 + 30 * a), np.deg2rad(15), np.deg2rad(20 + 30 * b), 0.0
    if what == "still":
        return swing * 0.2, elbow, spread, inward
    return swing, elbow, spread, inward


def _arm(turns: Turns, vertices: FloatArray, stance: Stance, side: str, chest: Vector) -> None:
    sign = 1 if side == "L" else -1
    swing, elbow, spread, inward = _arm_angles(stance, side)
    down = chest @ np.array([sign * np.sin(spread), -np.cos(swing) * np.cos(spread), np.sin(swing) * np.cos(spread)])
    whole = aim(_along(f"upperarm01.{side}", f"lowerarm01.{side}", vertices), chest.T @ down)
    # The shoulder takes a share, or the armpit collapses.
    turns[f"shoulder01.{side}"] = part_of(whole, 0.25)
    turns[f"upperarm01.{side}"] = turns[f"shoulder01.{side}"].T @ whole
    bent = swing + elbow
    fore = chest @ np.array([sign * np.sin(spread * 0.6 + inward), -np.cos(bent), np.sin(bent)])
    turns[f"lowerarm01.{side}"] = aim(_along(f"lowerarm01.{side}", f"wrist.{side}", vertices), (chest @ whole).T @ fore)


def turns_of(stance: Stance, vertices: FloatArray) -> Turns:
    """How far each bone turns from the rest pose of this body."""
    twist = np.deg2rad(stance.stride * 0.25) * np.sin(stance.phase) * (not stance.riding)
    turns: Turns = {"root": about(X, stance.lean * 0.5) @ about(Y, twist)}
    for bone in ("spine04", "spine02", "spine01"):
        turns[bone] = about(Y, -twist * 0.6) @ about(X, stance.lean * (0.15 if not stance.riding else 0.3))
    for bone in ("neck01", "neck02", "head"):
        turns[bone] = about(Y, stance.look[0] / 3) @ about(X, stance.look[1] / 3)
    hips = turns["root"]
    chest = reduce(np.matmul, (turns.get(bone, np.eye(3)) for bone in _SPINE))
    for side in SIDES:
        _leg(turns, vertices, stance, side, hips)
        _arm(turns, vertices, stance, side, chest)
    return turns
