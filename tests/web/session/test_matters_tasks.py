"""Does it matter, find cases and explain a match, as the page asks for them."""

import base64
import threading
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from sdtps.datasets import open_dataset
from sdtps.matters.cases import COLUMNS, plane, survey
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.types import Settings
from sdtps.web.session import surveys
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.data_registry import DataRegistry
from tests.datasets import trees

SETTINGS = {"sparse_ratio": 0.5, "aggr_ratio": 0.4, "beta": 0.25, "variant": "final"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory, tiny_model):
    folder = tmp_path_factory.mktemp("matters")
    people = open_dataset(trees.rgbnt201(folder / "people", ids=4), confined=True)
    made = PageBackend([tiny_model], {}, DataRegistry([people], [], FeatureStore(folder / "cache")))
    yield made
    made.jobs.close()


@pytest.fixture(scope="module")
def key(bench):
    identifier = bench.data.galleries[0].ids("test")[0]
    return bench.analyse({"pictures": {m: {"record": identifier} for m in ("rgb", "nir", "tir")}})["key"]


def finish(bench, task, **fields):
    started = bench.ask({"task": task, **fields})
    assert "job" in started, started
    while True:
        answer = bench.ask({"task": "job.poll", "job": started["job"]})
        if "done" not in answer:
            assert "result" in answer, answer
            return answer["result"]
        threading.Event().wait(0.02)


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_the_tab_measures_and_gives_the_report_home(bench, key):
    asked = {"key": key, "gallery": 0, "settings": SETTINGS, "ratios": [0.25], "draws": 2, "variants": ["importance"]}
    report = finish(bench, "matters.run", **asked)
    assert (report["sets"], report["identities"]) == (8, 4)
    assert {"random", "all", "importance"} <= {row["name"] for row in report["rows"]}
    assert len(report["titles"]["zh"]) == len(report["rows"])
    for kind in ("pdf", "svg", "csv", "tex", "json"):
        file = finish(bench, "matters.file", report=report["key"], format=kind, language="zh")["file"]
        assert file["name"] == f"sdtps-matters.{kind}"
        assert len(base64.b64decode(file["data"])) > 100
    gone = bench.ask({"task": "matters.file", "report": "nobody"})
    assert gone["error"]["code"] == "matters.gone"


@pytest.mark.parametrize("bad", [{"ratios": [0.0]}, {"ratios": [2.0]}, {"draws": 0}, {"draws": 1000}, {"gallery": 9}])
def test_what_the_page_would_never_ask_is_refused(bench, key, bad):
    answer = bench.ask({"task": "matters.run", "key": key, "gallery": 0, "settings": SETTINGS} | bad)
    assert answer["error"]["code"] == "request.malformed"


def test_a_match_is_taken_apart_and_patches_can_be_taken_away(bench, key):
    finish(bench, "rank.index", key=key, gallery=0, settings=SETTINGS)
    rows = bench.ask({"task": "rank.list", "key": key, "gallery": 0, "settings": SETTINGS})["rows"]
    ask = {"task": "rank.explain", "key": key, "gallery": 0, "settings": SETTINGS, "id": rows[0]["id"]}
    told = bench.ask(ask)
    assert sum(t["value"] for t in told["terms"]) == pytest.approx(told["cosine"], abs=1e-5)
    assert told["cosine"] == pytest.approx(1 - rows[0]["distance"] / 2, abs=1e-4)
    assert (told["place"], told["after"]) == (1, pytest.approx(told["cosine"]))
    patch = next(i for i, kept in enumerate(told["kept"]["rgb"][0]) if kept)
    removed = [{"modality": "rgb", "patch": patch}]
    after = bench.ask(ask | {"query_removed": removed, "result_removed": removed})
    assert after["after"] != told["after"]
    assert after["place_after"] in range(1, 8)
    wrong = next(row for row in rows if row["same"] is False)
    win = bench.ask(ask | {"id": wrong["id"]})["win"]
    assert win["name"]
    if win["patches"]:
        taken = [{"modality": m, "patch": p} for m, p in win["patches"]]
        again = bench.ask(ask | {"id": wrong["id"], "query_removed": taken})
        assert again["first_right_after"] < again["place_after"]
    bad = bench.ask(ask | {"query_removed": [{"modality": "rgb", "patch": 9999}]})
    assert bad["error"]["code"] == "request.malformed"


def test_cases_have_numbers_places_thumbnails_and_one_figure(bench, key):
    found = finish(bench, "cases.run", key=key, gallery=0, settings=SETTINGS)
    assert len(found["ids"]) == 8
    assert set(found["columns"]) == set(COLUMNS)
    ap, precision = (unpacked(found["columns"][name]) for name in ("ap", "precision"))
    assert ((ap > 0) & (ap <= 1)).all()
    assert np.isnan(precision).all()  # plain colours have no masks
    assert np.abs(unpacked(found["places"])).max() == pytest.approx(1.0)
    thumbs = bench.ask({"task": "cases.thumbs", "survey": found["key"], "numbers": [0, 7]})["thumbs"]
    assert all(url.startswith("data:image/jpeg") for url in thumbs)
    file = finish(bench, "cases.figure", survey=found["key"], numbers=[0, 3], rows=["rgb", "tir"], format="svg")["file"]
    drawn = base64.b64decode(file["data"]).decode()
    assert drawn.count(">RGB<") == 2
    assert ">NIR<" not in drawn
    assert bench.ask({"task": "cases.thumbs", "survey": found["key"], "numbers": [8]})["error"]["code"] == "cases.gone"


def test_the_folder_browser_takes_the_order_and_the_bounds_of_a_survey(bench, key):
    found = finish(bench, "cases.run", key=key, gallery=0, settings=SETTINGS)
    told = dict(zip(found["ids"], unpacked(found["columns"]["darkness"]).tolist(), strict=True))
    ask = {"task": "data.find", "root": 0, "split": "test", "count": 50, "survey": found["key"], "column": "darkness"}
    rows = bench.ask(ask | {"descending": True})["rows"]
    assert [row["value"] for row in rows] == sorted(told.values(), reverse=True)
    assert {row["id"]: row["value"] for row in rows} == told
    middle = sorted(told.values())[4]
    few = bench.ask(ask | {"low": middle})
    assert few["total"] == sum(value >= middle for value in told.values())
    assert few["rows"][0]["value"] == middle
    # What has no number comes last, and passes no bound.
    nameless = bench.ask(ask | {"column": "precision"})
    assert {row["value"] for row in nameless["rows"]} == {None}
    assert bench.ask(ask | {"column": "precision", "high": 1.0})["total"] == 0
    assert bench.ask(ask | {"survey": "gone"})["error"]["code"] == "cases.gone"
    assert bench.ask(ask | {"column": "beauty"})["error"]["code"] == "request.malformed"


def test_thumbnails_darken_what_was_dropped(bench, key):
    found = finish(bench, "cases.run", key=key, gallery=0, settings=SETTINGS)
    held = surveys.find(found["key"])
    url = bench.ask({"task": "cases.thumbs", "survey": found["key"], "numbers": [0]})["thumbs"][0]
    pixels = np.asarray(Image.open(BytesIO(base64.b64decode(url.split(",")[1]))).convert("L"), float)
    first = pixels[:, : pixels.shape[1] // 3]  # RGB, of one colour in this data
    grid = held.model.net.backbone.grid
    tall, wide = first.shape[0] // grid.rows, first.shape[1] // grid.cols
    patches = first.reshape(grid.rows, tall, grid.cols, wide).mean((1, 3)).ravel()
    kept = held.survey.masks[0, 0]
    assert patches[kept].min() > patches[~kept].max()


def test_average_precision_of_a_case_is_that_of_its_rank_list(bench, key, tiny_model, tmp_path):
    source = bench.data.galleries[0]
    found = survey(tiny_model, source.dataset, "test", Settings(), batch=4, cache=str(tmp_path))
    finish(bench, "rank.index", key=key, gallery=0, settings=SETTINGS)
    told = bench.ask({"task": "rank.list", "key": key, "gallery": 0, "settings": SETTINGS})
    assert found.table[0, 0] == pytest.approx(told["average_precision"], abs=1e-6)
    right = next(row["distance"] for row in told["rows"] if row["same"])
    wrong = next(row["distance"] for row in told["rows"] if not row["same"])
    assert found.table[0, 2] == pytest.approx((wrong - right) / 2, abs=1e-5)


def test_the_map_is_the_plane_of_largest_spread():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(50, 2)) * [3.0, 1.0] @ rng.normal(size=(2, 20)) + 10
    places = plane(flat.astype(np.float32))
    unit = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    centred = unit - unit.mean(0)
    ours, theirs = np.linalg.svd(places)[1], np.linalg.svd(centred)[1][:2]
    np.testing.assert_allclose(ours / ours[0], theirs / theirs[0], rtol=1e-3)
