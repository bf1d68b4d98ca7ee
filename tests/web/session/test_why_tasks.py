"""What the page asks about patches, sets and curves: the numbers of the metrics, and refusals of everything else."""

import json
import time

import numpy as np
import pytest
from PIL import Image

import sdtps
from sdtps import metrics
from sdtps.checkpoints.load import random_model
from sdtps.datasets.examples import find_examples
from sdtps.pipeline import analyse_triplet
from sdtps.training.synth import sample
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.tasks.why import plain
from tests.conftest import tiny_vit_config


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    triplet = sample(pid=3, view=1, seed=0, force={"day"})
    for name in ("day", "maskless"):
        (folder / name).mkdir()
        for m in ("rgb", "nir", "tir"):
            Image.fromarray(getattr(triplet, m)).save(folder / name / f"{m}.png")
    Image.fromarray((triplet.person * 255).astype(np.uint8)).save(folder / "day" / "mask.png")
    index = [{"name": name, "title": {"en": name, "zh": name}} for name in ("day", "maskless")]
    (folder / "examples.json").write_text(json.dumps(index))
    return find_examples(folder)


@pytest.fixture(scope="module")
def bench(examples):
    bench = PageBackend([random_model(tiny_vit_config(), seed=2, device="cpu")], examples)
    yield bench
    bench.jobs.close()


@pytest.fixture(scope="module")
def shown(bench):
    """What every question names: the open triplet and its settings."""
    picture = {"example": "day"}
    answer = bench.analyse({"pictures": dict.fromkeys(("rgb", "nir", "tir"), picture)})
    return {"key": answer["key"], "settings": {"sparse_ratio": 0.4}}


@pytest.fixture(scope="module")
def analysis(bench, examples):
    model = next(iter(bench.models.values()))
    return analyse_triplet(model, examples["day"].triplet, sdtps.Settings(sparse_ratio=0.4))


def finished(bench, started):
    """The answer of a job, once it is there."""
    while True:
        answer = bench.ask({"task": "job.poll", "job": started["job"]})
        if answer.keys() & {"result", "error", "cancelled"}:
            return answer
        time.sleep(0.02)


def test_patch_has_the_numbers_of_its_provenance(bench, shown, analysis):
    answer = bench.ask({"task": "why.patch", **shown, "modality": "nir", "patch": 77})
    expected = plain(metrics.patch_provenance(analysis, "nir", 77).as_dict())
    assert {k: v for k, v in answer.items() if k != "top"} == expected
    assert answer["top"] == [0.0, 1.5]


def test_token_answers_for_the_three_modalities(bench, shown, analysis):
    answer = bench.ask({"task": "why.token", **shown, "token": 4})
    for m in ("rgb", "nir", "tir"):
        assert answer["modalities"][m]["sources"] == metrics.token_provenance(analysis, m, 4).sources.tolist()
    assert answer["tokens"] == 20


def test_no_token_is_one_sentence(bench, shown):
    few = shown | {"settings": {"sparse_ratio": 0.05, "aggr_ratio": 0.05}}
    assert bench.ask({"task": "why.token", **few, "token": 0})["error"]["code"] == "why.no_tokens"


def test_compare_says_how_far_each_map_differs_and_ranks_where_scales_do(bench, shown):
    other = {"key": shown["key"], "settings": {"beta": 0.5}}
    answer = bench.ask({"task": "why.compare", "a": shown, "b": other})
    largest = max(abs(v) for m in answer["modalities"].values() for v in m["differences"]["score"])
    assert answer["maps"]["score"] == {"most": pytest.approx(largest), "flat": False}
    assert answer["maps"]["self"] == {"most": 0.0, "flat": True}, "no slider moves it"
    climbed = max(abs(v) for m in answer["modalities"].values() for v in m["climbed"])
    assert answer["maps"]["ranks"] == {"most": climbed, "flat": False}
    assert answer["same_scale"] is False
    assert 0 < answer["sdtps_cosine"] <= 1
    fewer = {"key": shown["key"], "settings": {"sparse_ratio": 0.3}}
    answer = bench.ask({"task": "why.compare", "a": shown, "b": fewer})
    assert answer["same_scale"] is True
    assert answer["maps"]["ranks"]["flat"] is True


@pytest.mark.parametrize(("name", "count"), [("sparse_ratio", 96), ("aggr_ratio", 96), ("beta", 51), ("tau", 47)])
def test_sweep_covers_the_slider(bench, shown, name, count):
    answer = bench.ask({"task": "why.sweep", **shown, "name": name})
    assert len(answer["values"]) == len(answer["kept"]) == len(answer["cosine"]["rgb"]) == count
    assert answer["log"] == (name == "tau")
    assert len(answer["precision"]["tir"]) == count


def test_without_a_mask_there_is_no_precision(bench):
    picture = {"example": "maskless"}
    key = bench.analyse({"pictures": dict.fromkeys(("rgb", "nir", "tir"), picture)})["key"]
    answer = bench.ask({"task": "why.sweep", "key": key, "name": "beta"})
    assert answer["precision"] == {}


def test_variants_that_lack_weights_say_so(bench, shown):
    cards = {c["name"]: c for c in bench.ask({"task": "why.variants", **shown})["variants"]}
    assert "second predictor" in cards["paper"]["lacking"]["text"]
    assert cards["final"]["modalities"]["rgb"]["overlap"]["jaccard"] == 1.0
    assert sum(cards["open-source"]["modalities"]["nir"]["mask"]) == cards["open-source"]["kept"] == 52


def test_gradients_of_triplet_and_seeded_batch(bench, shown):
    result = finished(bench, bench.ask({"task": "why.gradients", **shown}))["result"]
    assert len(result["triplet"]["flows"]) == len(result["reference"]["flows"]) == 12
    assert len(result["triplet"]["flows"][0]["score"]["rgb"]) == 128
    assert result["triplet"]["noise"]["changed"] == 0


def test_faithfulness_by_job(bench, shown):
    result = finished(bench, bench.ask({"task": "why.faithfulness", **shown}))["result"]
    assert set(result["removal"]["rgb"]) == {"whole", "person"}
    assert result["settings"]["sparse_ratio"] == 0.4
    json.dumps(result, allow_nan=False)


def test_faithfulness_can_be_cancelled(bench, shown):
    started = bench.ask({"task": "why.faithfulness", **shown})
    bench.ask({"task": "job.cancel", "job": started["job"]})
    assert finished(bench, started) == {"cancelled": True}


@pytest.mark.parametrize(
    "question",
    [
        {"task": "why.patch", "modality": "rgb", "patch": 128},
        {"task": "why.patch", "modality": "rgb", "patch": True},
        {"task": "why.patch", "modality": "uv", "patch": 1},
        {"task": "why.patch", "modality": ["rgb"], "patch": 1},
        {"task": "why.token", "token": -1},
        {"task": "why.sweep", "name": "draws"},
        {"task": "why.sweep", "name": ["beta"]},
        {"task": "why.compare", "a": None, "b": 3},
    ],
)
def test_malformed_questions_are_refused(bench, shown, question):
    assert bench.ask(shown | question)["error"]["code"] == "request.malformed"


def test_a_forgotten_triplet_is_asked_for_again(bench, shown):
    answer = bench.ask({"task": "why.variants", **shown, "key": "gone"})
    assert answer["expired"] == ["rgb", "nir", "tir"]


def test_what_is_not_a_number_becomes_nothing():
    assert plain({"a": np.array([1.0, np.nan]), "b": float("inf"), "c": (np.int64(2), True)}) == {
        "a": [1.0, None], "b": None, "c": [2, True],
    }  # fmt: skip
