"""Small rotations."""

import numpy as np

from sdtps.training.synth.types import Vector


def about(axis: Vector, angle: float) -> Vector:
    """(3, 3) rotation by an angle in radians about an axis of any length."""
    x, y, z = (axis / max(float(np.linalg.norm(axis)), 1e-9)).tolist()
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    turn: Vector = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return turn


X, Y, Z = np.eye(3)


def aim(start: Vector, end: Vector) -> Vector:
    """(3, 3) shortest rotation that turns one direction into another."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    axis = np.cross(a, b)
    sine = float(np.linalg.norm(axis))
    return np.eye(3) if sine < 1e-7 else about(axis, float(np.arctan2(sine, a @ b)))


def part_of(turn: Vector, share: float) -> Vector:
    """The same rotation, a share of its angle."""
    angle = float(np.arccos(np.clip((np.trace(turn) - 1) / 2, -1, 1)))
    if angle < 1e-6:
        return np.eye(3)
    axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    return about(axis, angle * share)
