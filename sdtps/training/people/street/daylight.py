"""The light of a shot: sun, clouds, street lamps, head lights, fog and rain; from a photograph where there is one."""

import numpy as np

from sdtps.training.people.street.photos import DAY, NIGHT, direction, read_photo
from sdtps.training.people.street.site import Site
from sdtps.training.people.view.lighting import Light, Lighting
from sdtps.training.synth.camera import Conditions
from sdtps.training.synth.types import Rng, Vector


def _light(rng: Rng, strength: float, tint: tuple[float, float, float], nir: tuple[float, float]) -> Light:
    red, green, blue = (strength * t for t in tint)
    return float(red), float(green), float(blue), float(strength * rng.uniform(*nir))


def _towards(elevation: float, bearing: float) -> Vector:
    return np.array([
        np.cos(elevation) * np.sin(bearing), np.sin(elevation), np.cos(elevation) * np.cos(bearing),
    ])  # fmt: skip


def draw_lighting(rng: Rng, site: Site, conditions: Conditions, rain: bool) -> Lighting:
    """Light for one shot of a site."""
    night, fog = conditions.night, conditions.fog
    to_sun = _towards(rng.uniform(0.3, 1.25), rng.uniform(-np.pi, np.pi))
    lamp_place = np.array([rng.uniform(-40, 40), rng.uniform(35, 60), rng.uniform(-40, 50)])
    warm = (1.0, float(rng.uniform(0.72, 1.0)), float(rng.uniform(0.4, 1.05)))
    if night:
        # A street lamp is the key light; the sky glows a little; the camera brings its own infrared lamp.
        to_sun = _towards(rng.uniform(0.75, 1.45), rng.uniform(-np.pi, np.pi))
        sun = _light(rng, float(rng.uniform(0.15, 1.4)), warm, (0.1, 0.6))
        sky = _light(rng, float(rng.uniform(0.12, 0.6)), (0.9, 0.95, 1.05), (0.2, 0.8))
        lamp = _light(rng, float(rng.uniform(0, 3.0)), warm, (0.2, 0.8))
        beam = float(rng.uniform(0.3, 1.6)) if rng.random() < 0.3 else 0.0
        camera = (beam, beam * 0.95, beam * 0.85, float(rng.uniform(1.0, 5.0)))
        softness = float(rng.uniform(0.004, 0.02))
    else:
        overcast = rng.random() < 0.5 or fog or rain
        low_sun = float(np.clip(1 - to_sun[1], 0, 1))
        tint = (1.0, 0.95 - 0.16 * low_sun, 0.86 - 0.36 * low_sun)
        sun = _light(rng, float(rng.uniform(0.02, 0.25) if overcast else rng.uniform(0.8, 2.6)), tint, (0.7, 1.3))
        sky = _light(rng, float(rng.uniform(0.6, 1.2)), (0.88, 0.96, 1.1), (0.4, 1.0))
        lamp, camera = (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, float(rng.uniform(0, 0.8)))
        softness = float(rng.uniform(0.002, 0.012))
    bounce = float(rng.uniform(0.2, 0.55))
    ground: Light = (sky[0] * bounce, sky[1] * bounce, sky[2] * bounce * 0.9, sky[3] * bounce)
    extra: dict[str, object] = {}
    if site.photographed:
        names = NIGHT if night else DAY
        photo = read_photo(names[site.number % len(names)])
        turn = float((site.number * 0.381) % 1 + rng.uniform(-0.06, 0.06))
        to_sun = direction(photo.sun_place, turn)
        to_sun = np.array([to_sun[0], max(to_sun[1], 0.3), to_sun[2]])
        to_sun /= np.linalg.norm(to_sun)
        grey = float(photo.sky.mean())
        sky_tint, ground_tint = photo.sky / max(grey, 1e-3), photo.ground / max(float(photo.ground.mean()), 1e-3)
        level = 0.45 + 0.35 * rng.random()
        sky = _light(rng, level, tuple((0.5 + 0.5 * sky_tint).tolist()), (0.5, 1.0))
        ground = _light(rng, level * bounce, tuple((0.5 + 0.5 * ground_tint).tolist()), (0.6, 1.2))
        sun = _light(rng, 1.6 * photo.sun * level, (1.0, 0.93, 0.82), (0.7, 1.2))
        extra = {"photo": photo.path, "photo_turn": turn, "photo_gain": photo.gain * float(rng.uniform(0.5, 1.5)),
                 "photo_leaf": float(rng.uniform(1.2, 3.0)), "photo_zoom": float(rng.uniform(2.5, 7.0))}  # fmt: skip
    return Lighting(
        to_sun, sun, sky, ground, lamp, camera, lamp_place, sky_heat=float(rng.uniform(0, 0.08)),
        edge_cool=float(rng.uniform(0.03, 0.22)), softness=softness, occlusion=float(rng.uniform(1.2, 2.2)),
        fog=float(rng.uniform(0.45, 0.85)) if fog else (float(rng.uniform(0.05, 0.3)) if rain else 0.0),
        fog_level=float(rng.uniform(0.25, 0.6)) * (0.5 if night else 1.0),
        wet=float(rng.uniform(0.3, 0.75)) if rain else 0.0, **extra,  # type: ignore[arg-type]
    )  # fmt: skip
