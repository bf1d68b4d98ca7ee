"""The data folders behind the page: records by id, pages of a list, masks; and nothing outside the roots."""

import os
from pathlib import Path
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from PIL import Image

import sdtps
from sdtps.datasets import open_dataset
from sdtps.datasets.examples import Example
from sdtps.export import payload
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.data_registry import DataRegistry
from sdtps.web.session.tasks.browse import MAX_ROWS
from tests.datasets import trees
from tests.web.conftest import App

SECRET = "/etc/passwd"
ESCAPES = [
    SECRET,
    f"../../../../../../../..{SECRET}",
    f"..\\..\\..{SECRET}",
    quote(f"../../../..{SECRET}", safe=""),
    quote(quote(f"../..{SECRET}", safe=""), safe=""),
    "RGBNT201/test/RGB/000201_cam1_0_00.jpg",
    "file:///etc/passwd",
    "\x00",
    ".",
    "~",
    "0" * 16,
    "0" * 1000,
    {"path": SECRET, "meta": {"_type": "gradio.FileData"}},
    ["..", "etc"],
    -1,
    True,
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return trees.rgbnt201(tmp_path / "people")


@pytest.fixture
def bench(root: Path, tiny_model) -> PageBackend:
    return PageBackend([tiny_model], {}, DataRegistry([open_dataset(root, confined=True)]))


def pictures(identifier: object) -> dict:
    return {"pictures": {m: {"record": identifier} for m in ("rgb", "nir", "tir")}}


def rows(bench: PageBackend, **fields: object) -> dict:
    return bench.ask({"task": "data.find", "root": 0, "split": "test", "count": 50, **fields})


def test_a_record_is_analysed_like_its_files(bench: PageBackend, root: Path, tiny_model) -> None:
    row = rows(bench)["rows"][3]
    answer = bench.analyse(pictures(row["id"]))
    files = [root / "RGBNT201" / "test" / sub / row["name"] for sub in ("RGB", "NI", "TI")]
    want = sdtps.analyse(tiny_model, *files)
    for m in ("rgb", "nir", "tir"):
        assert answer["modalities"][m]["maps"]["score"] == payload.pack(want[m].score)


def test_filters_and_pages(bench: PageBackend) -> None:
    whole = rows(bench, facets=True)
    assert (whole["total"], whole["identities"], whole["cameras"], whole["broken"]) == (6, [201, 202, 203], [1, 2], 0)
    assert [r["name"] for r in rows(bench, pid=202)["rows"]] == ["000202_cam1_0_00.jpg", "000202_cam2_0_01.jpg"]
    assert [r["pid"] for r in rows(bench, cam=2)["rows"]] == [201, 202, 203]
    assert rows(bench, search="CAM2_0", pid=203)["total"] == 1
    assert rows(bench, search="nobody") == {"total": 0, "start": 0, "rows": [], "position": None}
    around = rows(bench, at=whole["rows"][4]["id"], count=2)
    assert (around["position"], around["start"]) == (4, 3)
    assert rows(bench, at=whole["rows"][4]["id"], pid=201)["position"] is None


def test_ten_thousand_triplets_are_scanned_once_and_sent_in_pages(tmp_path: Path, tiny_model, monkeypatch) -> None:
    for sub in ("RGB", "NI", "TI"):
        (tmp_path / "RGBNT201" / "test" / sub).mkdir(parents=True)
        for i in range(10_000):
            (tmp_path / "RGBNT201" / "test" / sub / f"{i // 10:06d}_cam{i % 4 + 1}_0_{i:05d}.jpg").touch()
    bench = PageBackend([tiny_model], {}, DataRegistry([open_dataset(tmp_path, confined=True)]))
    scans = []
    real = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: scans.append(path) or real(path))
    for start in (0, 5000, 9990):
        answer = rows(bench, start=start, count=10**9, facets=True)
        assert (answer["total"], len(answer["rows"])) == (10_000, MAX_ROWS)
    assert rows(bench, search="_05000")["total"] == 1
    found = bench.data.find(answer["rows"][-1]["id"])
    assert found.record.name == "000999_cam4_0_09999.jpg"
    assert len(scans) == 3


@pytest.mark.parametrize("value", ESCAPES)
def test_nothing_but_an_id_of_a_listed_record_is_read(bench: PageBackend, value: object) -> None:
    key = bench.analyse(pictures(rows(bench)["rows"][0]["id"]))["key"]
    answers = [
        bench.analyse(pictures(value)),
        bench.ask({"task": "data.show", "id": value}),
        bench.ask({"task": "rank.kept", "key": key, "id": value}),
        bench.ask({"task": "data.find", "root": 0, "split": value, "count": 5}),
        bench.ask({"task": "data.broken", "root": 0, "split": value}),
    ]
    if not (isinstance(value, int) and value is True):
        answers.append(bench.ask({"task": "data.find", "root": value, "split": "test", "count": 5}))
    for answer in answers:
        assert answer["error"]["code"] in ("request.malformed", "record.unknown")
        assert "root:" not in str(answer)


@pytest.mark.parametrize("value", [True, 1, 10**9, 0.0, "0", None])
def test_roots_are_counted(bench: PageBackend, value: object) -> None:
    answer = bench.ask({"task": "data.find", "root": value, "split": "test", "count": 5})
    assert answer["error"]["code"] == "request.malformed"


def test_escapes_over_http(app: App) -> None:
    config = httpx.get(f"{app.url}/config").json()
    lens = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "lens")
    assert str(app.data["people"]) not in str(config)  # the page knows names, not paths
    for value in ESCAPES:
        for task in ({"task": "data.show", "id": value}, {"task": "data.find", "root": 0, "split": value}):
            body = {"component_id": lens, "session_hash": "s", "fn_name": "ask", "data": task}
            answer = httpx.post(f"{app.url}/gradio_api/component_server", json=body)
            assert "root:" not in answer.text
            # Gradio itself refuses what looks like a file.
            assert answer.status_code >= 400 or answer.json()["error"]["code"] in (
                "request.malformed",
                "record.unknown",
            )
    for path in (app.data["people"] / "RGBNT201" / "test" / "RGB", app.data["people"]):
        assert httpx.get(f"{app.url}/gradio_api/file={path}").status_code in (403, 404)


def test_a_link_swapped_in_after_the_listing_is_refused(bench: PageBackend, root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jpg"
    trees.write(secret, 99)
    first = rows(bench)["rows"][0]
    file = root / "RGBNT201" / "test" / "NI" / first["name"]
    file.unlink()
    file.symlink_to(secret)
    answer = bench.analyse(pictures(first["id"]))
    assert answer["error"]["code"] == "data.outside"


def test_a_broken_picture_is_said_and_listed(bench: PageBackend, root: Path) -> None:
    first = rows(bench)["rows"][0]
    (root / "RGBNT201" / "test" / "TI" / first["name"]).write_bytes(b"")
    answer = bench.analyse(pictures(first["id"]))
    assert (answer["error"]["code"], answer["zone"]) == ("input.empty", "tir")
    assert rows(bench, facets=True)["broken"] == 1
    (listed,) = bench.ask({"task": "data.broken", "root": 0, "split": "test"})["rows"]
    assert (listed["name"], listed["note"]["code"]) == (first["name"], "input.empty")


def test_two_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    roots = [trees.rgbnt201(tmp_path / side / "same") for side in ("a", "b")]
    library = DataRegistry([open_dataset(r, confined=True) for r in roots])
    assert [s.label for s in library.browsed] == ["same", "same (2)"]
    found = library.find(library.browsed[1].ids("test")[0])
    assert found.record.paths[0].is_relative_to(roots[1])


@pytest.mark.parametrize("fit", ["stretch", "letterbox"])
def test_masks_become_patch_shares_of_the_open_triplet(root: Path, tiny_model, fit: str) -> None:
    split = root / "RGBNT201" / "test"
    name = "000201_cam1_0_00"
    mask = np.zeros((64, 32), np.uint8)
    mask[:32], mask[32:48] = 255, 64
    for sub in ("RGB", "NI", "TI"):
        trees.write(split / sub / f"{name}.jpg", 1, (64, 64))
    (split / "masks").mkdir()
    Image.fromarray(np.repeat(mask, 2, axis=1)).save(split / "masks" / f"{name}.png")
    bench = PageBackend([tiny_model], {}, DataRegistry([open_dataset(root, confined=True)]))
    known, unknown = rows(bench)["rows"][:2]
    person = bench.held(bench.analyse(pictures(known["id"]) | {"fit": fit})["key"]).person.reshape(16, 8)
    # A square letterboxed into 256x128 takes the middle half; three quarters of it are people.
    covered = slice(0, 12) if fit == "stretch" else slice(4, 10)
    assert (person[covered] == 1).all()
    assert person.sum() == person[covered].size
    assert bench.held(bench.analyse(pictures(unknown["id"]))["key"]).person is None


def test_examples_bring_their_masks(tmp_path: Path, tiny_model) -> None:
    for m in ("rgb", "nir", "tir"):
        trees.write(tmp_path / f"{m}.png", 3, (256, 128))
    Image.fromarray(np.full((256, 128), 255, np.uint8)).save(tmp_path / "mask.png")
    bench = PageBackend([tiny_model], {"one": Example("one", {"en": "One"}, tmp_path)})
    answer = bench.analyse({"pictures": {m: {"example": "one"} for m in ("rgb", "nir", "tir")}})
    assert (bench.held(answer["key"]).person == 1).all()


def test_the_camera_label_reaches_the_backbone(root: Path) -> None:
    from sdtps.checkpoints.load import random_model
    from tests.conftest import tiny_vit_config

    config = tiny_vit_config()
    options = {**config.backbone_options, "cameras": 2}
    model = random_model(type(config)(**{**config.as_dict(), "backbone_options": options}), device="cpu")
    bench = PageBackend([model], {}, DataRegistry([open_dataset(root, confined=True)]))
    row = rows(bench)["rows"][1]
    files = [root / "RGBNT201" / "test" / sub / row["name"] for sub in ("RGB", "NI", "TI")]
    answer = bench.analyse(pictures(row["id"]))
    with_label, without = (sdtps.analyse(model, *files, camera=c)["rgb"].score for c in (1, None))
    assert answer["modalities"]["rgb"]["maps"]["score"] == payload.pack(with_label)
    assert payload.pack(with_label) != payload.pack(without)
