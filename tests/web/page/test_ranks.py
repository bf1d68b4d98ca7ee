"""Rank lists on the server: indexing as a job that can be stopped, the order, who is right, kept patches."""

import base64
import threading

import numpy as np
import pytest

import sdtps
from sdtps.datasets import open_dataset
from sdtps.export import payload
from sdtps.retrieval import feature_store as store
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.retrieval.features import extend
from sdtps.web.session import jobs
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.data_registry import DataRegistry
from sdtps.web.session.jobs import Lane
from tests.datasets import trees

SETTINGS = {"sparse_ratio": 0.5, "aggr_ratio": 0.4, "beta": 0.25, "variant": "final"}


@pytest.fixture
def bench(tmp_path, tiny_model):
    people = open_dataset(trees.rgbnt201(tmp_path / "people", ids=4), confined=True)
    trees.write_folders(tmp_path / "plain", ["a.jpg", "b.jpg"], ("rgb", "nir", "tir"))
    plain = open_dataset(tmp_path / "plain", confined=True)
    made = PageBackend([tiny_model], {}, DataRegistry([people], [plain], FeatureStore(tmp_path / "cache")))
    yield made
    made.jobs.close()


def open_record(bench, gallery=0, split="test", number=2):
    identifier = bench.data.galleries[gallery].ids(split)[number]
    pictures = {m: {"record": identifier} for m in ("rgb", "nir", "tir")}
    return bench.analyse({"pictures": pictures})["key"]


def finish(bench, key):
    while True:
        answer = bench.ask({"task": "job.poll", "job": key})
        if "done" not in answer:
            return answer
        threading.Event().wait(0.02)


def index(bench, key, gallery=0):
    started = bench.ask({"task": "rank.index", "key": key, "gallery": gallery, "settings": SETTINGS})
    return finish(bench, started["job"])


def test_a_list_needs_an_index_and_then_has_the_plain_order(bench, tiny_model):
    key = open_record(bench)
    ask = {"task": "rank.list", "key": key, "gallery": 0, "settings": SETTINGS, "length": 4}
    assert bench.ask(ask)["error"]["code"] == "rank.none"
    (card, _) = bench.ask({"task": "rank.galleries", "key": key})["galleries"]
    assert (card["count"], card["indexes"], card["split"]) == (8, [], "test")
    assert index(bench, key)["result"]["indexes"][0]["done"] == 8
    answer = bench.ask(ask)

    records = bench.data.galleries[0].dataset.listing("test").records
    features = np.array([sdtps.analyse(tiny_model, *r.paths).feature for r in records], float)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    distance = ((unit - unit[2]) ** 2).sum(1)
    order = [i for i in np.argsort(distance) if i != 2]
    assert [r["name"] for r in answer["rows"]] == [records[i].name for i in order[:4]]
    assert [r["same"] for r in answer["rows"]] == [records[i].pid == records[2].pid for i in order[:4]]
    np.testing.assert_allclose([r["distance"] for r in answer["rows"]], distance[order[:4]], rtol=1e-3, atol=1e-6)
    assert (answer["searched"], answer["left_out"], answer["right"], answer["apart"]) == (7, 1, 1, "camera")
    assert answer["average_precision"] == pytest.approx(1 / answer["first_right"])
    assert answer["query"]["record"]["name"] == records[2].name
    assert answer["rows"][0]["photos"]["tir"].startswith("data:image/jpeg")


def test_identities_of_another_data_set_are_not_compared(bench):
    key = open_record(bench)
    index(bench, key, gallery=1)
    answer = bench.ask({"task": "rank.list", "key": key, "gallery": 1, "settings": SETTINGS})
    assert (answer["comparable"], answer["right"], answer["left_out"]) == (False, None, 0)
    assert {r["same"] for r in answer["rows"]} == {None}


def test_without_identities_only_the_query_itself_is_left_out(bench):
    key = open_record(bench, gallery=1, split="all", number=0)
    index(bench, key, gallery=1)
    answer = bench.ask({"task": "rank.list", "key": key, "gallery": 1, "settings": SETTINGS})
    assert [(r["name"], r["same"]) for r in answer["rows"]] == [("b.jpg", None)]
    assert (answer["comparable"], answer["left_out"]) == (True, 1)


def test_kept_patches_are_those_of_an_analysis(bench, tiny_model):
    key = open_record(bench)
    gallery = bench.data.galleries[0]
    settings = SETTINGS | {"sparse_ratio": 0.2}
    answer = bench.ask({"task": "rank.kept", "key": key, "id": gallery.ids("test")[5], "settings": settings})
    want = sdtps.analyse(tiny_model, *gallery.dataset.listing("test").records[5].paths, sdtps.Settings(**settings))
    for m in ("rgb", "nir", "tir"):
        assert answer["masks"][m] == payload.pack_bytes(want[m].mask.astype(np.uint8))
    assert answer["masks"]["grid"] == {"rows": 16, "cols": 8}


def test_indexing_ends_when_its_hours_are_up_and_goes_on_later(bench, monkeypatch):
    key, others = open_record(bench), threading.Event()
    real = extend

    def slow(*arguments, **options):
        for done in real(*arguments, **options):
            yield done
            others.wait(60)
            while not bench.jobs._find(job).late:
                threading.Event().wait(0.02)

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "SECONDS", jobs.SECONDS | {Lane.GALLERY: 0.5})
        patch.setattr(store, "extend", slow)
        job = bench.ask({"task": "rank.index", "key": key, "gallery": 0, "settings": SETTINGS})["job"]
        short = bench.ask({"task": "why.gradients", "key": key, "settings": SETTINGS})["job"]
        assert "result" in finish(bench, short), "what takes minutes does not wait for what takes hours"
        others.set()
        assert bench.jobs._find(job).future.result(60)["error"]["code"] == "job.hours"
    assert index(bench, key)["result"]["indexes"][0]["done"] == 8


def test_indexing_can_be_cancelled_and_goes_on_later(bench, monkeypatch):
    key = open_record(bench)
    halfway, cancelled = threading.Event(), threading.Event()
    real = extend

    def gated(*arguments, **options):
        for done in real(*arguments, **options):
            yield done
            halfway.set()
            cancelled.wait(60)

    with monkeypatch.context() as patch:
        patch.setattr(store, "extend", gated)
        job = bench.ask({"task": "rank.index", "key": key, "gallery": 0, "settings": SETTINGS})["job"]
        assert halfway.wait(60)
        assert bench.ask({"task": "job.poll", "job": job}) == {"done": 4, "total": 8}
        bench.ask({"task": "job.cancel", "job": job})
        cancelled.set()
        assert finish(bench, job) == {"cancelled": True}
    card = bench.ask({"task": "rank.galleries", "key": key})["galleries"][0]
    done = card["indexes"][0]["done"]
    assert 0 < done <= 8
    ask = {"task": "rank.list", "key": key, "gallery": 0, "settings": SETTINGS}
    assert ("error" in bench.ask(ask)) == (done < 8)
    index(bench, key)
    assert len(bench.ask(ask)["rows"]) == 7


@pytest.mark.parametrize(
    "fields", [{"gallery": 9}, {"gallery": -1}, {"gallery": "0"}, {}, {"gallery": 0, "length": "x"}]
)
def test_malformed_requests(bench, fields):
    key = open_record(bench)
    assert bench.ask({"task": "rank.list", "key": key, **fields})["error"]["code"] == "request.malformed"


def test_a_result_that_has_gone_keeps_its_place(bench):
    key = open_record(bench)
    index(bench, key)
    ask = {"task": "rank.list", "key": key, "gallery": 0, "settings": SETTINGS}
    first = bench.ask(ask)["rows"][0]
    gallery = bench.data.galleries[0]
    gallery.at("test", gallery.ids("test").index(first["id"])).record.paths[1].unlink()
    again = bench.ask(ask)["rows"][0]
    assert (again["name"], again["photos"]["rgb"]) == (first["name"], None)


def test_the_list_on_screen_is_saved_as_a_figure(bench):
    key = open_record(bench)
    index(bench, key)
    ask = {"task": "export.ranks", "key": key, "gallery": 0, "settings": SETTINGS, "length": 4, "format": "svg"}
    drawing = base64.b64decode(finish(bench, bench.ask(ask)["job"])["result"]["file"]["data"]).decode()
    listed = bench.ask(ask | {"task": "rank.list"})["rows"]
    for row in listed:
        mark = {True: "✓ ", False: "× ", None: ""}[row["same"]]
        assert f">{mark}{row['distance']:.2f}<" in drawing
    assert bench.ask(ask | {"key": "gone"})["error"]["code"] == "session.expired"
