"""Shoes: lofts around the feet, with a sole of their own."""

import numpy as np

from sdtps.training.people.body.assets import SIDES, bodies
from sdtps.training.people.body.shape import joint
from sdtps.training.people.view.surface import Surface
from sdtps.training.people.wear import meshes
from sdtps.training.people.wear.piece import Piece, riding, weight_of
from sdtps.training.synth.types import FloatArray

# Along the foot from heel to toe: share of the length, half width, height of the upper; in decimetres.
_UPPER = np.array([
    (-0.02, 0.22, 0.62), (0.02, 0.33, 0.90), (0.15, 0.38, 1.02), (0.28, 0.40, 1.00), (0.42, 0.43, 0.80),
    (0.60, 0.48, 0.58), (0.78, 0.50, 0.45), (0.92, 0.42, 0.34), (1.00, 0.28, 0.24), (1.04, 0.10, 0.16),
])  # fmt: skip
# Over the top from one side to the other, and back under the foot.
_AROUND = np.concatenate([np.linspace(0, np.pi, 11), np.linspace(np.pi, 2 * np.pi, 5)[1:-1]])


def _loft(start: np.ndarray, ahead: np.ndarray, length: float, width: float, low: float, rise: float,
          part: str) -> meshes.Shape:  # fmt: skip
    side = np.cross(np.array([0.0, 1.0, 0.0]), ahead)
    rows = []
    for share, half, high in _UPPER:
        middle = start + ahead * (share * length)
        if part == "sole":
            half, high = half * 1.06, 0.2
        across = np.sign(np.cos(_AROUND)) * np.abs(np.cos(_AROUND)) ** 0.7 * half * width
        up = np.maximum(np.sin(_AROUND), 0) ** (0.75 if part == "upper" else 0.25) * high * rise
        rows.append(
            middle[None] * np.array([1, 0, 1]) + across[:, None] * side + np.array([0, 1, 0]) * (low + up)[:, None]
        )
    ends = [np.repeat(row.mean(0, keepdims=True), len(_AROUND), 0) for row in (rows[0], rows[-1])]
    rows = [ends[0], *rows, ends[1]]
    return np.concatenate(rows).astype(np.float32), meshes.grid_faces(len(rows), len(_AROUND), closed=True)


def shoes(body: FloatArray, upper: Surface, sole: Surface, boots: float = 0.0, width: float = 1.0) -> list[Piece]:
    """A pair; `boots` is how high the shaft reaches above the ankle, in decimetres."""
    parts = []
    weights = weight_of("foot")
    for side, sign in zip(SIDES, (1, -1), strict=True):
        foot = body[(weights > 0.6) & (bodies().rest[:, 0] * sign > 0)]
        ankle = joint(body, f"foot.{side}")
        toe = foot[np.argsort(-foot[:, 2])[:60]].mean(0)
        heel = foot[np.argsort(foot[:, 2])[:60]].mean(0)
        ahead = (toe - heel) * np.array([1, 0, 1])
        length = float(np.linalg.norm(ahead)) + 0.3
        ahead = ahead / np.linalg.norm(ahead)
        low = float(foot[:, 1].min()) - 0.16
        start = heel - ahead * 0.12
        scale = width * length / 2.7
        parts += [
            riding(_loft(start, ahead, length, scale, low + 0.08, length / 2.6, "upper"), f"foot.{side}", upper),
            riding(_loft(start, ahead, length * 1.01, scale, low, 1.0, "sole"), f"foot.{side}", sole),
        ]
        if boots:
            path = [ankle + np.array([0, h, -0.08]) for h in np.linspace(-0.15, boots, 5)]
            parts.append(riding(meshes.tube(path, np.linspace(0.5, 0.56, 5) * scale, 12), f"lowerleg01.{side}", upper))
    return parts
