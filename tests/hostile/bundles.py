"""Bundles: bombs, escapes, and numbers that do not fit together."""

import functools
import io
import json
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

import sdtps
from sdtps.checkpoints.load import random_model
from sdtps.export import bundle, serialise
from sdtps.export.bundle import SCHEMA
from sdtps.export.figure import FigureOptions
from sdtps.images.read import prepare, read_triplet
from tests.conftest import tiny_vit_config
from tests.hostile import pictures
from tests.hostile import rawfiles as raw
from tests.hostile.cases import GOOD, Case, constant, refused

DAMAGED, NOT_ONE, TOO_BIG = "bundle.damaged", "bundle.not_one", "bundle.too_big"
SCRIPT = "<img src=x onerror=alert(1)>"


@functools.cache
def good() -> bytes:
    """A bundle of a small random model."""
    model = random_model(tiny_vit_config(num_classes=5), device="cpu")
    triplet = read_triplet(pictures.COLOUR, None, pictures.RAMP)
    analysis = sdtps.analyse_triplet(model, triplet, sdtps.Settings(sparse_ratio=0.3))
    return bundle.write_bundle(analysis, prepare(triplet, (256, 128)).pixels, FigureOptions(columns=("kept",)))


@functools.cache
def _parts() -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(good())) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: dict[str, bytes | None], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for name, content in parts.items():
            if content is not None:
                archive.writestr(name, content)
    return stream.getvalue()


def having(**changes: bytes | None) -> Callable[[], bytes]:
    """The good bundle with members replaced, added or (None) left out."""
    return lambda: zipped(_parts() | changes)


def saying(**facts: Any) -> Callable[[], bytes]:
    """The good bundle with other facts in its manifest."""
    return lambda: having(**{"manifest.json": json.dumps(json.loads(_parts()["manifest.json"]) | facts).encode()})()


def saying_of_weights(**facts: Any) -> Callable[[], bytes]:
    return lambda: saying(weights=json.loads(_parts()["manifest.json"])["weights"] | facts)()


def with_arrays(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[], bytes]:
    """The good bundle with other arrays."""

    def make() -> bytes:
        arrays = serialise.unpack_npz(_parts()["maps.npz"])
        stream = io.BytesIO()
        np.savez(stream, **arrays | change(arrays))
        return having(**{"maps.npz": stream.getvalue()})()

    return make


def flipped(signature: bytes, offset: int, value: bytes) -> Callable[[], bytes]:
    """The good bundle with some bytes of every header of a kind overwritten."""

    def make() -> bytes:
        content, place = bytearray(good()), -1
        while (place := content.find(signature, place + 1)) >= 0:
            content[place + offset : place + offset + len(value)] = value
        return bytes(content)

    return make


def _corrupt() -> bytes:
    """Packed data overwritten, sums and sizes as they were."""
    content = bytearray(good())
    start = content.index(b"manifest.json") + len(b"manifest.json")
    content[start : start + 40] = b"\xff" * 40
    return bytes(content)


def _overlapping() -> bytes:
    """Sixty directory entries that all unfold the same packed zeros."""
    packed = zipped({"x": bytes(1_000_000)})
    at = packed.index(b"PK\1\2")
    entry, end = packed[at : packed.index(b"PK\5\6")], packed[packed.index(b"PK\5\6") :]
    many = b"".join(entry[:46] + bytes([65 + i % 50]) for i in range(60))
    counted = end[:8] + struct.pack("<HHII", 60, 60, len(many), at) + end[20:]
    return packed[:at] + many + counted


def _pickled() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=True, feature=np.array([print], object))
    return having(**{"maps.npz": stream.getvalue()})()


NOTE = {"code": None, "text": SCRIPT}
BUNDLES: tuple[Case, ...] = (
    Case("good.zip", good),
    Case("escaping.zip", having(**{"../../../tmp/escaped.txt": b"x", "/etc/escaped": b"x", "C:\\escaped": b"x"})),
    Case("scripted.zip", saying(notes=[NOTE], sources={"rgb": SCRIPT}), (GOOD,)),
    Case("scripted-weights.zip", saying_of_weights(name=SCRIPT + "\n\x1b[2J\u202e" + "x" * 4000), (GOOD,)),
    refused("empty.zip", constant(b""), NOT_ONE),
    refused("text.zip", constant(b"hello"), NOT_ONE),
    refused("cut.zip", lambda: good()[:-30], NOT_ONE),
    refused("other.zip", lambda: zipped({"readme.txt": b"x"}), NOT_ONE),
    refused("no-kind.zip", saying(kind="other"), NOT_ONE),
    refused("newer.zip", saying(schema=SCHEMA + 1), "bundle.newer"),
    refused("schema-nonsense.zip", saying(schema=[1]), NOT_ONE),
    refused("bomb.zip", having(**{"inputs/rgb.png": bytes(65 * 2**20)}), TOO_BIG),
    refused("lying-bomb.zip", flipped(b"PK\1\2", 24, struct.pack("<I", 100)), DAMAGED, NOT_ONE),
    refused("many-members.zip", lambda: raw.zip_of_many(300_000), TOO_BIG),
    refused("overlapping.zip", _overlapping, NOT_ONE, DAMAGED),
    refused("over-64-megabytes.zip", lambda: good() + bytes(64 * 2**20), TOO_BIG),
    refused("encrypted.zip", flipped(b"PK\1\2", 8, b"\1"), DAMAGED),
    refused("unknown-packing.zip", flipped(b"PK\1\2", 10, b"\x63"), DAMAGED),
    refused("corrupt.zip", _corrupt, DAMAGED),
    refused("wrong-sum.zip", flipped(b"PK\1\2", 16, b"\0\0\0\0"), DAMAGED, NOT_ONE),
    refused("nested-manifest.zip", having(**{"manifest.json": b"[" * 100_000}), DAMAGED),
    refused("vast-manifest.zip", having(**{"manifest.json": b"[" + b"[]," * 20_000_000 + b"[]]"}), TOO_BIG, DAMAGED),
    refused("latin-manifest.zip", having(**{"manifest.json": b'{"kind": "\xff"}'}), DAMAGED),
    refused("long-number.zip", having(**{"manifest.json": b'{"schema": ' + b"9" * 5000 + b"}"}), DAMAGED),
    refused("list-manifest.zip", having(**{"manifest.json": b"[]"}), NOT_ONE),
    refused("no-grid.zip", saying(grid=None), DAMAGED),
    refused("negative-grid.zip", saying(grid={"rows": -16, "cols": -8}), DAMAGED),
    refused("other-grid.zip", saying(grid={"rows": 16, "cols": 9}), DAMAGED),
    refused("infinite-grid.zip", saying(grid={"rows": 1e999, "cols": 8}), DAMAGED),
    refused("settings-nonsense.zip", saying(settings={"beta": "<b>"}), DAMAGED),
    refused("vast-draws.zip", saying(settings={"draws": 10**12}), DAMAGED),
    refused("seventy-bits.zip", saying_of_weights(facts={"epoch": 2**70}), DAMAGED),
    refused("half-character.zip", saying(notes=[{"code": None, "text": "\ud800"}]), DAMAGED),
    refused("half-name.zip", saying_of_weights(name="\udfff"), DAMAGED),
    refused("missing-nonsense.zip", saying(missing=7), DAMAGED),
    refused("notes-nonsense.zip", saying(notes=[1]), DAMAGED),
    refused("weights-nonsense.zip", saying(weights=[]), DAMAGED),
    refused("name-nonsense.zip", saying_of_weights(name={"a": 1}, sha256=7), DAMAGED),
    refused("facts-nonsense.zip", saying_of_weights(facts=[1], groups=[1]), DAMAGED),
    refused("sources-nonsense.zip", saying(sources=[1]), DAMAGED),
    refused("inputs-nonsense.zip", saying(inputs=["rgb"]), DAMAGED),
    refused("inputs-elsewhere.zip", saying(inputs={"rgb": "/etc/passwd"}), DAMAGED),
    refused("inputs-upwards.zip", saying(inputs={"rgb": "../../etc/passwd"}), DAMAGED),
    refused("no-inputs.zip", saying(inputs={}), DAMAGED),
    refused("picture-bomb.zip", having(**{"inputs/rgb.png": raw.zeros_png(10_000, 10_000)}), DAMAGED),
    refused("tiny-picture.zip", having(**{"inputs/rgb.png": raw.zeros_png(1, 1)}), DAMAGED),
    refused("other-pictures.zip", having(**{"inputs/rgb.png": pictures.saved("PNG")()}), DAMAGED),
    refused("no-maps.zip", having(**{"maps.npz": None}), DAMAGED),
    refused("text-maps.zip", having(**{"maps.npz": b"hello"}), DAMAGED),
    refused("pickled-maps.zip", _pickled, DAMAGED),
    refused("bomb-maps.zip", lambda: having(**{"maps.npz": zipped({"feature.npy": bytes(65 * 2**20)})})(), DAMAGED),
    refused("nan-scores.zip", with_arrays(lambda a: {"rgb.score": a["rgb.score"] * np.nan}), DAMAGED),
    refused("float-kept.zip", with_arrays(lambda a: {"rgb.keep": a["rgb.keep"].astype(float)}), DAMAGED),
    refused("far-kept.zip", with_arrays(lambda a: {"rgb.dense_keep": a["rgb.keep"] + 10**6}), DAMAGED),
    refused("text-scores.zip", with_arrays(lambda _: {"rgb.score": np.array(["x"] * 128)}), DAMAGED),
    refused("other-shape.zip", with_arrays(lambda a: {"rgb.score": a["rgb.score"][:-1]}), DAMAGED),
    refused("column-order.zip", with_arrays(lambda _: {"feature": np.asfortranarray(np.ones((4, 4)))}), DAMAGED),
    refused("no-feature.zip", with_arrays(lambda _: {"feature": np.ones((0, 3))}), DAMAGED),
)  # fmt: skip
