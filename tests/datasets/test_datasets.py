"""Every layout is found by looking, its names are read, what is no triplet is listed, and nothing outside is read."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sdtps.datasets import UNKNOWN, Apart, open_dataset, read_rgbnt201
from sdtps.support.errors import InputError
from tests.datasets import trees


def labels(dataset, split):
    return [(r.name, r.pid, r.cam, r.scene) for r in dataset.listing(split).records]


def test_rgbnt201(tmp_path):
    for given in (trees.rgbnt201(tmp_path), tmp_path / "RGBNT201"):
        data = open_dataset(given)
        assert (data.layout.name, list(data.folders)) == ("RGBNT201", ["train_171", "test"])
        assert (data.query, data.gallery, data.layout.apart) == ("test", "test", Apart.CAMERA)
        assert labels(data, "test")[:3] == [
            ("000201_cam1_0_00.jpg", 201, 0, None),
            ("000201_cam2_0_01.jpg", 201, 1, None),
            ("000202_cam1_0_00.jpg", 202, 0, None),
        ]
        assert len(data.listing("train_171").records) == 6
    assert read_rgbnt201(tmp_path, "test") == list(data.listing("test").records)


def test_rgbnt100_cuts_one_wide_picture(tmp_path):
    data = open_dataset(trees.rgbnt100(tmp_path))
    assert (data.layout.name, data.query, data.gallery) == ("RGBNT100", "query", "bounding_box_test")
    assert labels(data, "query")[:2] == [("0001_c1_00.jpg", 1, 0, None), ("0001_c2_00.jpg", 1, 1, None)]
    record = data.listing("query").records[0]
    wide = np.asarray(Image.open(record.paths[0]).convert("RGB"))
    triplet = data.read(record)
    for i, m in enumerate(("rgb", "nir", "tir")):
        np.testing.assert_array_equal(triplet.pictures[m].pixels, wide[:, 64 * i : 64 * (i + 1)])


def test_msvr310_reads_scenes_and_cameras_as_written(tmp_path):
    data = open_dataset(trees.msvr310(tmp_path))
    assert (data.layout.name, data.query, data.gallery) == ("MSVR310", "query3", "bounding_box_test")
    assert data.layout.apart is Apart.SCENE
    assert labels(data, "query3")[2:4] == [("0002_s001_v1_000.jpg", 2, 1, 1), ("0002_s002_v2_000.jpg", 2, 2, 2)]


@pytest.mark.parametrize("home", ["WMVeID863", "MSVWild863"])
def test_wmveid863(tmp_path, home):
    trees.wmveid863(tmp_path)
    (tmp_path / "WMVeID863").rename(tmp_path / home)
    data = open_dataset(tmp_path)
    assert (data.layout.name, data.query, data.gallery) == ("WMVeID863", "query", "test")
    assert labels(data, "test")[1] == ("000001_cam2_x.jpg", 1, 1, None)


def test_plain_folders_with_unequal_endings_and_masks(tmp_path):
    for i, name in enumerate(("walk", "000007_cam2_b")):
        trees.write(tmp_path / "rgb" / f"{name}.jpg", i)
        trees.write(tmp_path / "nir" / f"{name}.png", i + 10)
        trees.write(tmp_path / "tir" / f"{name}.tif", i + 20)
    trees.write(tmp_path / "masks" / "walk.png", 5)
    data = open_dataset(tmp_path)
    assert (data.layout.name, list(data.folders), data.gallery) == ("plain folder", ["all"], "all")
    assert labels(data, "all") == [("000007_cam2_b.jpg", 7, 1, None), ("walk.jpg", UNKNOWN, UNKNOWN, None)]
    assert [r.mask is not None for r in data.listing("all").records] == [False, True]


def test_plain_files_side_by_side_and_splits(tmp_path):
    for split in ("gallery", "query"):
        for i, ending in enumerate(("_rgb.png", "_NIR.jpg", "_tir.bmp", "_mask.png")):
            trees.write(tmp_path / split / f"a{ending}", i)
        trees.write(tmp_path / split / "b_rgb.png", 9)
        trees.write(tmp_path / split / "cover.png", 9)
    data = open_dataset(tmp_path)
    assert (data.query, data.gallery) == ("query", "gallery")
    found = data.listing("query")
    assert [(r.name, r.mask.name) for r in found.records] == [("a_rgb.png", "a_mask.png")]
    assert [(b.name, str(b.why)) for b in found.broken] == [("b_rgb.png", "There is no NIR, TIR partner.")]


def test_a_split_folder_given_by_itself_still_tells_identities(tmp_path):
    data = open_dataset(trees.rgbnt201(tmp_path) / "RGBNT201" / "test")
    assert data.layout.name == "plain folder"
    assert {r.pid for r in data.listing("all").records} == {201, 202, 203}


def test_missing_partners_and_unreadable_names_are_listed(tmp_path):
    base = trees.rgbnt201(tmp_path) / "RGBNT201" / "test"
    (base / "NI" / "000201_cam1_0_00.jpg").unlink()
    (base / "RGB" / "000202_cam1_0_00.jpg").unlink()
    for sub in ("RGB", "NI", "TI"):
        trees.write(base / sub / "holiday.jpg", 1)
        (base / sub / "Thumbs.db").write_bytes(b"x")
    found = open_dataset(tmp_path).listing("test")
    assert len(found.records) == 4
    assert {b.name: b.why.code for b in found.broken} == {
        "000201_cam1_0_00.jpg": "data.partner",
        "000202_cam1_0_00.jpg": "data.partner",
        "holiday.jpg": "data.name",
    }
    assert found.broken[0].why.values["lacking"] == "NIR"


def test_a_split_is_scanned_once(tmp_path, monkeypatch):
    data = open_dataset(trees.rgbnt201(tmp_path))
    scans = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: scans.append(str(path)) or real(path))
    first = data.listing("test")
    assert data.listing("test") is first
    assert len(scans) == 3


def test_links_that_lead_outside_are_not_read(tmp_path):
    root, secret = tmp_path / "root", tmp_path / "secret.jpg"
    trees.rgbnt201(root)
    trees.write(secret, 99)
    rgb = root / "RGBNT201" / "test" / "RGB" / "000201_cam1_0_00.jpg"
    rgb.unlink()
    rgb.symlink_to(secret)
    confined = open_dataset(root, confined=True)
    found = confined.listing("test")
    assert rgb.name not in [r.name for r in found.records]
    assert "data.outside" in [b.why.code for b in found.broken]
    assert rgb.name in [r.name for r in open_dataset(root).listing("test").records]

    record = found.records[0]
    record.paths[2].unlink()
    record.paths[2].symlink_to(secret)  # swapped after the listing
    with pytest.raises(InputError, match="leads outside"):
        confined.read(record)


@pytest.mark.parametrize("where", ["RGBNT201", "RGBNT201/test", "RGBNT201/test/TI"])
def test_folders_that_lead_outside_are_not_read(tmp_path, where):
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    trees.rgbnt201(root)
    (root / where).rename(elsewhere)
    (root / where).symlink_to(elsewhere)
    if where == "RGBNT201/test/TI":
        found = open_dataset(root, confined=True).listing("test")
        assert found.records == ()
        assert len(found.broken) == 6
    else:
        with pytest.raises(InputError, match="leads outside"):
            open_dataset(root, confined=True)
    assert len(open_dataset(root).listing("test").records) == 6


def test_links_within_the_root_are_read(tmp_path):
    trees.rgbnt201(tmp_path)
    first = tmp_path / "RGBNT201" / "test" / "RGB" / "000201_cam1_0_00.jpg"
    first.rename(tmp_path / "moved.jpg")
    first.symlink_to(tmp_path / "moved.jpg")
    data = open_dataset(tmp_path, confined=True)
    assert data.listing("test").records[0].name == first.name


def test_identifiers_hold_no_path_and_survive_new_files(tmp_path):
    data = open_dataset(trees.rgbnt201(tmp_path))
    before = {r.name: data.identifier("people", "test", r) for r in data.listing("test").records}
    assert len(set(before.values())) == len(before)
    assert all(len(i) == 16 and int(i, 16) >= 0 for i in before.values())
    trees.write_folders(tmp_path / "RGBNT201" / "test", ["000001_cam1_0_00.jpg"], ("RGB", "NI", "TI"))
    again = open_dataset(tmp_path)
    after = {r.name: again.identifier("people", "test", r) for r in again.listing("test").records}
    assert before.items() < after.items()


@pytest.mark.parametrize("name", ["", "nowhere"])
def test_what_is_no_data_set_is_one_sentence(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=r"There is no (data set in|folder)"):
        open_dataset(tmp_path / name)


def test_an_unknown_split_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no split 'val'"):
        open_dataset(trees.rgbnt201(tmp_path)).listing("val")


def test_a_picture_name_cannot_lead_elsewhere(tmp_path):
    """Names come from the folder itself, so `..` can only be part of a file name."""
    trees.rgbnt201(tmp_path)
    for sub in ("RGB", "NI", "TI"):
        trees.write(tmp_path / "RGBNT201" / "test" / sub / "000009_cam1_..%2f.._x.jpg", 1)
    data = open_dataset(tmp_path, confined=True)
    odd = next(r for r in data.listing("test").records if r.pid == 9)
    assert odd.paths[0].parent == Path(tmp_path, "RGBNT201", "test", "RGB")
    assert data.read(odd).missing == frozenset()
