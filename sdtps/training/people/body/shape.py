"""Bodies of all kinds: sex, age, build and height mixed from shape targets, with hands that hang relaxed."""

from dataclasses import dataclass

import numpy as np

from sdtps.training.people.body.assets import SIDES, bodies, target
from sdtps.training.people.body.turns import about, aim
from sdtps.training.synth.types import FloatArray, Rng, clamp

_ORIGINS = ("caucasian", "asian", "african")


@dataclass(frozen=True)
class Build:
    """What a body is like; numbers are 0 to 1, or -1 to 1 about the average."""

    male: bool
    old: float
    child: float
    muscle: float
    weight: float
    height: float
    origins: tuple[float, float, float]


def draw_build(rng: Rng) -> Build:
    """A grown-up of any age, rarely a child."""
    male = bool(rng.random() < 0.52)
    child = float(rng.uniform(0.3, 0.75)) if rng.random() < 0.04 else 0.0
    old = 0.0 if child else clamp(rng.normal(0.15, 0.28), 0, 0.95)
    caucasian, asian, african = rng.dirichlet([0.6, 1.2, 0.35]).tolist()
    return Build(
        male, old, child, clamp(rng.normal(0, 0.35), -0.8, 0.8), clamp(rng.normal(-0.05, 0.4), -0.85, 0.95),
        clamp(rng.normal(0, 0.4), -0.9, 0.9), (caucasian, asian, african),
    )  # fmt: skip


def _split(value: float, low: str, middle: str, high: str) -> list[tuple[str, float]]:
    return [(low, max(-value, 0.0)), (middle, 1 - abs(value)), (high, max(value, 0.0))]


def shape(build: Build) -> FloatArray:
    """(V, 3) vertices of a body in the rest pose, helpers included."""
    vertices = bodies().rest.copy()

    def add(name: str, weight: float) -> None:
        if weight > 1e-3:
            index, move = target(f"macrodetails/{name}")
            vertices[index] += np.float32(weight) * move

    sex = "male" if build.male else "female"
    ages = (("young", (1 - build.old) * (1 - build.child)), ("old", build.old), ("child", build.child))
    for age, share in ages:
        for origin, part in zip(_ORIGINS, build.origins, strict=True):
            add(f"{origin}-{sex}-{age}", part * share)
        for muscle, strong in _split(build.muscle, "minmuscle", "averagemuscle", "maxmuscle"):
            for weight, heavy in _split(build.weight, "minweight", "averageweight", "maxweight"):
                both = share * strong * heavy
                add(f"universal-{sex}-{age}-{muscle}-{weight}", both)
                size = "maxheight" if build.height > 0 else "minheight"
                add(f"height/{sex}-{age}-{muscle}-{weight}-{size}", both * abs(build.height) * 0.5)
    return vertices


def joint(vertices: FloatArray, bone: str) -> FloatArray:
    """(3,) where a bone of the rig begins."""
    place: FloatArray = vertices[bodies().joints[bone]].mean(0)
    return place


def close_hands(vertices: FloatArray, curl: float) -> FloatArray:
    """Bend the fingers in the rest pose: 0 leaves them spread, 0.35 hangs relaxed, 1 is a fist."""
    data = bodies()
    out = vertices.copy()
    for side in SIDES:
        wrist, middle = joint(vertices, f"wrist.{side}"), joint(vertices, f"finger3-1.{side}")
        across = joint(vertices, f"finger2-1.{side}") - joint(vertices, f"finger5-1.{side}")
        palm = np.cross(middle - wrist, across) * (1 if side == "L" else -1)
        along = joint(vertices, f"finger3-2.{side}") - middle
        for finger in range(1, 6):
            thumb = finger == 1
            names = [f"finger{finger}-{k}.{side}" for k in (1, 2, 3)]
            places = [joint(vertices, n).astype(np.float64) for n in names]
            weights = np.stack([data.fingers[n] for n in names], 1)
            touched = np.flatnonzero(weights.sum(1) > 1e-4)
            direction = places[1] - places[0]
            spread = np.eye(3) if thumb else aim(direction, 0.3 * direction / np.linalg.norm(direction)
                                                 + 0.7 * along / np.linalg.norm(along))  # fmt: skip
            axis = np.cross(direction, palm)
            bends = (0.35, 0.3, 0.3) if thumb else (1.1, 1.4, 0.9)
            turn, shift = spread, places[0] - spread @ places[0]
            moved = np.zeros((len(touched), 3))
            source = vertices[touched].astype(np.float64)
            for k, place in enumerate(places):
                bend = about(axis, curl * bends[k])
                local = bend, place - bend @ place
                turn, shift = turn @ local[0], turn @ local[1] + shift
                moved += weights[touched, k : k + 1] * (source @ turn.T + shift)
            rest = 1 - weights[touched].sum(1, keepdims=True)
            out[touched] = (moved + np.maximum(rest, 0) * source).astype(np.float32)
    return out
