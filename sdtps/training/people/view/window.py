"""The camera and the crop: where it stands, where it looks, and which window of its frame a detector cut out."""

from dataclasses import dataclass

import numpy as np

from sdtps.training.people.body.turns import X, about
from sdtps.training.synth.types import CANVAS_H, CANVAS_W, FloatArray, Vector


@dataclass(frozen=True)
class Window:
    """Matrices that take the world to the canvas, (4, 4) each, and the camera's place, (3,)."""

    camera: Vector
    projection: Vector
    eye: Vector


def look_from(height: float, distance: float, aim_height: float) -> tuple[Vector, Vector]:
    """World to camera for one that stands `distance` in front (+z), looking down at the body; and its place."""
    eye = np.array([0.0, height, distance])
    pitch = float(np.arctan2(height - aim_height, distance))
    turn = about(X, pitch)
    camera = np.eye(4)
    camera[:3, :3] = turn
    camera[:3, 3] = -turn @ eye
    return camera, eye


def spread(points: FloatArray, camera: Vector) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of points on the plane at distance 1."""
    seen = points @ camera[:3, :3].T + camera[:3, 3]
    x, y = seen[:, 0] / -seen[:, 2], seen[:, 1] / -seen[:, 2]
    return float(x.min()), float(x.max()), float(y.min()), float(y.max())


def crop(camera: Vector, eye: Vector, middle: tuple[float, float], scale: tuple[float, float],
         pixel: tuple[float, float]) -> Window:  # fmt: skip
    """The window that shows the point `middle` of the plane at distance 1 on a canvas pixel, magnified by `scale`."""
    near, far = 4.0, 1500.0
    ax, ay = 2 * scale[0] / CANVAS_W, 2 * scale[1] / CANVAS_H
    bx = 2 * (pixel[0] - scale[0] * middle[0]) / CANVAS_W - 1
    by = 1 - 2 * (pixel[1] + scale[1] * middle[1]) / CANVAS_H
    projection = np.array(
        [[ax, 0, -bx, 0], [0, ay, -by, 0], [0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)],
         [0, 0, -1, 0]]
    )  # fmt: skip
    return Window(camera, projection, eye)
