"""What is fuzzed: how an example is made, and what is done with it. A target returns how the example ended."""

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
import yaml
from hypothesis import strategies as st
from safetensors.torch import save_file

from sdtps.checkpoints.families.demo_config import read_demo_config
from sdtps.checkpoints.load import load_checkpoint, random_model
from sdtps.export.bundle import read_bundle
from sdtps.images import confined
from sdtps.images.read import read_picture
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.tasks import TASKS
from tests.checkpoints.checkpoint_files import demo_shapes, random_state, vit_shapes
from tests.conftest import tiny_vit_config
from tests.fuzz import gate
from tests.hostile.bundles import good as good_bundle
from tests.hostile.cases import GOOD
from tests.hostile.ends import complaint, end_of
from tests.hostile.pictures import ARITHMETIC, float_tiff, saved

Outcome = str


@dataclass(frozen=True)
class Target:
    """One thing to fuzz.

    Attributes:
        name: for the table.
        examples: what it is given.
        run: does it; returns the end, raises on anything that must not happen.
    """

    name: str
    examples: st.SearchStrategy[Any]
    run: Callable[[Any], Outcome]


@cache
def _pictures() -> tuple[bytes, ...]:
    kinds = [saved(kind)() for kind in ("PNG", "JPEG", "TIFF", "BMP", "WEBP")]
    return (*kinds, ARITHMETIC, float_tiff(None), saved("JPEG", progressive=True)())


def _changed(contents: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Files with bytes overwritten, put in, and cut off."""
    places = st.integers(0, 2**16)
    edits = st.lists(st.tuples(places, st.binary(max_size=8), st.booleans()), max_size=6)

    def change(content: bytes, edits: list[tuple[int, bytes, bool]], cut: int | None) -> bytes:
        for place, data, insert in edits:
            at = place % (len(content) + 1)
            content = content[:at] + data + content[at if insert else at + len(data) :]
        return content if cut is None else content[: cut % (len(content) + 1)]

    return st.builds(change, contents, edits, st.none() | places)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)


@cache
def _manifest() -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(good_bundle())) as archive:
        return dict(json.loads(archive.read("manifest.json")))


def _bundle_with(path: list[int], value: Any) -> bytes:
    """The good bundle with one value of its manifest replaced."""
    manifest = json.loads(json.dumps(_manifest()))
    place: Any = manifest
    for step in path:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = keys[step % len(keys)]
        if not isinstance(place[key], dict | list) or step == path[-1]:
            place[key] = value
            break
        place = place[key]
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good_bundle())) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            new.writestr(name, json.dumps(manifest) if name == "manifest.json" else old.read(name))
    return stream.getvalue()


BUNDLES = _changed(st.builds(good_bundle)) | st.builds(
    _bundle_with, st.lists(st.integers(0, 50), min_size=1, max_size=4), JSON
)


@cache
def _states() -> tuple[dict[str, torch.Tensor], ...]:
    demos = [demo_shapes(depth=1, rows=r, classes=5, imagenet=i) for r, i in ((25, False), (0, False), (0, True))]
    return tuple(random_state(shapes) for shapes in (*demos, vit_shapes(64, 1, 196)))


SHAPES = st.lists(st.integers(1, 66), max_size=5).filter(lambda s: torch.Size(s).numel() < 10**6)


def _state_with(base: int, changes: list[tuple[int, str | None, list[int] | None]]) -> dict[str, torch.Tensor]:
    """A good state dict with tensors renamed, left out, or given other shapes."""
    state = dict(_states()[base % len(_states())])
    for place, name, shape in changes:
        key = list(state)[place % len(state)]
        tensor = state.pop(key) if name is not None or shape is None else state[key]
        if shape is not None:
            tensor = torch.ones(shape)
        if name is not None or shape is not None:
            state[key if name is None else name or key] = tensor.clone()
    return state or {"x": torch.ones(1)}


NAMES = st.sampled_from(
    ["blocks.7.x", "reg_token", "pos_embed", "cls_token", "BACKBONE.cv_embed", "head.weight", "sdtps.x"]
)
STATES = st.builds(
    _state_with, st.integers(0, 3), st.lists(st.tuples(st.integers(0, 300), st.none() | NAMES | st.text(max_size=8),
                                                       st.none() | SHAPES), max_size=4)
)  # fmt: skip


def _load(state: dict[str, torch.Tensor]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzzed.safetensors"
        save_file({k: v.contiguous() for k, v in state.items()}, path)
        return _plain(*end_of(lambda: load_checkpoint(path)))


def _configure(content: object) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fuzzed.yml"
        path.write_bytes(content if isinstance(content, bytes) else yaml.safe_dump(content).encode(errors="replace"))
        return _plain(*end_of(lambda: read_demo_config(path)))


KEYS = ("SDTPS_SPARSE_RATIO", "SDTPS_BETA", "SIE_COE", "SIZE_TEST", "SIZE_TRAIN", "PIXEL_MEAN", "PIXEL_STD")
SECTION = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=4)
CONFIGS = st.fixed_dictionaries({"MODEL": SECTION | JSON, "INPUT": SECTION | JSON}) | st.binary(max_size=80)


@cache
def _workbench() -> PageBackend:
    return PageBackend([random_model(tiny_vit_config(num_classes=5), device="cpu")], {})


FIELDS = ("key", "settings", "look", "format", "dpi", "id", "job", "root", "split", "start", "count", "search",
          "length", "patch", "modality", "token", "pictures", "fit", "leave_out", "weights", "against")  # fmt: skip
REQUESTS = st.tuples(
    st.sampled_from(("ask", "decide", "analyse", "stage", "open_bundle")),
    st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6)
    | st.fixed_dictionaries({"key": st.text(min_size=1)})
    | JSON,
    st.sampled_from(sorted(TASKS)) | st.text(max_size=6),
)


def _ask(example: tuple[str, Any, str]) -> Outcome:
    how, fields, task = example
    bench = _workbench()
    if how == "stage":
        answer = bench.stage(fields, json.dumps(fields).encode())
    elif isinstance(fields, dict) and how == "ask":
        answer = bench.ask(fields | {"task": task})
    else:
        answer = getattr(bench, how)(fields)
    error = answer.get("error")
    assert error is None or error["code"] != "server.failed", "not foreseen"
    return GOOD if error is None else _plain(error["code"], error["text"])


def _alike(content: bytes) -> Outcome:
    """In a process of its own a picture has the same end as here."""
    here, there = (end_of(lambda read=read: read(content)) for read in (read_picture, confined.read_picture))
    assert here == there or not content, (here, there)
    return _plain(*there)


def _plain(end: str, sentence: str) -> Outcome:
    assert end == GOOD or complaint(sentence) is None, sentence
    return end


TARGETS = (
    Target("picture", _changed(st.sampled_from(_pictures())), lambda c: _plain(*end_of(lambda: read_picture(c)))),
    Target("bundle", BUNDLES, lambda c: _plain(*end_of(lambda: read_bundle(c)))),
    Target("checkpoint", STATES, _load),
    Target("configuration", CONFIGS, _configure),
    Target("request", REQUESTS, _ask),
    Target("gate", gate.REQUESTS, gate.knock),
    Target("confined picture", _changed(st.sampled_from(_pictures())), _alike),
)
