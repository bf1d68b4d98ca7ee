"""The drawing surface for bodies: rounded primitives that leave a label and surface coordinates per pixel."""

from typing import Any

import numpy as np

from .types import CANVAS_H, CANVAS_W, ByteArray, FloatArray, Vector

_X = np.arange(CANVAS_W, dtype=np.float32)[None]
_Y = np.arange(CANVAS_H, dtype=np.float32)[:, None]

# Pixels up to which the outline noise is in full proportion to the radius.
_WOBBLY_RADIUS = 12.0


class Canvas:
    """Painter's-order label map.

    Attributes:
        label: (CANVAS_H, CANVAS_W) uint8, owner * PARTS + part, 0 for background.
        across: float32, -1 to 1 from one edge of the limb to the other; gives the surface normal for shading.
        along: float32, 0 to 1 from the start of the limb to its end; gives warmth that fades along it.
    """

    def __init__(self, outline_noise: FloatArray, wobble: float) -> None:
        self.label: ByteArray = np.zeros((CANVAS_H, CANVAS_W), np.uint8)
        self.across: FloatArray = np.zeros((CANVAS_H, CANVAS_W), np.float32)
        self.along: FloatArray = np.zeros((CANVAS_H, CANVAS_W), np.float32)
        # Cloth never has ruler-straight outlines: every radius is modulated by this, large ones less.
        self._swell: FloatArray = np.clip(wobble * outline_noise, -0.3, 0.3)

    def _paint(
        self, window: tuple[slice, slice], distance: Any, across: Any, along: Any, radius: float, label: int
    ) -> None:
        calm = min(1.0, _WOBBLY_RADIUS / max(radius, 1.0))
        inside = distance < 1 + calm * self._swell[window]
        self.label[window][inside] = label
        np.copyto(self.across[window], across, where=inside)
        np.copyto(self.along[window], along, where=inside)

    @staticmethod
    def _window(x0: float, y0: float, x1: float, y1: float) -> tuple[slice, slice] | None:
        left, right = max(0, int(x0)), min(CANVAS_W, int(x1) + 2)
        top, bottom = max(0, int(y0)), min(CANVAS_H, int(y1) + 2)
        if left >= right or top >= bottom:
            return None
        return slice(top, bottom), slice(left, right)

    def capsule(self, start: Vector, end: Vector, start_radius: float, end_radius: float, label: int) -> None:
        """A limb: a segment with round ends whose radius changes linearly."""
        ax, ay, bx, by = float(start[0]), float(start[1]), float(end[0]), float(end[1])
        reach = max(start_radius, end_radius) * 1.3
        window = self._window(min(ax, bx) - reach, min(ay, by) - reach, max(ax, bx) + reach, max(ay, by) + reach)
        if window is None:
            return
        rows, cols = window
        x, y = _X[:, cols] - ax, _Y[rows] - ay
        dx, dy = bx - ax, by - ay
        length = max(float(np.hypot(dx, dy)), 0.03)
        position = x * (dx / length) + y * (dy / length)
        along = np.minimum(np.maximum(position, 0), length)
        beyond = position - along
        sideways = x * (dy / length) - y * (dx / length)
        radius = along * ((end_radius - start_radius) / length) + start_radius
        distance = np.sqrt(sideways * sideways + beyond * beyond) / radius
        # Sideways offset only, so that shading runs on through the round joints.
        across = sideways / (radius if dy >= 0 else -radius)
        self._paint(window, distance, across, along * (1 / length), max(start_radius, end_radius), label)

    def column(self, ys: list[float], centres: list[float], halves: list[float], label: int) -> None:
        """A torso, skirt or coat: half widths and centre line given at increasing heights ``ys``."""
        widest = max(halves) * 1.3
        window = self._window(min(centres) - widest, ys[0], max(centres) + widest, ys[-1] - 1)
        if window is None:
            return
        rows, cols = window
        y = _Y[rows, 0]
        centre = np.interp(y, ys, centres).astype(np.float32)[:, None]
        half = np.interp(y, ys, halves).astype(np.float32)[:, None]
        across = (_X[:, cols] - centre) / np.maximum(half, 0.3)
        along = np.broadcast_to(((y - ys[0]) / max(ys[-1] - ys[0], 1.0))[:, None], across.shape)
        self._paint(window, np.abs(across), across, along, widest, label)

    def blob(self, centre: Vector, rx: float, ry: float, label: int, power: float = 2.0, tilt: float = 0.0) -> None:
        """An ellipse (power 2) or a rounded box (power 4 and more), turned by ``tilt`` radians."""
        reach = max(rx, ry) * (1.6 if tilt else 1.3)
        cx, cy = float(centre[0]), float(centre[1])
        window = self._window(cx - reach, cy - reach, cx + reach, cy + reach)
        if window is None:
            return
        rows, cols = window
        x, y = _X[:, cols] - cx, _Y[rows] - cy
        if tilt:
            cos, sin = float(np.cos(tilt)), float(np.sin(tilt))
            x, y = x * cos + y * sin, y * cos - x * sin
        u, v = x / max(rx, 0.5), y / max(ry, 0.5)
        if power == 2.0:
            distance = np.sqrt(u * u + v * v)
        else:
            distance = (np.abs(u) ** power + np.abs(v) ** power) ** np.float32(1 / power)
        shape = distance.shape
        self._paint(
            window, distance, np.broadcast_to(u, shape), np.broadcast_to(v * 0.5 + 0.5, shape), max(rx, ry), label
        )
