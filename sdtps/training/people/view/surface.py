"""What the renderer draws: triangles with the surface they are made of."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from sdtps.training.synth.types import FloatArray

Colour = tuple[float, float, float]


class Kind(IntEnum):
    """How the fragment shader paints a surface; the numbers stand in the shader, too."""

    PLAIN = 0
    CLOTH = 1
    SKIN = 2
    HAIR = 3
    ASPHALT = 4
    SLABS = 5
    GRASS = 6
    FACADE = 7
    LEAVES = 8
    CAR = 9
    PHOTO = 10
    BRICK = 11
    QUILT = 12


class Owner(IntEnum):
    """Whose pixel it is."""

    SCENE = 0
    MAIN = 1
    OTHER = 2
    THING = 3


@dataclass(frozen=True)
class Surface:
    """A material as three sensors see it. Reflectances are linear, heat is 0 (coldest) to 1 (hottest).

    Attributes:
        colour, nir: reflectance in red, green, blue and near infrared.
        heat: warmth where the surface lies close to a body; `loose_cool` takes away from it where it does not.
        pattern: number of a second colour's pattern, 0 for none; see the shader.
        period, duty, phase: of the pattern, in decimetres.
        wrinkle, grain: depth of folds, and of fine texture.
        stretch: scale of folds along x, y and z of the rest pose, per decimetre.
        heat_folds: how much folds show in thermal.
        gloss: mirror-like share.
        detail: bits of tailoring: 1 zip, 4 stripe along the side, 8 pockets, 16 belt.
        seed: of its noise.
    """

    kind: Kind = Kind.PLAIN
    colour: Colour = (0.5, 0.5, 0.5)
    nir: float = 0.5
    heat: float = 0.3
    second: Colour = (0.5, 0.5, 0.5)
    second_nir: float = 0.5
    pattern: int = 0
    period: float = 1.0
    duty: float = 0.5
    phase: float = 0.0
    wrinkle: float = 0.0
    stretch: Colour = (1.5, 1.5, 1.5)
    grain: float = 0.05
    loose_cool: float = 0.0
    heat_folds: float = 0.0
    gloss: float = 0.0
    detail: int = 0
    seed: float = 0.0

    def but(self, **changes: Any) -> "Surface":
        """The same with some things changed."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Mesh:
    """Triangles in place.

    Attributes:
        points, normals: (n, 3) world coordinates.
        faces: (m, 3).
        rest: (n, 3) coordinates in which patterns and folds are laid.
        surface: what it is made of.
        loose: (n,) how far from the body, 0 to about 1.
        crease: (n,) how much the pose folds the cloth here.
        paint: (n, 4) factor on the colour and shift of the heat.
        owner: whose.
    """

    points: FloatArray
    normals: FloatArray
    faces: np.ndarray
    rest: FloatArray
    surface: Surface
    loose: FloatArray | None = None
    crease: FloatArray | None = None
    paint: FloatArray | None = None
    owner: Owner = Owner.SCENE
    shadow: bool = True

    def vertex_data(self) -> bytes:
        """The columns in the order that the shader reads."""
        n = len(self.points)
        data = np.zeros((n, 15), np.float32)
        data[:, 0:3], data[:, 3:6], data[:, 6:9] = self.points, self.normals, self.rest
        if self.loose is not None:
            data[:, 9] = self.loose
        if self.crease is not None:
            data[:, 10] = self.crease
        data[:, 11:15] = (1, 1, 1, 0) if self.paint is None else self.paint
        return data.tobytes()

    def moved(self, turn: np.ndarray, shift: np.ndarray) -> "Mesh":
        """Turned and shifted in the world; the pattern goes along."""
        points = (self.points @ turn.T + shift).astype(np.float32)
        return replace(self, points=points, normals=(self.normals @ turn.T).astype(np.float32))
