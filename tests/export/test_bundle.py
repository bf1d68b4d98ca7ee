"""Bundles: back to the bit, refused when newer or damaged, harmless when hostile."""

import io
import json
import zipfile

import numpy as np
import pytest

import sdtps
from sdtps.checkpoints.anonymise import hide, is_hidden
from sdtps.export import bundle, serialise
from sdtps.export.figure import FigureOptions
from sdtps.images.read import prepare, read_triplet
from sdtps.support.errors import InputError
from sdtps.support.messages import as_note

QUICK = FigureOptions(columns=("input", "kept"))


@pytest.fixture(scope="module")
def opened(tiny_model, photos):
    triplet = read_triplet(photos["rgb"], None, photos["tir"].astype(np.uint16) * 100)
    settings = sdtps.Settings(sparse_ratio=0.3, beta=0.1, tau=0.7)
    return sdtps.analyse_triplet(tiny_model, triplet, settings), prepare(triplet, (256, 128)).pixels


@pytest.fixture(scope="module")
def packed(opened) -> bytes:
    return bundle.write_bundle(opened[0], opened[1], QUICK, {"rgb": "mine.png"})


def rewritten(packed: bytes, **changes: bytes | None) -> bytes:
    """The bundle with members replaced, added or (None) left out."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        parts = {name: old.read(name) for name in old.namelist()} | changes
        for name, content in parts.items():
            if content is not None:
                new.writestr(name, content)
    return stream.getvalue()


def manifest_with(packed: bytes, **values) -> bytes:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    return rewritten(packed, **{"manifest.json": json.dumps(manifest | values).encode()})


def assert_same(a: sdtps.Analysis, b: sdtps.Analysis) -> None:
    ours, theirs = serialise.arrays_of(a), serialise.arrays_of(b)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        assert array.tobytes() == theirs[name].tobytes(), name
    assert serialise.facts_of(a) == serialise.facts_of(b)


@pytest.mark.parametrize("variant", ["final", "open-source", "first", "importance"])
def test_every_number_comes_back_to_the_bit(tiny_model, photos, variant):
    triplet = read_triplet(*photos.values())
    analysis = sdtps.analyse_triplet(tiny_model, triplet, sdtps.Settings(variant=variant))
    again = bundle.read_bundle(bundle.write_bundle(analysis, prepare(triplet, (256, 128)).pixels, QUICK))
    assert_same(analysis, again.analysis)


def test_inputs_notes_and_missing_modalities_come_back(opened, packed):
    analysis, pixels = opened
    again = bundle.read_bundle(packed)
    assert_same(analysis, again.analysis)
    assert np.array_equal(again.pixels["rgb"], pixels["rgb"])
    assert again.pixels["nir"] is None
    assert again.analysis["nir"].missing
    assert [as_note(n) for n in again.analysis.notes] == [as_note(n) for n in analysis.notes]
    assert again.manifest["sources"] == {"rgb": "mine.png"}


def test_the_same_analysis_is_the_same_file(opened, packed):
    assert bundle.write_bundle(opened[0], opened[1], QUICK, {"rgb": "mine.png"}) == packed


def test_contents_are_documented(packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        names = set(archive.namelist())
        readme = archive.read("README.txt").decode()
        with np.load(io.BytesIO(archive.read("maps.npz"))) as maps:
            fields = {name.split(".")[1] for name in maps.files if "." in name}
    assert {"manifest.json", "maps.npz", "figure.pdf", "figure.png", "inputs/rgb.png", "inputs/tir.png"} <= names
    assert [f for f in fields if f not in readme] == []


def test_a_newer_schema_says_so(packed):
    with pytest.raises(InputError, match=r"newer version \(schema 3, this one reads up to 2\); update"):
        bundle.read_bundle(manifest_with(packed, schema=3))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not a zip at all"])
def test_other_files_are_no_bundles(content):
    with pytest.raises(InputError, match="not a bundle"):
        bundle.read_bundle(content)


def test_a_zip_of_something_else_is_no_bundle(packed):
    with pytest.raises(InputError, match="not a bundle"):
        bundle.read_bundle(rewritten(packed, **{"manifest.json": None}))
    with pytest.raises(InputError, match="not a bundle"):
        bundle.read_bundle(rewritten(packed, **{"manifest.json": b'{"schema": 1}'}))


def test_pickles_in_arrays_are_refused(packed):
    evil = io.BytesIO()
    np.savez(evil, allow_pickle=True, feature=np.array([{"a": 1}], object))
    with pytest.raises(InputError, match="damaged"):
        bundle.read_bundle(rewritten(packed, **{"maps.npz": evil.getvalue()}))


def test_a_header_that_promises_more_than_there_is_allocates_nothing(packed):
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000000,), }"
    npy = header + text.ljust(117) + b"\n" + bytes(16)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("feature.npy", npy)
    with pytest.raises(InputError, match="damaged"):
        bundle.read_bundle(rewritten(packed, **{"maps.npz": stream.getvalue()}))


def test_bombs_are_refused_before_they_unfold(packed):
    zeros = bytes(bundle.MAX_BYTES + 1)
    with pytest.raises(InputError, match="larger than 64 MB"):
        bundle.read_bundle(rewritten(packed, **{"inputs/rgb.png": zeros}))
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("feature.npy", bytes(serialise.MAX_ARRAY_BYTES + 1))
    with pytest.raises(InputError, match="damaged"):
        bundle.read_bundle(rewritten(packed, **{"maps.npz": inner.getvalue()}))
    many = {f"x{i}": b"" for i in range(100)}
    with pytest.raises(InputError, match="larger than"):
        bundle.read_bundle(rewritten(packed, **many))


def test_paths_in_the_manifest_lead_nowhere_but_into_the_zip(packed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="damaged"):
        bundle.read_bundle(manifest_with(packed, inputs={"rgb": "/etc/passwd"}))
    bundle.read_bundle(rewritten(packed, **{"../../escaped.txt": b"x"}))
    assert list(tmp_path.parent.rglob("escaped.txt")) == []


@pytest.mark.parametrize(
    "change",
    [
        {"grid": {"rows": 4, "cols": 4}},
        {"grid": None},
        {"settings": {"beta": 9}},
        {"inputs": []},
        {"missing": 3},
        {"notes": [{}]},
        {"weights": {}},
    ],
)
def test_what_does_not_fit_together_is_refused(packed, change):
    with pytest.raises(InputError, match="damaged"):
        bundle.read_bundle(manifest_with(packed, **change))


def test_anonymous_reports_hide_name_and_hash_only(tiny_model):
    hidden = hide(tiny_model.weights, 2)
    assert (hidden.name, hidden.sha256, hidden.short_hash) == ("anonymous weights 2", "hidden-2", "hidden-2")
    assert (hidden.trained, hidden.missing) == (tiny_model.weights.trained, tiny_model.weights.missing)
    assert is_hidden(hidden)
    assert not is_hidden(tiny_model.weights)
