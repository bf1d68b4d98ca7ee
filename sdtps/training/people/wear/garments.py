"""Clothes: the base mesh's helper tights and skirt, pushed out along their normals and let hang."""

import numpy as np

from sdtps.training.people.body.assets import bodies
from sdtps.training.people.body.skeleton import normals
from sdtps.training.people.view.surface import Surface
from sdtps.training.people.wear.piece import Piece, shell, trimmed, weight_of
from sdtps.training.synth.types import FloatArray

TIGHTS, SKIRT = "helper-tights", "helper-skirt"
NECK = 6.02
CROTCH = -0.75
_BINS = 20


def _smooth(points: FloatArray, group: str, amount: FloatArray, rounds: int) -> FloatArray:
    """Move vertices of a group towards the mean of their neighbours; `amount` is (V,) 0 to 1."""
    faces = bodies().faces[group]
    start = faces[:, [0, 1, 2, 1, 2, 0]].T.ravel()
    end = faces[:, [1, 2, 0, 0, 1, 2]].T.ravel()
    count = np.maximum(np.bincount(start, minlength=len(points)), 1)[:, None]
    out = points.astype(np.float64)
    for _ in range(rounds):
        mean = np.stack([np.bincount(start, out[end, k], len(points)) for k in range(3)], 1) / count
        out += amount[:, None] * (mean - out)
    return out.astype(np.float32)


def _hang(points: FloatArray, where: np.ndarray, axis: tuple[float, float], strength: float, narrow: float) -> None:
    """Let cloth fall straight from what juts out above: in place, around an upright axis (x, z).

    Args:
        points: (V, 3).
        where: (V,) bool.
        axis: x and z.
        strength: 0 leaves it close to the body, 1 lets it fall freely.
        narrow: how much a radius may shrink per decimetre.
    """
    index = np.flatnonzero(where)
    if not len(index):
        return
    x, y, z = points[index, 0] - axis[0], points[index, 1], points[index, 2] - axis[1]
    radius = np.hypot(x, z)
    sector = ((np.arctan2(x, z) / (2 * np.pi) + 0.5) * _BINS).astype(int) % _BINS
    wanted = radius.copy()
    for s in range(_BINS):
        column = np.flatnonzero((sector == s) | (sector == (s + 1) % _BINS) | (sector == (s - 1) % _BINS))
        column = column[np.argsort(-y[column])]
        if len(column):
            level = radius[column] - narrow * y[column]
            far = np.maximum.accumulate(level) + narrow * y[column]
            own = sector[column] == s
            wanted[column[own]] = np.maximum(radius[column[own]], far[own])
    grow = (1 + strength * (wanted / np.maximum(radius, 1e-3) - 1)).clip(1, 1.8)
    points[index, 0], points[index, 2] = axis[0] + x * grow, axis[1] + z * grow


def pushed(body: FloatArray, group: str, amount: np.ndarray) -> FloatArray:
    """(V, 3) the helper's vertices moved out along their normals by (V,) decimetres."""
    return body + normals(body, bodies().faces[group]) * amount[:, None].astype(np.float32)


def top(body: FloatArray, surface: Surface, push: float, hem: float, sleeve: float, hang: float = 0.4,
        collar: float = 0.0, open_neck: float = 0.0) -> Piece:  # fmt: skip
    """A shirt, pullover or jacket.

    Args:
        body: (V, 3) the person.
        surface: cloth.
        push: thickness in decimetres.
        hem: where it ends, in the base mesh's height; below the crotch goes with a `skirt` of the same cloth.
        sleeve: 0 sleeveless, 0.4 short, 1 long.
        hang: how freely it falls.
        collar: how far the collar stands off.
        open_neck: how far the neckline is cut down.
    """
    rest = bodies().rest
    y, x = rest[:, 1], np.abs(rest[:, 0])
    arm = weight_of("upperarm01", "lowerarm01", "wrist")
    leg = weight_of("upperleg01", "lowerleg01", "foot")
    amount = push * (0.75 + 0.35 * np.clip((5.0 - y) / 3.5, 0, 1)) + collar * np.clip((y - 5.55) / 0.5, 0, 1)
    amount = amount * np.where(arm > 0.5, 0.8, 1.0)
    points = pushed(body, TIGHTS, amount)
    trunk = (arm < 0.35) & (y > -2.2) & (y < 5.3) & (leg < 0.97)
    points = _smooth(points, TIGHTS, np.where(trunk, min(0.8, push * 2.2), 0.25 * min(1, push * 2)), 4)
    middle = body[np.flatnonzero(trunk)].mean(0)
    _hang(points, trunk & (y < 4.4), (0.0, float(middle[2])), hang, 0.12)
    if sleeve > 0.5:
        along = weight_of("wrist") < 0.5
    elif sleeve > 0.05:
        along = weight_of("lowerarm01") + weight_of("wrist") < 0.25 + 0.5 * (sleeve - 0.25)
    else:
        along = arm < 0.62
    along &= y < NECK - open_neck * np.exp(-((x / 0.7) ** 2)) * (rest[:, 2] > 0.2)
    low = max(hem, CROTCH) if hem > CROTCH + 0.1 else CROTCH - 0.1
    points, where = trimmed(points, low, 9.0, TIGHTS, along & (weight_of("lowerleg01") < 0.5))
    return shell(points, TIGHTS, where, surface, np.clip(amount / 0.6, 0, 1.3))


def trousers(body: FloatArray, surface: Surface, push: float, end: float, hang: float, flare: float = 0.0) -> Piece:
    """Trousers, leggings or shorts from the waist down to `end`; `hang` makes straight legs of tight ones."""
    rest = bodies().rest
    y = rest[:, 1]
    amount = push * np.clip((1.9 - y) / 4, 0.35, 1.1) + flare * np.clip((-3.5 - y) / 4, 0, 1)
    points = pushed(body, TIGHTS, amount)
    points = _smooth(points, TIGHTS, np.full(len(y), min(0.6, push * 1.5)), 2)
    for side in (-1, 1):
        leg = (y < CROTCH) & (y > -7.9) & (rest[:, 0] * side > 0)
        near_knee = leg & (np.abs(y + 3.7) < 0.8)
        knee = body[near_knee].mean(0)
        _hang(points, leg & (y < -1.4), (float(knee[0]), float(knee[2])), hang, 0.16)
    points, where = trimmed(points, end, 1.75, TIGHTS, weight_of("upperarm01", "lowerarm01", "wrist") < 0.2)
    return shell(points, TIGHTS, where, surface, np.clip(amount / 0.5, 0, 1.3))


def skirt(body: FloatArray, surface: Surface, push: float, hem: float, waist: float = 1.6, wide: float = 0.0) -> Piece:
    """A skirt, or the lower part of a coat or dress."""
    y = bodies().rest[:, 1]
    amount = push + wide * np.clip((1.2 - y) / 6, 0, 1)
    points = pushed(body, SKIRT, amount)
    points, where = trimmed(points, hem, waist, SKIRT, np.ones(len(y), bool))
    return shell(points, SKIRT, where, surface, np.clip(amount / 0.6 + 0.2, 0, 1.3))
