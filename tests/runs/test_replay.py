"""A recorded epoch through the same door: the numbers of the live analysis, at every slider position."""

import numpy as np
import pytest

import sdtps
from sdtps import metrics
from sdtps.pipeline import OpenSet
from sdtps.runs.cards import run_cards
from sdtps.runs.reader import read_run
from sdtps.runs.replay import open_epoch
from sdtps.runs.series import curves, settling
from sdtps.types import MODALITIES, Settings
from tests.runs.doubles import ours
from tests.runs.made import watched, with_maps
from tests.runs.test_recorder import loop


@pytest.fixture
def recorded(tmp_path, image_sets, tiny_model):
    with sdtps.Recorder(tmp_path / "run", tiny_model.net, probe=image_sets) as recorder:
        recorder.epoch(0)
        recorder.epoch(1)
    return read_run(tmp_path / "run")


@pytest.mark.parametrize(
    "settings",
    [Settings(), Settings(0.3, 0.5, 0.1, 2.0), Settings(0.8, variant="importance"), Settings(variant="ste-tokens")],
)
def test_every_slider_moves_the_replay_as_it_moves_the_model(recorded, image_sets, tiny_model, settings):
    live = sdtps.analyse(tiny_model, *(image_sets[1] / f"{m}.png" for m in MODALITIES), settings)
    replayed = open_epoch(recorded, 1, 1).analyse(settings)
    for m in MODALITIES:
        assert np.array_equal(replayed[m].keep, live[m].keep)
        assert replayed[m].score == pytest.approx(live[m].score, abs=1e-5)
        assert replayed[m].self_attention == pytest.approx(live[m].self_attention, abs=1e-4)
        assert replayed[m].selection_frequency == pytest.approx(live[m].selection_frequency, abs=0.05)
        assert replayed[m].aggregation_total == pytest.approx(live[m].aggregation_total, abs=5e-3)
    assert replayed.grid == live.grid
    assert replayed.weights.name == "run, epoch 1"


def test_what_needs_weights_is_refused_in_a_sentence(recorded):
    opened = open_epoch(recorded, 0)
    for variant in ("open-source", "paper", "soft"):
        with pytest.raises(ValueError, match="a recorded epoch has neither"):
            opened.analyse(Settings(variant=variant))
    with pytest.raises(ValueError, match="holds maps and no weights"):
        OpenSet(opened.model, opened.prepared).encode()
    with pytest.raises(ValueError, match="no maps of epoch 7; it was watched from 0 to 1"):
        open_epoch(recorded, 7)
    with pytest.raises(ValueError, match="watched no such image set"):
        open_epoch(recorded, 0, 5)


def test_epochs_and_runs_are_compared_like_any_two_analyses(tmp_path, image_sets):
    model = ours()
    with sdtps.Recorder(tmp_path / "run", model, probe=image_sets[:1]) as recorder:
        loop(recorder, model, steps=4)
    run = read_run(tmp_path / "run")
    first, last = (open_epoch(run, e).analyse() for e in run.watched_epochs)
    found = metrics.compare(first, last)
    drift = settling(run).drift[-1]
    overlaps = [found.modalities[m].overlap.corrected for m in MODALITIES]
    assert np.mean(overlaps) == pytest.approx(drift)
    assert drift < 1.0


def test_a_light_recording_is_the_same_without_aggregation(tmp_path, image_sets, tiny_model):
    with sdtps.Recorder(tmp_path / "run", tiny_model.net, probe=image_sets, light=True) as recorder:
        recorder.epoch(0)
    replayed = open_epoch(read_run(tmp_path / "run"), 0).analyse()
    live = sdtps.analyse(tiny_model, *(image_sets[0] / f"{m}.png" for m in MODALITIES))
    assert replayed["rgb"].aggregation_weights is None
    assert replayed["rgb"].score == pytest.approx(live["rgb"].score, abs=5e-3)


def test_settling_is_measured_against_chance(tmp_path):
    kept = [np.arange(64), np.arange(64), np.arange(64, 128)]
    run = with_maps(tmp_path, lambda e: watched(np.random.default_rng(1), kept[e]), epochs=3)
    found = settling(run)
    assert np.isnan(found.drift[0])
    assert found.drift[1] == 1.0
    assert found.drift[2] < 0.0  # sets that avoid one another agree less than random ones
    assert found.effective_aggregated == pytest.approx([64, 64, 64])
    assert (found.effective_kept <= 64).all()
    assert found.saturation.tolist() == [0, 0, 0]


def test_the_page_gets_curves_findings_and_epochs(recorded):
    card = run_cards([recorded])
    (run,) = card["runs"]
    assert run["epochs"] == [0, 1]
    assert run["probes"] == ["a", "b"]
    assert {c["name"] for c in run["curves"]} >= {"drift", "saturation", "effective_kept", "effective_aggregated"}
    assert card["findings"] == []
    assert all(len(c["epochs"]) == len(c["values"]) for c in run["curves"])
    assert [s.name for s in curves(recorded)] == [c["name"] for c in run["curves"]]
