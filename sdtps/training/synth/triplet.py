"""One sample: identity, camera and view number to a finished triplet."""

from collections.abc import Iterable

import numpy as np

from . import degrade
from .camera import CAMERAS, Camera, camera_of, draw_conditions
from .identity import identity_of
from .scene import draw_scene
from .sensors import build_world, see_nir, see_rgb, see_tir
from .staging import cast_shadow, set_stage
from .types import MAIN_OWNER, OBJECT_OWNER, TAGS, ByteArray, FloatArray, Rng, SynthSample, clamp

_FAULTS = {
    "black_rgb": 0.05,
    "saturated_nir": 0.02,
    "flat_tir": 0.02,
    "missing_rgb": 0.005,
    "missing_nir": 0.005,
    "missing_tir": 0.005,
}
_BLACK_MEAN = 9.0
_HARD_SHARE = 0.15


def draw_faults(rng: Rng, force: frozenset[str]) -> frozenset[str]:
    """Sensor faults: by chance, or those that are named."""
    if force:
        return force & frozenset(_FAULTS)
    return frozenset(fault for fault, chance in _FAULTS.items() if rng.random() < chance)


def _grey(image: ByteArray) -> ByteArray:
    return np.repeat(image[..., None], 3, -1)


def finish(
    rng: Rng,
    rgb: FloatArray,
    nir: FloatArray,
    tir: FloatArray,
    people: np.ndarray,
    camera: Camera,
    faults: frozenset[str],
    how: degrade.Recording = degrade.AS_DRAWN,
) -> tuple[ByteArray, ByteArray, ByteArray]:
    """Faults and camera artefacts; three (256, 128, 3) uint8 pictures. See `degrade.Recording` for `how`."""
    if rng.random() < 0.35:
        rgb, nir = degrade.smear_people(rng, rgb, people), degrade.smear_people(rng, nir, people)
    if rng.random() < 0.55:
        rgb = degrade.stretch_contrast(rng, rgb)
    if rng.random() < 0.4:
        nir = degrade.stretch_contrast(rng, nir)
    if "black_rgb" in faults:
        rgb = degrade.blacken(rng, rgb)
    if "saturated_nir" in faults:
        nir = degrade.saturate(rng, nir)
    if "flat_tir" in faults:
        tir = degrade.flatten(rng, tir)
    rgb8 = degrade.record(rng, rgb, camera, "rgb", how)
    nir8 = _grey(degrade.record(rng, nir, camera, "nir", how))
    tir8 = degrade.inferno()[degrade.record(rng, tir, camera, "tir", how)]
    if "black_rgb" in faults and rgb8.mean() > _BLACK_MEAN:
        rgb8 = (rgb8 * (_BLACK_MEAN / rgb8.mean())).astype(np.uint8)
    return (
        degrade.missing(how.scale) if "missing_rgb" in faults else rgb8,
        degrade.missing(how.scale) if "missing_nir" in faults else nir8,
        degrade.missing(how.scale) if "missing_tir" in faults else tir8,
    )


def sample(pid: int, view: int, seed: int = 0, force: Iterable[str] = ()) -> SynthSample:
    """Generate one triplet; the same arguments always give the same bytes.

    Args:
        pid: identity label, 0 or more; decides build, clothes and bag.
        view: view number, 0 or more; the camera is ``view % 4 + 1``, all else is random.
        seed: the world; identities and cameras differ between worlds.
        force: tags that must happen, e.g. ``{"night", "bag"}``; see ``TAGS``. Sensor faults then happen only if named.
    """
    force = frozenset(force)
    if unknown := force - TAGS:
        raise ValueError(f"Unknown tags {sorted(unknown)}; use some of {sorted(TAGS)}.")
    if min(pid, view, seed) < 0:
        raise ValueError("pid, view and seed must not be negative.")
    rng = np.random.default_rng(np.random.SeedSequence([seed, pid, view]))
    cam = view % CAMERAS + 1
    camera = camera_of(cam, seed)
    faults = draw_faults(rng, force)
    conditions = draw_conditions(rng, force | (faults & {"black_rgb"}))
    tilt = clamp(camera.tilt + rng.normal(0, 0.06), 0, 0.4)
    who = identity_of(pid, seed)
    stage = set_stage(rng, who, tilt, force)
    # Hard scenes borrow the clothes' own colours and may be as warm as a cool jacket.
    hard = rng.random() < _HARD_SHARE
    scene = draw_scene(
        rng,
        horizon=clamp(camera.horizon + rng.normal(0, 35), -30, 190),
        lightness=camera.lightness * float(rng.uniform(0.6, 1.4)),
        ground_heat=clamp(camera.ground_heat + rng.normal(0, 0.06), 0.08, 0.42),
        upper_heat=clamp(camera.upper_heat + rng.normal(0, 0.04), 0.0, 0.25) + (rng.uniform(0, 0.25) if hard else 0.0),
        bias=camera.scene_bias,
        lookalikes=tuple(who.materials[name] for name in ("TOP", "BOTTOM", "HAIR")) if hard else (),
    )
    world = build_world(rng, stage.canvas, stage.table, scene, cast_shadow(rng, stage.place))
    rgb, nir, tir = finish(
        rng,
        see_rgb(rng, world, camera, conditions),
        see_nir(rng, world, camera, conditions),
        see_tir(rng, world, conditions),
        world.people,
        camera,
        faults,
    )
    owners = degrade.crop(stage.owners())
    weather = {"night" if conditions.night else "day"}
    weather |= {name for name, happens in (("glare", conditions.glare), ("fog", conditions.fog)) if happens}
    return SynthSample(
        rgb=rgb,
        nir=nir,
        tir=tir,
        person=owners == MAIN_OWNER,
        others=(owners > MAIN_OWNER) & (owners < OBJECT_OWNER),
        pid=pid,
        cam=cam,
        tags=stage.tags | faults | weather,
    )
