"""Heads: the face's colours, eyes, hair of several cuts, hats and hoods."""

from dataclasses import dataclass, replace

import numpy as np

from sdtps.training.people.body.assets import bodies
from sdtps.training.people.body.shape import joint
from sdtps.training.people.body.skeleton import normals
from sdtps.training.people.view.surface import Kind, Surface
from sdtps.training.people.wear import meshes
from sdtps.training.people.wear.piece import Piece, riding, shell, weight_of
from sdtps.training.synth.types import FloatArray


@dataclass(frozen=True)
class Cut:
    """A hair cut: thickness, lower end in the base mesh's height, how far the front comes down, size of the tail."""

    kind: str
    thick: float
    end: float
    fringe: float
    tail: float


def skin_parts(body: FloatArray, surface: Surface, arms: float, legs: float, feet: bool, brows: float,
               beard: float, seed: float) -> list[Piece]:  # fmt: skip
    """Head, neck and hands, and as much of arms (0 to 1) and legs (0 to 1) as clothes leave bare, with eyes."""
    rest = bodies().rest
    y = rest[:, 1]
    head = weight_of("neck01", "neck02", "neck03", "head") > 0.05
    chest = (y > 4.3) & (weight_of("upperarm01", "lowerarm01") < 0.3)
    where = head | chest | (weight_of("wrist") > 0.1)
    if arms > 0:
        where |= (weight_of("lowerarm01") > 0.15) | ((arms > 0.5) & (weight_of("upperarm01") > 0.3))
    if legs > 0:
        where |= (weight_of("upperleg01", "lowerleg01", "foot") > 0.4) & (y < -7.0 + 7.5 * legs)
    if feet:
        where |= weight_of("foot") > 0.1
    flat = np.zeros(len(rest), np.float32)
    parts = [shell(body, "body", where, surface, flat, face_paint(brows, beard))]
    white = Surface(Kind.PLAIN, (0.5, 0.48, 0.46), 0.4, surface.heat - 0.04, grain=0.0, seed=seed)
    for side in "lr":
        group = f"helper-{side}-eye"
        used = np.unique(bodies().faces[group])
        mask = np.zeros(len(rest), bool)
        mask[used] = True
        paint = np.ones((len(rest), 4), np.float32)
        paint[:, 3] = 0
        iris = rest[:, 2] > rest[used, 2].max() - 0.06
        paint[iris & mask, :3] = 0.06
        parts.append(shell(body, group, mask, white, flat, paint))
    return parts


def face_paint(brows: float, beard: float) -> FloatArray:
    """(V, 4) factors on the skin's colour and shifts of its warmth: brows, lips, cheeks, nose, beard."""
    rest = bodies().rest
    x, y, z = np.abs(rest[:, 0]), rest[:, 1], rest[:, 2]
    eye, mouth = joint(rest, "eye.L"), rest[bodies().joints["jaw"]].mean(0)
    paint = np.ones((len(rest), 4), np.float32)
    paint[:, 3] = 0
    front = z > 0.75
    lips_y = eye[1] - 0.72
    brow = front & (np.abs(y - (eye[1] + 0.2 + 0.1 * (x - 0.3))) < 0.055) & (x > 0.1) & (x < 0.56)
    paint[brow, :3] *= 1 - brows
    socket = np.exp(-(((x - 0.31) / 0.2) ** 2) - ((y - eye[1]) / 0.12) ** 2) * front
    paint[:, :3] *= 1 - 0.35 * socket[:, None].astype(np.float32)
    lips = np.exp(-((x / 0.22) ** 4) - ((y - lips_y) / 0.075) ** 4) * (z > 1.0)
    paint[:, :3] *= 1 - lips[:, None].astype(np.float32) * np.array([0.1, 0.42, 0.36], np.float32)
    cheeks = np.exp(-(((x - 0.45) / 0.2) ** 2) - ((y - eye[1] + 0.4) / 0.22) ** 2) * front
    paint[:, :3] *= 1 - cheeks[:, None].astype(np.float32) * np.array([0.0, 0.12, 0.1], np.float32)
    stubble = front & (y < lips_y + 0.16) & (y > lips_y - 0.55) & (weight_of("head") > 0.5)
    paint[stubble, :3] *= 1 - 0.75 * beard
    nose = np.exp(-((x / 0.14) ** 2) - ((y - eye[1] + 0.4) / 0.2) ** 2) * (z > 1.25)
    paint[:, 3] -= 0.14 * nose + 0.05 * cheeks - 0.04 * socket
    neck = weight_of("neck01", "neck02", "neck03")
    paint[:, 3] += 0.03 * neck
    under_chin = (y < mouth[1] - 0.3) & (y > 5.6) & (z > 0.2)
    paint[under_chin, :3] *= 0.86
    return paint


def _scalp(low_front: float, low_back: float) -> np.ndarray:
    """(V,) bool: head vertices above a line that runs from the forehead over the ears to the nape."""
    rest = bodies().rest
    y, z = rest[:, 1], rest[:, 2]
    line = np.interp(z, [-0.8, -0.1, 0.35, 0.75, 1.2], [low_back, low_back + 0.15, 7.25, low_front - 0.25, low_front])
    ear = (np.abs(rest[:, 0]) > 0.72) & (y < 7.45) & (z > 0.1) & (z < 0.75)
    return (y > line) & (weight_of("head", "neck03", "neck02") > 0.4) & ~ear


def _wavy(points: FloatArray, amount: float, seed: float) -> FloatArray:
    p = points * 5 + seed
    return (amount * (np.sin(p[:, 0] * 1.3 + p[:, 1] * 0.4) * np.sin(p[:, 2] * 1.7 + p[:, 1] * 0.6))).astype(np.float32)


def _cap(body: FloatArray, where: np.ndarray, push: float, surface: Surface, ragged: float, bulge: float) -> Piece:
    rest = bodies().rest
    lift = push * np.clip((rest[:, 1] - 6.85) / 1.15, 0.14, 1.0) + bulge * np.clip((rest[:, 1] - 7.8) / 0.6, 0, 1)
    points = body + normals(body, bodies().faces["body"]) * (lift + _wavy(rest, push * 0.35, surface.seed))[:, None]
    return shell(points, "body", where, surface, np.full(len(rest), ragged))


def _curtain(body: FloatArray, cut: Cut, surface: Surface) -> Piece:
    """Hair that falls over ears and shoulders: a sheet around the back of the head that follows head, then chest."""
    top = joint(body, "head") + np.array([0, 0.75, 0.28])
    length = max(top[1] - (cut.end + joint(body, "head")[1] - 6.97), 0.8)
    turn, down = np.linspace(-2.0, 2.0, 25), np.linspace(0, 1, 12)
    rows = []
    for t in down:
        drop = t * length
        # Over the skull it swells, in the neck it draws in, on the shoulders it spreads.
        round_ = 0.86 + 0.14 * np.sin(min(drop / 0.9, 1) * np.pi) + 0.22 * np.clip((drop - 1.6) / 1.2, 0, 1)
        deep = 1.0 + 0.12 * np.sin(min(drop / 1.0, 1) * np.pi) - 0.25 * np.clip((drop - 1.2) / 1.0, 0, 1)
        wave = 1 + 0.05 * np.sin(turn * 9 + surface.seed) * t
        x, z = round_ * np.sin(turn) * wave, -deep * np.cos(turn) * wave
        rows.append(np.stack([top[0] + x, np.full(len(turn), top[1] - drop), top[2] + z - 0.1 * t], 1))
    points = np.concatenate(rows).astype(np.float32)
    points += _wavy(points, 0.03 + cut.thick * 0.1, surface.seed)[:, None]
    faces = np.concatenate([meshes.grid_faces(len(down), len(turn))])
    low = np.repeat(np.clip((down * length - 0.9) / 1.4, 0, 1), len(turn))[:, None]
    piece = riding((points, faces), "head", surface)
    weights = piece.weights * (1 - low) + riding((points, faces), "spine01", surface).weights * low
    ends = np.repeat(0.4 + 0.9 * down**6, len(turn)).astype(np.float32)
    return replace(piece, weights=weights.astype(np.float32), loose=ends)


def hair(body: FloatArray, cut: Cut, surface: Surface) -> list[Piece]:
    """Hair of one cut."""
    if cut.kind == "bald":
        return []
    low_back = 6.75 if cut.kind == "short" else 6.5
    parts = [_cap(body, _scalp(8.05 - cut.fringe, low_back), cut.thick, surface, 0.5, cut.thick * 0.5)]
    if cut.kind == "long":
        parts.append(_curtain(body, cut, surface))
    crown, back = joint(body, "head") + np.array([0, 1.25, -0.1]), joint(body, "head") + np.array([0, 0.35, -1.0])
    if cut.kind == "bun":
        size = 0.55 + cut.tail * 0.4
        place = crown + np.array([0, 0.2, -0.35]) if cut.end > 7 else back + np.array([0, 0.3, 0.0])
        parts.append(riding(meshes.ball((size, size, size), place), "head", surface, 0.6))
    if cut.kind == "tail":
        drop = 1.2 + 2.2 * cut.tail
        path = [back + np.array([0, 0.5 - 0.1 * t * t * drop - 0.9 * drop * t, -0.25 - 0.45 * np.sin(t * 2.4)])
                for t in np.linspace(0, 1, 7)]  # fmt: skip
        parts.append(riding(meshes.tube(path, [0.2, 0.27, 0.3, 0.29, 0.25, 0.18, 0.05], 9), "head", surface, 0.7))
    return parts


def hat(body: FloatArray, kind: str, surface: Surface) -> list[Piece]:
    """A beanie, cap, bucket hat or raised hood."""
    rest = bodies().rest
    if kind == "hood":
        y, z = rest[:, 1], rest[:, 2]
        where = (weight_of("head", "neck03", "neck02", "neck01") > 0.3) & (y > 5.9)
        where &= (z < 0.7) | (y > 8.2)
        lift = 0.28 + 0.1 * np.clip((y - 7.6) / 0.8, 0, 1) + 0.12 * (np.abs(rest[:, 0]) > 0.6)
        points = body + normals(body, bodies().faces["body"]) * lift[:, None].astype(np.float32)
        return [shell(points, "body", where, surface, np.full(len(rest), 0.8))]
    low = {"beanie": 7.55, "cap": 7.9, "bucket": 7.9}[kind]
    parts = [_cap(body, _scalp(low, low - 0.55 if kind != "beanie" else low - 0.5), 0.26, surface, 0.0,
                  0.2 if kind == "beanie" else 0.05)]  # fmt: skip
    head = joint(body, "head")
    if kind == "cap":
        peak = meshes.box((1.5, 0.1, 1.0), head + np.array([0, 0.92, 1.65]), 3.0)
        parts.append(riding(peak, "head", surface))
    if kind == "bucket":
        brim = meshes.lathe(
            [(0.6, 0.3), (0.95, 0.1), (1.2, -0.12), (1.5, -0.38), (1.12, -0.2), (0.7, 0.0)],
            head + np.array([0, 0.85, 0.3]),
        )
        parts.append(riding(brim, "head", surface))
    return parts


def fallen_hood(body: FloatArray, surface: Surface) -> Piece:
    """A hood that lies on the back."""
    middle = np.array([0, 5.75 - 5.89, -0.62]) + joint(body, "neck01")
    shape = meshes.join([
        meshes.ball((1.9, 0.75, 0.8), middle), meshes.ball((1.3, 1.3, 0.55), middle + np.array([0, -0.5, -0.12]))
    ])  # fmt: skip
    return riding(shape, "spine01", surface)
