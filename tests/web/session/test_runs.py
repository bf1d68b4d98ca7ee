"""The tasks of the Training tab, without a browser."""

import json

import pytest

import sdtps
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.run_registry import RunRegistry
from tests.runs.conftest import image_sets  # noqa: F401 - a fixture
from tests.runs.doubles import ours
from tests.runs.test_recorder import loop


@pytest.fixture
def backend(tmp_path, tiny_model, image_sets):  # noqa: F811
    for name in ("one", "two"):
        model = ours()
        with sdtps.Recorder(tmp_path / name, model, probe=image_sets, about={"name": name}) as recorder:
            loop(recorder, model)
    return PageBackend([tiny_model], {}, runs=RunRegistry([tmp_path / "one", tmp_path / "two"]))


def test_runs_are_listed_with_curves_and_findings(backend):
    listed = backend.ask({"task": "runs.list"})
    json.dumps(listed, allow_nan=False)
    assert [r["name"] for r in listed["runs"]] == ["one", "two"]
    assert listed["differing"] == ["name"]
    assert "loss" in {c["name"] for c in listed["runs"][0]["curves"]}
    assert listed["shipped"] is False


def test_an_epoch_opens_moves_and_is_compared(backend):
    first, last = (backend.ask({"task": "runs.epoch", "run": 0, "epoch": e, "probe": 1}) for e in (0, 1))
    assert first["modalities"]["rgb"]["photo"].startswith("data:")
    assert first["weights"]["name"] == "one, epoch 0"
    moved = backend.decide({"key": first["key"], "settings": {"sparse_ratio": 0.25}})
    assert moved["counts"]["kept"] == 32
    other = backend.ask({"task": "runs.epoch", "run": 1, "epoch": 1})
    for b in (last, other):
        found = backend.ask({"task": "why.compare", "a": {"key": first["key"]}, "b": {"key": b["key"]}})
        assert 0 <= found["modalities"]["rgb"]["overlap"]["jaccard"] <= 1


def test_on_a_fresh_machine_the_shipped_lab_is_there_at_once(tiny_model):
    backend = PageBackend([tiny_model], {}, runs=RunRegistry())
    listed = backend.ask({"task": "runs.list"})
    json.dumps(listed, allow_nan=False)
    assert listed["shipped"] is True
    assert {"final-s0", "gumbel-tau1-s0", "ste-tokens-s0"} <= {run["name"] for run in listed["runs"]}
    lines = {line["name"]: line for line in listed["lab"]}
    assert lines["no-grad"]["verdict"] == "contradicts"
    assert backend.ask({"task": "runs.lab"})["lab"] == listed["lab"]
    final = next(run["id"] for run in listed["runs"] if run["name"] == "final-s0")
    assert backend.ask({"task": "runs.epoch", "run": final, "epoch": 11})["weights"]["name"] == "final-s0, epoch 11"


def test_the_same_epoch_keeps_its_key(backend):
    keys = {backend.ask({"task": "runs.epoch", "run": 0, "epoch": 0})["key"] for _ in range(3)}
    assert len(keys) == 1


@pytest.mark.parametrize(
    "request_", [{"run": 9, "epoch": 0}, {"run": 0, "epoch": 99}, {"run": 0, "epoch": 0, "probe": 5}]
)
def test_what_is_not_there_is_one_sentence(backend, request_):
    assert backend.ask({"task": "runs.epoch", **request_})["error"]["text"]


@pytest.mark.parametrize("task", ["why.gradients", "why.faithfulness"])
def test_what_needs_weights_says_so(backend, task):
    key = backend.ask({"task": "runs.epoch", "run": 0, "epoch": 0})["key"]
    assert "no weights" in backend.ask({"task": task, "key": key})["error"]["text"]


def test_a_run_that_goes_on_is_read_again(tmp_path, tiny_model, backend):
    model = ours()
    with sdtps.Recorder(tmp_path / "one", model, resume=True) as recorder:
        recorder.step(loss=7.5)
        recorder.epoch(mAP=0.9)
    card = backend.ask({"task": "runs.list"})["runs"][0]
    assert next(c for c in card["curves"] if c["name"] == "mAP")["values"][-1] == 0.9


def test_what_is_written_while_the_page_is_open_is_shown(tmp_path):
    """In a folder of runs and in a growing log, not only in a run's own folder; equal names are told apart."""
    model = ours()
    line = "Epoch[{0}] Iteration[10/10] Loss: 4.0, Acc: 0.1, Base Lr: 1e-3\n"
    (tmp_path / "runs").mkdir()
    (tmp_path / "one").mkdir()
    log = tmp_path / "one" / "train_log.txt"
    log.write_text(line.format(1))
    recorder = sdtps.Recorder(tmp_path / "runs" / "one", model)
    recorder.step(loss=1.0)
    registry = RunRegistry([tmp_path / "runs", tmp_path / "one"])
    assert [run.name for run in registry.runs()] == ["one", "one [2]"]
    recorder.step(loss=2.0)
    log.write_text(line.format(1) + line.format(2))
    assert [len(run.scalar("loss")) for run in registry.runs()] == [2, 2]
