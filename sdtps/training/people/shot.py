"""One sample: identity, camera and view number to a finished image set."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sdtps.training.people.body.gait import draw_stance
from sdtps.training.people.body.shape import Build
from sdtps.training.people.body.turns import Y, about
from sdtps.training.people.street import things
from sdtps.training.people.street.daylight import draw_lighting
from sdtps.training.people.street.site import Site, site_of
from sdtps.training.people.view import develop
from sdtps.training.people.view.raster import Seen, raster
from sdtps.training.people.view.surface import Mesh, Owner
from sdtps.training.people.view.window import Window, crop, look_from, spread
from sdtps.training.people.wear.dressed import arms_for, dress, stand
from sdtps.training.people.wear.wardrobe import Person, person_of
from sdtps.training.synth import degrade
from sdtps.training.synth.camera import CAMERAS, Conditions, draw_conditions
from sdtps.training.synth.triplet import draw_faults, finish
from sdtps.training.synth.types import CANVAS_W, HEIGHT, MARGIN, TAGS, WIDTH, Rng, SynthSample, clamp, pick

PASSERS_BY = 14  # strangers of each world, who come again
_STRANGERS = 1_000_000
_AIM = 8.5
_ATTEMPTS = 5
_LEAST = 0.1  # share of the frame that the person covers at least
RENDERED_TAGS = TAGS | {"rain", "bicycle", "pram", "umbrella", "backpack"}


@dataclass(frozen=True)
class Wish:
    """What a shot shall be like: world, tags that must happen, light and weather."""

    seed: int
    force: frozenset[str]
    conditions: Conditions
    rain: bool


@dataclass(frozen=True)
class Cast:
    """Who and what is in front of the site, and how the crop lies."""

    meshes: list[Mesh]
    window: Window
    tags: frozenset[str]


def _action(rng: Rng, force: frozenset[str], rain: bool) -> str:
    for name in ("bicycle", "pram", "umbrella"):
        if name in force:
            return name
    return pick(
        rng, {"none": 0.9 if not rain else 0.6, "bicycle": 0.04, "pram": 0.02, "umbrella": 0.4 if rain else 0.02}
    )


def _posed(rng: Rng, person: Person, with_bag: bool, action: str, owner: Owner) -> list[Mesh]:
    stance = draw_stance(rng, arms_for(person, with_bag, action), action == "bicycle")
    return dress(rng, person, stance, with_bag, action, owner)


def _strangers(rng: Rng, seed: int, bearing: float, force: frozenset[str]) -> list[Mesh]:
    """People who pass by, mostly behind and beside, sometimes in front."""
    count = int(rng.random() < 0.38) + int(rng.random() < 0.12)
    parts: list[Mesh] = []
    for k in range(max(count, int("two_people" in force))):
        stranger = person_of(_STRANGERS + int(rng.integers(PASSERS_BY)), seed)
        side = 1 if rng.random() < 0.5 else -1
        front = rng.random() < 0.28 and not ("two_people" in force and k == 0)
        x = side * (rng.uniform(4.2, 8.5) if front or rng.random() < 0.8 else rng.uniform(2.5, 5))
        z = rng.uniform(3, 14) if front else -rng.uniform(2, 34)
        if "two_people" in force and k == 0:
            x, z = side * rng.uniform(4.2, 5.6), -rng.uniform(1, 6)
        heading = bearing + rng.normal(0, 0.3) if rng.random() < 0.55 else rng.uniform(-np.pi, np.pi)
        posed = _posed(rng, stranger, bool(rng.random() < 0.8), "none", Owner.OTHER)
        parts += stand(posed, heading, np.array([x, 0, z]))
    return parts


def _crop(rng: Rng, main: list[Mesh], site: Site, force: frozenset[str]) -> Window:
    """As detectors crop: close around the person, stretched to the frame, sometimes too tight."""
    height = clamp(site.height + rng.normal(0, 2), 14, 60)
    distance = float(site.distance * rng.uniform(0.65, 1.45))
    camera, eye = look_from(height, distance, _AIM)
    points = np.concatenate([mesh.points[::3] for mesh in main])
    x0, x1, y0, y1 = spread(points, camera)
    kind = "tight" if "cut_off" in force else pick(rng, {"usual": 0.77, "loose": 0.06, "tight": 0.17})
    low, high = {"usual": (0.87, 0.985), "loose": (0.7, 0.86), "tight": (1.02, 1.22)}[kind]
    total = HEIGHT * rng.uniform(low, high)
    scale_y = total / (y1 - y0)
    scale_x = scale_y * rng.uniform(0.98, 1.5)
    if (wide := scale_x * (x1 - x0)) > 1.08 * WIDTH:
        scale_x = max(scale_x * 1.08 * WIDTH / wide * rng.uniform(0.85, 1), 0.62 * scale_y)
    slack = max(WIDTH - scale_x * (x1 - x0), 0)
    x = CANVAS_W / 2 + (rng.uniform(-0.5, 0.5) if rng.random() < 0.5 else rng.normal(0, 0.2)) * slack + rng.normal(0, 3)
    top = MARGIN + (HEIGHT - total) * rng.uniform(0, 1)
    return crop(camera, eye, ((x0 + x1) / 2, y1), (scale_x, scale_y), (float(x), float(top)))


def _cast(rng: Rng, person: Person, site: Site, wish: Wish) -> Cast:
    force = wish.force
    action = _action(rng, force, wish.rain)
    with_bag = ("bag" in force or rng.random() < 0.93) and person.bag is not None
    bearing = float(rng.uniform(-np.pi, np.pi))
    if action in ("bicycle", "pram"):
        # Wheels show from the side.
        bearing = float(rng.choice((-1, 1)) * rng.uniform(0.7, 1.9))
    if "backpack" in force:
        bearing = float(np.pi + rng.uniform(-0.9, 0.9))
    main = stand(_posed(rng, person, with_bag, action, Owner.MAIN), bearing, np.zeros(3))
    meshes = [*main, *_strangers(rng, wish.seed, bearing, force)]
    window = _crop(rng, main, site, force)
    tags = {"bag"} if with_bag and action not in ("bicycle", "pram") else set()
    if "occluded" in force or rng.random() < 0.09:
        tags.add("occluded")
        place = np.array([0, 0, rng.uniform(5, 12)])
        meshes += things.in_front(rng, place, site.camera.ground_heat)
    if action != "none":
        tags.add(action)
    where = about(Y, site.bearing)
    shift = np.array([rng.uniform(-35, 35), 0.0, rng.uniform(-8, 6)])
    meshes += [mesh.moved(where, shift) for mesh in site.meshes]
    return Cast(meshes, window, frozenset(tags))


def _enough(seen: Seen, force: frozenset[str], alone: float) -> bool:
    cover = float(seen.person.mean())
    if "two_people" in force and seen.others.mean() < 0.05:
        return False
    if "occluded" in force and not 0.5 < cover / max(alone, 1e-3) < 0.93:
        return False
    return cover > _LEAST and cover > 0.45 * alone


def render(rng: Rng, person: Person, site: Site, wish: Wish, scale: int, fine: int) -> tuple[Seen, Cast]:
    """Pose, light and draw until enough of the person shows."""
    for attempt in range(_ATTEMPTS):
        cast = _cast(rng, person, site, wish)
        lighting = draw_lighting(rng, site, wish.conditions, wish.rain)
        seen = raster(scale, fine).render(cast.meshes, cast.window, lighting)
        hidden = "occluded" in cast.tags or seen.others.mean() > 0.15
        alone = 1.0
        if hidden:
            main = [mesh for mesh in cast.meshes if mesh.owner is Owner.MAIN]
            alone = float(raster(1, 1).render(main, cast.window, lighting).person.mean())
        else:
            alone = float(seen.person.mean())
        if _enough(seen, wish.force, alone) or attempt == _ATTEMPTS - 1:
            break
    return seen, cast


def sample(pid: int, view: int, seed: int = 0, force: Iterable[str] = (), scale: int = 1, fine: int = 2,
           least: float = 0.0, body: Build | None = None) -> SynthSample:  # fmt: skip
    """Generate one image set; the same arguments always give the same bytes on one machine.

    Args:
        pid: identity label, 0 or more; decides body, clothes and bag.
        view: view number, 0 or more; the camera is `view % 4 + 1`, all else is random.
        seed: the world; identities and cameras differ between worlds.
        force: tags that must happen; see `RENDERED_TAGS`. Sensor faults then happen only if named.
        scale: 1 for 128x256 pictures, 2 for 256x512.
        fine: samples per pixel and side.
        least: sharpness that the sensors keep at least, 0 to 1.
        body: another body in the same clothes.
    """
    force = frozenset(force)
    if unknown := force - RENDERED_TAGS:
        raise ValueError(f"Unknown tags {sorted(unknown)}; use some of {sorted(RENDERED_TAGS)}.")
    if min(pid, view, seed) < 0:
        raise ValueError("pid, view and seed must not be negative.")
    rng = np.random.default_rng(np.random.SeedSequence([seed, pid, view], spawn_key=(7,)))
    cam = view % CAMERAS + 1
    site = site_of(cam, seed)
    faults = draw_faults(rng, force)
    conditions = draw_conditions(rng, force | (faults & {"black_rgb"}))
    rain = "rain" in force or (rng.random() < 0.05 and not force)
    wish = Wish(seed, force, conditions, rain)
    seen, cast = render(rng, person_of(pid, seed, body), site, wish, scale, fine)
    height, width = seen.heat.shape
    frame = develop.Frame(height, width)
    rgb = develop.colour_picture(rng, seen, site.camera, conditions, frame)
    nir = develop.infrared_picture(rng, seen, site.camera, conditions, frame)
    tir = develop.thermal_picture(rng, seen, conditions, frame)
    if rain:
        strength = float(rng.uniform(0.04, 0.16))
        rgb, nir = develop.rain_on(rng, rgb, strength), develop.rain_on(rng, nir, strength * 0.7)
    people = seen.person + seen.others > 0.5
    pictures = finish(rng, rgb, nir, tir, people, site.camera, faults, degrade.Recording(scale, 3.4, least))
    weather = {"night" if conditions.night else "day"}
    weather |= {n for n, happens in (("glare", conditions.glare), ("fog", conditions.fog), ("rain", rain)) if happens}
    person, others = (degrade.crop(share > 0.5, scale) for share in (seen.person, seen.others))
    company = {"two_people"} if others.mean() > 0.02 else set()
    return SynthSample(*pictures, person, others, pid, cam, cast.tags | faults | weather | company)
