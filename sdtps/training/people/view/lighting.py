"""Light of one shot: a key light that casts shadows, sky and bounce, a lamp, and the camera's own infrared lamp."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sdtps.training.synth.types import Vector

_REACH = 26.0  # decimetres around the person that cast and catch shadows
Light = tuple[float, float, float, float]


@dataclass(frozen=True)
class Lighting:
    """Strengths are red, green, blue and near infrared; directions are in the world.

    Attributes:
        to_sun: direction towards the key light.
        sun, sky, ground, lamp, camera: strengths.
        lamp_place: where the lamp hangs.
        photo: environment photograph, seen behind the scene and in mirrors, or none.
        photo_turn, photo_gain, photo_leaf: its bearing in turns, its strength, how bright its plants are in infrared.
        photo_zoom: how much wider than the crop it is seen, for its pixels are few.
        occlusion: reach of ambient shade, in decimetres.
        sky_heat, edge_cool: warmth of the sky, and how much cooler a body looks at grazing angles.
        softness: of shadows, as a share of the shadow map.
        fog, fog_level: share at a distance, and brightness.
        wet: how much the ground mirrors.
    """

    to_sun: Vector
    sun: Light
    sky: Light
    ground: Light
    lamp: Light
    camera: Light
    lamp_place: Vector
    photo: Path | None = None
    photo_turn: float = 0.0
    photo_gain: float = 1.0
    photo_leaf: float = 2.0
    photo_zoom: float = 4.0
    sky_heat: float = 0.02
    edge_cool: float = 0.1
    softness: float = 0.004
    occlusion: float = 1.6
    fog: float = 0.0
    fog_level: float = 0.5
    wet: float = 0.0

    def sun_matrix(self) -> Vector:
        """(4, 4) world to the key light's square."""
        forward = self.to_sun / np.linalg.norm(self.to_sun)
        right = np.cross([0.0, 1.0, 0.13], forward)
        right /= np.linalg.norm(right)
        axes = np.stack([right, np.cross(forward, right), -forward])
        matrix = np.eye(4)
        matrix[:3, :3] = axes / np.array([[_REACH], [_REACH], [2.5 * _REACH]])
        matrix[:3, 3] = -matrix[:3, :3] @ np.array([0.0, 8.0, 0.0])
        return matrix

    def uniforms(self) -> dict[str, Any]:
        """As the shader names them."""
        return {
            "to_sun": self.to_sun,
            "sun_light": self.sun,
            "sky_light": self.sky,
            "ground_light": self.ground,
            "lamp_light": self.lamp,
            "camera_light": self.camera,
            "lamp": self.lamp_place,
            "photo_turn": self.photo_turn,
            "photo_gain": self.photo_gain,
            "photo_leaf": self.photo_leaf,
            "photo_zoom": self.photo_zoom,
            "use_photo": float(self.photo is not None),
            "sky_heat": self.sky_heat,
            "edge_cool": self.edge_cool,
            "softness": self.softness,
            "occlusion": self.occlusion,
            "fog": self.fog,
            "fog_level": self.fog_level,
            "wet": self.wet,
        }
