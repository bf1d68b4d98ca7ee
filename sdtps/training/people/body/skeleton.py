"""Bones that turn, and the vertices that follow them."""

from dataclasses import dataclass

import numpy as np

from sdtps.training.people.body.assets import BONE, BONES, bodies
from sdtps.training.people.body.shape import joint
from sdtps.training.synth.types import FloatArray, Vector

Turns = dict[str, Vector]


@dataclass(frozen=True)
class Posed:
    """Bones of one body in one pose.

    Attributes:
        moves: (len(BONES), 3, 4) from rest to posed coordinates.
        heads: (len(BONES), 3) where bones begin at rest.
    """

    moves: FloatArray
    heads: FloatArray

    def place(self, bone: str, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Vector:
        """(3,) where a bone's beginning, plus an offset in rest coordinates, has gone."""
        i = BONE[bone]
        return self.moves[i, :, :3] @ (self.heads[i] + np.array(offset)) + self.moves[i, :, 3]

    def follow(self, points: FloatArray, bone: str) -> FloatArray:
        """(n, 3) rest points stuck to one bone."""
        move = self.moves[BONE[bone]]
        return (points @ move[:, :3].T + move[:, 3]).astype(np.float32)


def pose(vertices: FloatArray, turns: Turns) -> Posed:
    """Turn bones about their beginnings, parents first; turns are in the axes of the rest pose."""
    heads = np.stack([joint(vertices, name) for name in BONES]).astype(np.float64)
    moves = np.zeros((len(BONES), 4, 4))
    for i, (name, parent) in enumerate(zip(BONES, bodies().parents, strict=True)):
        turn = turns.get(name)
        local = np.eye(4)
        if turn is not None:
            local[:3, :3] = turn
            local[:3, 3] = heads[i] - turn @ heads[i]
        moves[i] = local if parent < 0 else moves[parent] @ local
    return Posed(moves[:, :3].astype(np.float32), heads.astype(np.float32))


def skin(points: FloatArray, weights: FloatArray, posed: Posed) -> FloatArray:
    """(n, 3) rest points with (n, bones) weights to where the pose takes them."""
    blended = (weights @ posed.moves.reshape(len(BONES), 12)).reshape(-1, 3, 4)
    return np.einsum("nij,nj->ni", blended[:, :, :3], points) + blended[:, :, 3]


def normals(points: FloatArray, faces: np.ndarray) -> FloatArray:
    """(n, 3) unit vertex normals, weighed by area."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    corners = faces.T.ravel()
    total = np.stack([np.bincount(corners, np.tile(flat[:, k], 3), len(points)) for k in range(3)], 1)
    return (total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9)).astype(np.float32)
