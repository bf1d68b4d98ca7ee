"""Simple solids: rounded boxes, tubes, lofts and balls, from which shoes, bags, wheels, poles and cars are made."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from sdtps.training.people.body.skeleton import normals
from sdtps.training.people.body.turns import aim
from sdtps.training.people.view.surface import Mesh, Owner, Surface
from sdtps.training.synth.types import FloatArray, Vector

Shape = tuple[FloatArray, np.ndarray]
Numbers = Sequence[float] | np.ndarray


def grid_faces(rows: int, cols: int, closed: bool = False) -> np.ndarray:
    """Triangles of a grid of vertices, row by row; `closed` joins the last column to the first."""
    r = np.arange(rows - 1)[:, None]
    c = np.arange(cols if closed else cols - 1)[None]
    a, b = r * cols + c, r * cols + (c + 1) % cols
    quads = np.stack([a, b, b + cols, a + cols], -1).reshape(-1, 4)
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


@cache
def _unit_box(sharpness: float, n: int = 7) -> Shape:
    lattice = np.linspace(-1, 1, n)
    u, v = (a.ravel() for a in np.meshgrid(lattice, lattice, indexing="ij"))
    points: list[np.ndarray] = []
    faces: list[np.ndarray] = []
    for axis in range(3):
        for sign in (-1, 1):
            side = np.empty((n * n, 3))
            side[:, axis], side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = sign, u, v
            triangles = grid_faces(n, n) + len(points) * n * n
            points.append(side)
            faces.append(triangles if sign < 0 else triangles[:, ::-1])
    cube = np.concatenate(points)
    cube /= ((np.abs(cube) ** sharpness).sum(1, keepdims=True)) ** (1 / sharpness)
    return cube.astype(np.float32), np.concatenate(faces)[:, ::-1]


def box(size: Numbers, middle: Numbers = (0, 0, 0), sharpness: float = 6.0) -> Shape:
    """A box with rounded edges; `size` is its whole width, height and depth."""
    points, faces = _unit_box(sharpness)
    return (points * (np.array(size) / 2) + np.array(middle)).astype(np.float32), faces


def ball(size: Numbers, middle: Numbers = (0, 0, 0)) -> Shape:
    """An ellipsoid."""
    return box(size, middle, 2.0)


def tube(path: Sequence[Vector] | Vector, radius: float | Numbers, sides: int = 8) -> Shape:
    """A round tube along points; `radius` may change from point to point."""
    path = np.asarray(path, np.float64)
    radii = np.broadcast_to(np.asarray(radius, np.float64), (len(path),))
    ahead = np.gradient(path, axis=0)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(sides)], 1)
    points = [p + (ring * r) @ aim(np.array([0.0, 0.0, 1.0]), d + 1e-6).T
              for p, d, r in zip(path, ahead, radii, strict=True)]  # fmt: skip
    return np.concatenate(points).astype(np.float32), grid_faces(len(path), sides, closed=True)


def ring(middle: Numbers, radius: float, thickness: float, axis: Vector, steps: int = 28) -> Shape:
    """A wheel's tyre."""
    angle = np.linspace(0, 2 * np.pi, steps)
    flat = np.stack([np.cos(angle) * radius, np.sin(angle) * radius, np.zeros(steps)], 1)
    return tube(flat @ aim(np.array([0.0, 0.0, 1.0]), axis).T + np.array(middle), thickness, 6)


def lathe(profile: Sequence[tuple[float, float]], middle: Numbers = (0, 0, 0), sides: int = 20) -> Shape:
    """(radius, height) pairs turned about the upright axis."""
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    rows = [np.stack([r * np.cos(angle), np.full(sides, y), r * np.sin(angle)], 1) for r, y in profile]
    return (np.concatenate(rows) + np.array(middle)).astype(np.float32), grid_faces(len(profile), sides, closed=True)


def join(shapes: Sequence[Shape]) -> Shape:
    """Several shapes as one."""
    offset, points, faces = 0, [], []
    for p, f in shapes:
        points.append(p)
        faces.append(f + offset)
        offset += len(p)
    return np.concatenate(points), np.concatenate(faces)


def solid(shape: Shape, surface: Surface, owner: Owner = Owner.SCENE, rest: FloatArray | None = None,
          loose: float = 0.0, shadow: bool = True) -> Mesh:  # fmt: skip
    """A shape where it stands, made of something."""
    points, faces = shape
    return Mesh(
        points, normals(points, faces), faces, points if rest is None else rest, surface,
        loose=np.full(len(points), loose, np.float32), owner=owner, shadow=shadow,
    )  # fmt: skip
