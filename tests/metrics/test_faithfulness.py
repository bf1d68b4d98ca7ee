import numpy as np
import pytest

import sdtps
from sdtps.metrics import measure_faithfulness, selection_facts, summary
from sdtps.metrics.stability import disturbances, measure_stability


class Stopped(Exception):
    pass


def test_the_whole_report(opened):
    steps = []
    person = np.arange(128) % 8 < 4
    report = measure_faithfulness(
        opened, person=person, orders=5, progress=lambda done, total: steps.append((done, total))
    )
    assert [done for done, _ in steps] == list(range(steps[0][1])), "every step is counted, and the total is true"
    assert set(report.removal) == set(report.facts) == {"rgb", "nir", "tir"}
    assert set(report.removal["rgb"]) == {"whole", "person"}
    assert set(report.stability.overlaps) == {"noise", "shift", "mirror"}
    found = report.as_dict()
    assert found["removal"]["nir"]["whole"]["insertion"]["area"] == report.removal["nir"]["whole"].insertion.area
    assert found["settings"]["sparse_ratio"] == 0.5
    curve = found["removal"]["tir"]["person"]["deletion"]
    assert len(curve["centre"]) == len(curve["share"])
    assert curve["higher_is_better"] is False
    assert curve["beats_chance"] == (round(curve["lead_low"], curve["digits"]) > 0), (
        "the sentence follows from the digits"
    )


def test_a_missing_modality_has_no_report(without):
    report = measure_faithfulness(without("nir"), orders=3)
    assert set(report.removal) == set(report.facts) == {"rgb", "tir"}
    assert set(report.overlap) == {"rgb-tir"}
    assert set(report.stability.overlaps["mirror"]) == {"rgb", "tir"}


def test_progress_may_stop_it(opened):
    def progress(done, total):
        if done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        measure_faithfulness(opened, orders=3, progress=progress)


def test_facts_against_a_mask_that_is_the_selection(analyse_at):
    analysis = analyse_at()
    trace = analysis["rgb"]
    facts = selection_facts(analysis, trace.mask)["rgb"]
    assert (facts.precision, facts.recall) == (1.0, 1.0)
    assert facts.margin == pytest.approx(float(trace.score[trace.keep[-1]]) - float(trace.score[trace.drop[0]]))
    assert 1 <= facts.effective_min <= facts.effective_median <= facts.effective_max <= facts.kept


def test_facts_when_everything_is_kept_or_no_token_is_made(analyse_at):
    everything = selection_facts(analyse_at(sparse_ratio=1.0))["rgb"]
    assert np.isnan(everything.margin)
    assert np.isnan(everything.precision)
    assert np.isnan(selection_facts(analyse_at(sparse_ratio=0.05, aggr_ratio=0.05))["rgb"].effective_median)


def test_an_undisturbed_picture_keeps_its_set(opened, analyse_at, monkeypatch):
    same = [d for d in disturbances() if d.kind == "shift"][:1]
    object.__setattr__(same[0], "change", lambda pixels: pixels)
    monkeypatch.setattr("sdtps.metrics.stability.disturbances", lambda seed: same)
    found = measure_stability(opened, analyse_at())
    assert all(o.jaccard == o.corrected == 1.0 for o in found.overlaps["shift"].values())


def test_mirrored_patches_come_back_to_where_they_were():
    mirror = disturbances()[-1]
    grid = sdtps.Grid(2, 4)
    pixels = np.arange(2 * 4 * 3, dtype=np.uint8).reshape(2, 4, 3)
    mirrored = mirror.change(pixels)
    for patch in range(8):
        back = int(mirror.back(np.array([patch]), grid)[0])
        assert (mirrored.reshape(8, 3)[patch] == pixels.reshape(8, 3)[back]).all()


def test_shifts_move_by_one_pixel():
    right, down = (d for d in disturbances() if d.kind == "shift")
    pixels = np.random.default_rng(0).integers(0, 255, (6, 5, 3)).astype(np.uint8)
    assert (right.change(pixels)[:, 1:] == pixels[:, :-1]).all()
    assert (down.change(pixels)[1:] == pixels[:-1]).all()


def test_noise_is_small_and_differs_between_draws():
    first, second = (d for d in disturbances() if d.kind == "noise")
    pixels = np.full((32, 32, 3), 128, np.uint8)
    a, b = first.change(pixels).astype(int), second.change(pixels).astype(int)
    assert 3.5 < (a - 128).std() < 4.5
    assert (a != b).any()


def test_summary_of_an_analysis_alone(analyse_at):
    analysis = analyse_at()
    found = summary(analysis, analysis["nir"].mask)
    assert found["facts"]["nir"]["precision"] == 1.0
    assert set(found["overlap"]) == {"rgb-nir", "rgb-tir", "nir-tir"}
    patches = found["patches"]["rgb"]
    assert ((patches["margin"] > 0) == analysis["rgb"].mask).all()
    assert sorted(patches["rank"]) == list(range(128))
