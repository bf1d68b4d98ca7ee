"""Where a camera hangs: the ground it overlooks, what stands around, its height and the way it sees."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sdtps.training.people.street import things
from sdtps.training.people.street.things import paint, sheet
from sdtps.training.people.view.surface import Kind, Mesh, Surface
from sdtps.training.people.wear.meshes import box, solid
from sdtps.training.synth.camera import CAMERAS, Camera, camera_of
from sdtps.training.synth.types import Rng, clamp, pick

_STREAM = 6
_PHOTOGRAPHED = 0.3  # share of cameras that look at a photograph
WIDE = 700.0


@dataclass(frozen=True)
class Site:
    """One camera's place.

    Attributes:
        camera: its sensor's habits, shared with the drawn generator.
        height, distance: decimetres, around which shots scatter.
        photographed: the background is an environment photograph.
        number: picks which photograph.
        bearing: how the street runs across the view.
        meshes: ground and things around the place where people pass.
    """

    camera: Camera
    height: float
    distance: float
    photographed: bool
    number: int
    bearing: float
    meshes: tuple[Mesh, ...]


def _ground(rng: Rng, kind: str, heat: float) -> Surface:
    if kind == "grass":
        green = things.leaf_colour(rng, 0.6, 1.8)
        return Surface(Kind.GRASS, green, float(rng.uniform(0.25, 0.75)), heat - float(rng.uniform(0.03, 0.12)),
                       (0.13, 0.1, 0.05), seed=float(rng.uniform(0, 50)))  # fmt: skip
    if kind == "slabs":
        base = paint(rng, 0.08, 0.5, heat, Kind.SLABS, 0.04, 0.04)
        return base.but(
            period=float(rng.uniform(1.8, 7)),
            duty=float(rng.random() < 0.5),
            pattern=int(rng.random() < 0.15),
            second=tuple(np.clip(np.array(base.colour) * rng.uniform(0.5, 1.4, 3), 0.01, 1).tolist()),
        )
    low, high = (0.04, 0.22) if kind == "road" else (0.1, 0.5)
    return paint(rng, low, high, heat, Kind.ASPHALT, 0.03, 0.02).but(pattern=0)


def _strip(z0: float, z1: float, y: float, surface: Surface, turned: bool = False) -> Mesh:
    corners = np.array([[-WIDE, y, z1], [WIDE, y, z1], [WIDE, y, z0], [-WIDE, y, z0]], np.float32)
    rest = corners[:, [2, 1, 0]] if turned else corners
    shape, rest = sheet(corners, rest)
    return solid(shape, surface, rest=rest, shadow=False)


def _grounds(rng: Rng, heat: float) -> list[Mesh]:
    """Strips that follow one another away from the camera, people pass on the one around z = 0."""
    kinds = {"road": 0.4, "pavement": 0.25, "slabs": 0.25, "grass": 0.1}
    parts = [_strip(-WIDE, WIDE, -0.6, _ground(rng, pick(rng, kinds), heat))]
    z, level = float(rng.uniform(10, 40)), 0.0
    while z > -160:
        depth = float(rng.uniform(8, 60))
        kind = pick(rng, kinds if z < -2 or z - depth > 2 else {**kinds, "grass": 0.06})
        heat_here = heat + float(rng.normal(0, 0.02))
        parts.append(_strip(z - depth, z, level, _ground(rng, kind, heat_here)))
        if kind == "road" and rng.random() < 0.6:
            white = _ground(rng, "road", heat_here).but(
                colour=parts[-1].surface.colour,
                nir=parts[-1].surface.nir,
                second=(0.75, 0.75, 0.72),
                second_nir=0.75,
                pattern=1,
                period=float(rng.uniform(5, 10)),
                duty=float(rng.uniform(0.4, 0.6)),
                phase=float(rng.random()),
            )
            wide = depth if rng.random() < 0.6 else min(depth, 4.0)
            parts.append(_strip(z - wide, z, level + 0.02, white, turned=bool(rng.random() < 0.65)))
        if rng.random() < 0.4:
            kerb = paint(rng, 0.15, 0.75, heat_here)
            parts.append(solid(box((2 * WIDE, 1.2, 1.2), (0, level - 0.35, z - depth), 14), kerb, shadow=False))
        z -= depth
        level += 0.004
    return parts


def _around(rng: Rng, heat: float, wall_heat: float) -> list[Mesh]:
    parts: list[Mesh] = []
    back = -float(rng.uniform(25, 220))
    if rng.random() < 0.85:
        x = -260.0
        while x < 260:
            width = float(rng.uniform(30, 140))
            parts += things.wall(rng, x, x + width, back + rng.normal(0, 4), float(rng.uniform(25, 140)), wall_heat)
            x += width + (rng.uniform(0, 25) if rng.random() < 0.4 else 0)
    kinds = {"columns": 0.12, "arches": 0.1, "fence": 0.14, "pole": 0.2, "car": 0.1, "bush": 0.14, "tree": 0.08,
             "boxes": 0.12, "parked": 0.05, "lit": 0.05}  # fmt: skip
    for _ in range(int(rng.integers(6, 18))):
        x, z = float(rng.uniform(-45, 45)), float(rng.uniform(max(back, -160), -7))
        kind = pick(rng, kinds)
        if kind == "lit":
            parts += things.lit_pane(rng, x, z)
        elif kind == "car":
            parts += things.car(rng, x * 2, min(z, -18.0), heat, float(rng.normal(0, 0.3)))
        else:
            makers = {
                "columns": things.columns,
                "arches": things.arches,
                "fence": things.fence,
                "pole": things.pole,
                "bush": things.bush,
                "tree": things.tree,
                "boxes": things.boxes,
                "parked": things.parked,
            }
            warmth = heat if kind in ("pole", "boxes", "parked") and rng.random() < 0.4 else wall_heat
            parts += makers[kind](rng, x, z, warmth)
    return parts


@lru_cache(maxsize=16)
def site_of(cam: int, seed: int = 0) -> Site:
    """The place of camera `cam` (1 to 4) in the world `seed`."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, cam], spawn_key=(_STREAM,)))
    camera = camera_of(cam, seed)
    if not 1 <= cam <= CAMERAS:
        raise ValueError(f"Cameras are 1 to {CAMERAS}.")
    photographed = bool(rng.random() < _PHOTOGRAPHED)
    meshes = (
        []
        if photographed
        else [*_grounds(rng, camera.ground_heat), *_around(rng, camera.ground_heat, camera.upper_heat)]
    )
    if photographed:
        plane = Surface(Kind.PHOTO, heat=camera.ground_heat)
        meshes = [_strip(-WIDE, WIDE, 0.0, plane)]
        if rng.random() < 0.4:
            meshes += things.pole(rng, float(rng.uniform(-8, 8)), float(rng.uniform(-60, -8)), camera.upper_heat)
    return Site(
        camera, float(rng.uniform(18, 48)), float(rng.uniform(70, 190)), photographed, int(rng.integers(1000)),
        clamp(rng.normal(0, 0.35), -0.8, 0.8), tuple(meshes),
    )  # fmt: skip
