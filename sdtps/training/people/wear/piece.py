"""Pieces that a body wears: shells of the base mesh's own vertices, and solids that ride on a bone."""

from dataclasses import dataclass, replace

import numpy as np

from sdtps.training.people.body.assets import BONE, BONES, SIDES, bodies
from sdtps.training.people.body.skeleton import Posed, normals, skin
from sdtps.training.people.view.surface import Mesh, Owner, Surface
from sdtps.training.people.wear.meshes import Shape
from sdtps.training.synth.types import FloatArray

_JOINTS = (("upperarm01", "lowerarm01"), ("upperleg01", "lowerleg01"), ("shoulder01", "upperarm01"))


@dataclass(frozen=True)
class Piece:
    """Part of a dressed person in the rest pose; see `Mesh` for the columns."""

    points: FloatArray
    weights: FloatArray
    faces: np.ndarray
    rest: FloatArray
    surface: Surface
    loose: FloatArray
    crease: FloatArray
    paint: FloatArray | None = None

    def posed(self, pose: Posed, owner: Owner) -> Mesh:
        """Where the pose takes it."""
        points = skin(self.points, self.weights, pose)
        return Mesh(
            points, normals(points, self.faces), self.faces, self.rest, self.surface, self.loose, self.crease,
            self.paint, owner,
        )  # fmt: skip

    def of(self, surface: Surface) -> "Piece":
        """The same cut from another cloth."""
        return replace(self, surface=surface)


def weight_of(*names: str) -> FloatArray:
    """(V,) summed weights of bones; a name without a side means both."""
    columns = [BONE[n] for name in names for n in ([name] if name in BONE else [f"{name}.{s}" for s in SIDES])]
    total: FloatArray = bodies().weights[:, columns].sum(1)
    return total


def creases() -> FloatArray:
    """(V,) where joints fold cloth: 1 between two bones that bend, 0 far from it."""
    weights = bodies().weights
    out = np.zeros(len(weights), np.float32)
    for upper, lower in _JOINTS:
        for side in SIDES:
            out = np.maximum(out, 4 * weights[:, BONE[f"{upper}.{side}"]] * weights[:, BONE[f"{lower}.{side}"]])
    waist = np.exp(-(((bodies().rest[:, 1] - 1.6) / 0.7) ** 2)) * 0.5
    ankle = np.exp(-(((bodies().rest[:, 1] + 7.0) / 0.6) ** 2)) * 0.9
    return np.maximum(out, np.maximum(waist, ankle)).astype(np.float32)


def shell(points: FloatArray, group: str, where: np.ndarray, surface: Surface, loose: FloatArray,
          paint: FloatArray | None = None) -> Piece:  # fmt: skip
    """The faces of a group all of whose corners are in `where`, (V,) bool, at (V, 3) points."""
    data = bodies()
    faces = data.faces[group]
    faces = faces[where[faces].all(1)]
    used, index = np.unique(faces, return_inverse=True)
    return Piece(
        points[used].astype(np.float32), data.weights[used], index.reshape(-1, 3), data.rest[used], surface,
        loose[used].astype(np.float32), creases()[used], None if paint is None else paint[used].astype(np.float32),
    )  # fmt: skip


def trimmed(
    points: FloatArray, low: float, high: float, group: str, where: np.ndarray
) -> tuple[FloatArray, np.ndarray]:
    """Cut at two heights of the base mesh: corners just outside move onto the line, so that hems run straight.

    Returns the moved points and who may be drawn: `where` and their neighbours across the line.
    """
    y = bodies().rest[:, 1]
    inside = where & (y > low) & (y < high)
    faces = bodies().faces[group]
    touched = faces[inside[faces].any(1) & where[faces].all(1)]
    drawn = inside.copy()
    drawn[touched] = True
    moved = points.copy()
    # Those outside stand where their neighbours inside do, but on the line: a foot does not jut out of a trouser leg.
    corners, neighbours = touched[:, [0, 1, 2, 0, 1, 2]].T.ravel(), touched[:, [1, 2, 0, 2, 0, 1]].T.ravel()
    known = ~inside[corners] & inside[neighbours]
    count = np.bincount(corners[known], minlength=len(y))
    near = np.flatnonzero(count)
    for axis in (0, 2):
        total = np.bincount(corners[known], points[neighbours[known], axis], len(y))
        moved[near, axis] = 0.25 * points[near, axis] + 0.75 * total[near] / count[near]
    for line in (low, high):
        over = np.flatnonzero(drawn & ~inside & ((y <= line) if line == low else (y >= line)))
        if len(over):
            moved[over, 1] = line + float((points[over, 1] - y[over]).mean())
    return moved, drawn


def riding(shape: Shape, bone: str, surface: Surface, loose: float = 0.0) -> Piece:
    """A solid stuck to one bone, given in rest coordinates."""
    points, faces = shape
    weights = np.zeros((len(points), len(BONES)), np.float32)
    weights[:, BONE[bone]] = 1
    n = len(points)
    return Piece(points, weights, faces, points, surface, np.full(n, loose, np.float32), np.zeros(n, np.float32))


def clinging(shape: Shape, body: FloatArray, surface: Surface, near: np.ndarray) -> Piece:
    """A solid whose vertices follow the nearest of the body's vertices `near`, like a strap."""
    points, faces = shape
    distance = ((points[:, None] - body[near][None]) ** 2).sum(-1)
    weights = bodies().weights[near[distance.argmin(1)]]
    n = len(points)
    return Piece(points, weights, faces, points, surface, np.zeros(n, np.float32), np.zeros(n, np.float32))
