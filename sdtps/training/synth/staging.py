"""Who and what is in the frame, where, and who hides whom."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from .body import paint_person
from .canvas import Canvas
from .identity import Identity, draw_identity
from .materials import Material, MaterialTable, cloth_colour
from .noise import noise_bank
from .pose import Placement, Pose, draw_pose
from .types import (
    CANVAS_H,
    CANVAS_W,
    HEIGHT,
    MAIN_OWNER,
    MARGIN,
    OBJECT_OWNER,
    PART_BITS,
    PARTS,
    WIDTH,
    FloatArray,
    Part,
    Rng,
    pick,
    vector,
)

Layers = tuple[np.ndarray, np.ndarray, np.ndarray]

_MIN_COVER = 0.1
_BAG_PIXELS = 25
_ATTEMPTS = 6


@dataclass(frozen=True)
class Stage:
    """The painted cast of one shot."""

    canvas: Canvas
    table: MaterialTable
    place: Placement
    tags: frozenset[str]

    def owners(self) -> np.ndarray:
        """(CANVAS_H, CANVAS_W) owner per pixel; 0 is background."""
        return self.canvas.label >> PART_BITS


def _inside(mask: np.ndarray) -> np.ndarray:
    return mask[MARGIN : MARGIN + HEIGHT, MARGIN : MARGIN + WIDTH]


def _owners_seen(canvas: Canvas) -> np.ndarray:
    """(256, 128) owner per pixel of the frame."""
    return _inside(canvas.label) >> PART_BITS


def _main_placement(rng: Rng, tilt: float, cut: bool) -> Placement:
    """Where the main person stands: boxes of detectors fit closely and are stretched to the frame's width."""
    crop = "tight" if cut else pick(rng, {"usual": 0.77, "loose": 0.06, "tight": 0.17})
    low, high = {"usual": (0.85, 0.98), "loose": (0.7, 0.84), "tight": (1.02, 1.25)}[crop]
    # Hair, soles and the tilted view add a little to the bare height.
    total = HEIGHT * rng.uniform(low, high)
    height = total / 1.05
    top = MARGIN + (HEIGHT - total) * rng.uniform(0, 1)
    x = rng.normal(CANVAS_W / 2, 9) if rng.random() < 0.5 else rng.uniform(0.2, 0.8) * CANVAS_W
    return Placement(float(x), float(top + total - 0.025 * height), float(height), float(rng.uniform(1.15, 1.65)), tilt)


def _companion_placement(rng: Rng, main: Placement, front: bool) -> Placement:
    """Beside the main person, often cut by the frame; behind are smaller, in front are larger."""
    side = 1 if rng.random() < 0.5 else -1
    gap = rng.uniform(0.12, 0.42) if rng.random() < 0.75 else rng.uniform(0.0, 0.2)
    x = main.x + side * gap * main.height
    if rng.random() < 0.3:
        x = rng.uniform(-12, 20) if side < 0 else rng.uniform(CANVAS_W - 20, CANVAS_W + 12)
    ratio = rng.uniform(0.95, 1.3) if front else rng.uniform(0.55, 1.05)
    ground = (
        main.ground + (rng.uniform(0.0, 0.12) if front else -rng.uniform(0.0, 0.25) * (1.1 - ratio) * 2) * main.height
    )
    return Placement(float(x), float(ground), main.height * ratio, main.stretch, main.tilt)


def _layers(canvas: Canvas) -> Layers:
    return canvas.label, canvas.across, canvas.along


def _save(canvas: Canvas) -> Layers:
    label, across, along = _layers(canvas)
    return label.copy(), across.copy(), along.copy()


def _restore(canvas: Canvas, saved: Layers) -> None:
    for now, then in zip(_layers(canvas), saved, strict=True):
        np.copyto(now, then)


def _paint_object(rng: Rng, canvas: Canvas, table: MaterialTable, main: Placement) -> None:
    """A pole, railing, car bonnet, bush or board between camera and person."""
    label = OBJECT_OWNER * PARTS + 1
    rgb = cloth_colour(rng)
    leafy = rng.random() < 0.3
    if leafy:
        rgb = (0.03 * rng.uniform(0.5, 3), 0.05 * rng.uniform(0.5, 3), 0.02)
    texture = rng.uniform(0.3, 0.8) if leafy else rng.uniform(0.02, 0.2)
    table.put(
        label, Material(rgb, float(rng.uniform(0.05, 0.8)), float(rng.uniform(0.05, 0.35)), float(texture), 0.2, 0.03)
    )
    kind = "bush" if leafy else pick(rng, {"pole": 0.4, "railing": 0.25, "car": 0.2, "board": 0.15})
    if kind == "pole":
        x, radius = main.x + rng.normal(0, 0.12) * main.height, rng.uniform(2, 8)
        canvas.capsule(vector(x, -10), vector(x + rng.normal(0, 4), CANVAS_H + 10), radius, radius, label)
    elif kind == "railing":
        y = rng.uniform(0.62, 0.85) * CANVAS_H
        for row in (y, y + rng.uniform(15, 40)):
            canvas.capsule(vector(-5, row), vector(CANVAS_W + 5, row + rng.normal(0, 5)), 1.8, 1.8, label)
        for x in np.arange(rng.uniform(0, 10), CANVAS_W, rng.uniform(9, 26)).tolist():
            canvas.capsule(vector(x, y), vector(x, CANVAS_H + 5), 1.3, 1.3, label)
    elif kind == "car":
        x = rng.uniform(-20, CANVAS_W + 20)
        canvas.blob(
            vector(x, CANVAS_H + rng.uniform(-10, 20)), rng.uniform(40, 90), rng.uniform(30, 70), label, power=4.0
        )
    elif kind == "board":
        centre = vector(main.x + rng.normal(0, 30), rng.uniform(0.6, 1.0) * CANVAS_H)
        canvas.blob(centre, rng.uniform(12, 30), rng.uniform(15, 40), label, power=8.0)
    else:
        for _ in range(int(rng.integers(2, 6))):
            centre = vector(main.x + rng.normal(0, 30), CANVAS_H - rng.uniform(0, 50))
            canvas.blob(centre, rng.uniform(10, 28), rng.uniform(12, 36), label, power=2.0)


def _paint_occluder(
    rng: Rng, canvas: Canvas, table: MaterialTable, main: Placement, owner: int, certain: bool
) -> frozenset[str]:
    """Something in front that hides part of the main person but never most of them."""
    before = int((_owners_seen(canvas) == MAIN_OWNER).sum())
    saved = _save(canvas)
    for _ in range(_ATTEMPTS if certain else 2):
        tags = {"occluded"}
        if rng.random() < 0.5:
            stranger = draw_identity(rng)
            place = _companion_placement(rng, main, front=True)
            paint_person(canvas, table, stranger, draw_pose(rng, stranger), place, owner, rng, stranger.has_bag)
            tags.add("two_people")
        else:
            _paint_object(rng, canvas, table, main)
        left = int((_owners_seen(canvas) == MAIN_OWNER).sum())
        if 0.5 * before < left < 0.97 * before:
            return frozenset(tags)
        _restore(canvas, saved)
    return frozenset()


def _paint_main(
    rng: Rng, canvas: Canvas, table: MaterialTable, who: Identity, tilt: float, force: frozenset[str]
) -> tuple[Placement, Pose, bool]:
    """Paint the main person so that enough of them, and of a demanded bag, is seen."""
    saved = _save(canvas)
    with_bag = "bag" in force or (who.has_bag and rng.random() < 0.93)
    for attempt in range(_ATTEMPTS):
        _restore(canvas, saved)
        place = _main_placement(rng, tilt, "cut_off" in force)
        arms = {1: "raised"} if who.has_umbrella and rng.random() < 0.5 else None
        if with_bag and who.bag.kind in ("handbag", "shopping", "suitcase") and rng.random() < 0.7:
            arms = {who.bag.side: "carry"}
        pose = draw_pose(rng, who, arms)
        paint_person(canvas, table, who, pose, place, MAIN_OWNER, rng, with_bag)
        seen = _inside(canvas.label)
        bag_seen = (
            int(((seen == MAIN_OWNER * PARTS + Part.BAG) | (seen == MAIN_OWNER * PARTS + Part.STRAP)).sum())
            > _BAG_PIXELS
        )
        enough = (seen >> PART_BITS == MAIN_OWNER).mean() > _MIN_COVER
        if attempt == _ATTEMPTS - 1 or (enough and (bag_seen or "bag" not in force)):
            break
    return place, pose, bag_seen


def set_stage(rng: Rng, who: Identity, tilt: float, force: frozenset[str]) -> Stage:
    """Paint bystanders, the main person and occluders, far to near."""
    canvas = Canvas(noise_bank().draw(rng, "outline"), float(rng.uniform(0.02, 0.08)))
    table = MaterialTable()
    tags: set[str] = set()
    owner = MAIN_OWNER + 1
    rough = _main_placement(rng, tilt, False)
    crowd = int(rng.random() < 0.36) + int(rng.random() < 0.1)
    for _ in range(max(crowd, int("two_people" in force))):
        stranger = draw_identity(rng)
        place = _companion_placement(rng, rough, front=False)
        arms = {1 if place.x < rough.x else -1: "reach"} if rng.random() < 0.15 else None
        paint_person(canvas, table, stranger, draw_pose(rng, stranger, arms), place, owner, rng, stranger.has_bag)
        owner += 1
    place, _, bag_seen = _paint_main(rng, canvas, table, who, tilt, force)
    if "two_people" in force and not (_owners_seen(canvas) > MAIN_OWNER).any():
        stranger = draw_identity(rng)
        x = 16.0 if place.x > CANVAS_W / 2 else CANVAS_W - 16.0
        beside = Placement(x, place.ground, place.height * 0.95, place.stretch, tilt)
        saved = _save(canvas)
        paint_person(canvas, table, stranger, draw_pose(rng, stranger), beside, owner, rng, False)
        # They stand behind: give the main person their pixels back.
        keep = saved[0] >> PART_BITS == MAIN_OWNER
        for now, then in zip(_layers(canvas), saved, strict=True):
            np.copyto(now, then, where=keep)
        owner += 1
    if "occluded" in force or rng.random() < 0.16:
        tags |= _paint_occluder(rng, canvas, table, place, owner, "occluded" in force)
    seen = _owners_seen(canvas)
    main = seen == MAIN_OWNER
    if ((seen > MAIN_OWNER) & (seen < OBJECT_OWNER)).sum() > 60:
        tags.add("two_people")
    if bag_seen:
        tags.add("bag")
    if main[0].sum() > 3 or main[-1].sum() > 6 or main[:, (0, -1)].sum() > 24:
        tags.add("cut_off")
    return Stage(canvas, table, place, frozenset(tags))


def cast_shadow(rng: Rng, place: Placement) -> FloatArray:
    """Darkening of the ground around the feet, (CANVAS_H, CANVAS_W) in 0..1, 1 where unshaded."""
    image = Image.new("L", (CANVAS_W // 2, CANVAS_H // 2), 255)
    draw = ImageDraw.Draw(image)
    x, y, size = place.x / 2, place.ground / 2, place.height / 2
    dark = int(255 * rng.uniform(0.25, 0.9))
    draw.ellipse((x - 0.16 * size, y - 0.03 * size, x + 0.16 * size, y + 0.03 * size), fill=dark)
    if rng.random() < 0.5:
        end_x, end_y = x + rng.normal(0, 0.5) * size, y - rng.uniform(-0.25, 0.2) * size
        draw.polygon(
            [(x - 0.08 * size, y), (x + 0.08 * size, y), (end_x + 0.1 * size, end_y), (end_x - 0.1 * size, end_y)],
            fill=dark,
        )
    image = image.filter(ImageFilter.BoxBlur(float(rng.uniform(0.5, 3)))).resize(
        (CANVAS_W, CANVAS_H), Image.Resampling.BILINEAR
    )
    return np.asarray(image, np.float32) / np.float32(255)
