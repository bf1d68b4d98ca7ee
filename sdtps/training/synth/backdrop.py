"""The label map and materials of a background, drawn with Pillow."""

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from .materials import Material, MaterialTable, cloth_colour, colour
from .types import CANVAS_H, CANVAS_W, ByteArray, Rng, clamp

Point = tuple[float, float]

# Tint of grass and leaves, to be scaled by a lightness.
GRASS = (0.75, 1.15, 0.5)


class Backdrop:
    """A drawing in progress. Label 0 is what lies behind everything.

    Attributes:
        horizon: canvas row where the ground begins.
        ground_heat, upper_heat: typical warmth below and above the horizon.
        lightness: typical reflectance of the place; surfaces scatter widely around it.
        dyed: share of surfaces coloured as clothes are, so that colour is no cue.
        lookalikes: garments whose colours the surroundings borrow when the scene is to be hard.
    """

    def __init__(
        self,
        rng: Rng,
        horizon: float,
        lightness: float,
        ground_heat: float,
        upper_heat: float,
        lookalikes: Sequence[Material] = (),
    ) -> None:
        self.rng = rng
        self.horizon = horizon
        self.lightness = lightness
        self.ground_heat, self.upper_heat = ground_heat, upper_heat
        self.dyed = 0.7 if lookalikes else 0.25
        self.lookalikes = lookalikes
        self.table = MaterialTable(128)
        self._image = Image.new("L", (CANVAS_W, CANVAS_H))
        self._draw = ImageDraw.Draw(self._image)
        self._next = 0

    @property
    def label(self) -> ByteArray:
        """(CANVAS_H, CANVAS_W) uint8."""
        return np.asarray(self._image)

    def surface(
        self,
        low: float = 0.02,
        high: float = 0.8,
        heat: float | None = None,
        texture: float | None = None,
        tint: tuple[float, float, float] | None = None,
        nir: float | None = None,
    ) -> int:
        """Register a material and return its label."""
        rng = self.rng
        if tint is None and rng.random() < self.dyed:
            rgb = cloth_colour(rng)
            if self.lookalikes and rng.random() < 0.5:
                garment = self.lookalikes[int(rng.integers(len(self.lookalikes)))]
                rgb, nir = garment.rgb, garment.nir
        else:
            level = np.exp(rng.uniform(np.log(low), np.log(high))) * self.lightness
            rgb = colour(level * (np.array(tint) if tint is not None else 1 + rng.normal(0, 0.07, 3)))
        mean = sum(rgb) / 3
        if nir is None:
            nir = mean * rng.uniform(0.7, 1.5) if rng.random() < 0.7 else rng.uniform(0.03, 0.85)
        if heat is None:
            heat = self.upper_heat + rng.normal(0, 0.05)
        material = Material(
            rgb,
            clamp(nir, 0.01, 1.0),
            clamp(heat, 0.0, 1.0),
            texture=float(rng.uniform(0.01, 0.11) if texture is None else texture),
            folds=float(rng.uniform(0.0, 0.25)),
            heat_folds=float(rng.uniform(0.004, 0.03)),
        )
        label = self._next
        self._next = min(self._next + 1, 127)
        self.table.put(label, material)
        return label

    def fill(self, label: int) -> None:
        """Cover everything."""
        self._draw.rectangle((0, 0, CANVAS_W, CANVAS_H), fill=label)

    def polygon(self, points: Sequence[Point], label: int) -> None:
        """A filled polygon."""
        self._draw.polygon(list(points), fill=label)

    def box(self, x0: float, y0: float, x1: float, y1: float, label: int) -> None:
        """A filled rectangle; corners in any order."""
        self._draw.rectangle((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), fill=label)

    def ellipse(self, x0: float, y0: float, x1: float, y1: float, label: int) -> None:
        """A filled ellipse in a box; corners in any order."""
        self._draw.ellipse((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), fill=label)

    def arc(
        self, x0: float, y0: float, x1: float, y1: float, start: float, end: float, width: float, label: int
    ) -> None:
        """A thick arc, angles in degrees."""
        self._draw.arc((x0, y0, x1, y1), start, end, fill=label, width=max(1, round(width)))

    def line(self, points: Sequence[Point], width: float, label: int) -> None:
        """A thick polyline."""
        self._draw.line(list(points), fill=label, width=max(1, round(width)))
