"""Each rule with a run that shows it and one that does not."""

import math

import numpy as np
import pytest

from sdtps.runs.diagnosis import diagnose, differing_settings
from sdtps.runs.schema import GRADIENT, ROUTES, Run
from sdtps.runs.series import settling
from sdtps.web.static import texts
from tests.runs.made import made, watched, with_maps

FLAT = np.random.default_rng(1).normal(0, 0.002, 40)


def rules(*runs):
    return {f.rule for f in diagnose(runs)}


def test_a_healthy_run_is_left_alone():
    assert rules(made()) == set()


@pytest.mark.parametrize("level", [math.log(40), math.log(2), 0.3, math.log(40) + math.log(2)])
def test_a_loss_at_the_level_of_ignorance_is_collapse(level):
    assert rules(made(loss=level + FLAT, acc=np.full(40, 0.03))) == {"collapsed"}


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        ({"loss": {"cross_entropy": 0.25}, "heads": {"sdtps": 2.0}}, 3 * (0.25 * math.log(40) + math.log(2))),
        ({"MODEL.ID_LOSS_WEIGHT": 0.25, "MODEL.SDTPS_LOSS_WEIGHT": 2.0}, 3 * (0.25 * math.log(40) + math.log(2))),
        ({"loss": {"cross_entropy": 0.5}}, 0.5 * math.log(40) + math.log(2)),
        ({}, 2 * (math.log(40) + math.log(2))),
    ],
)
def test_ignorance_is_weighed_as_the_losses_are(settings, level):
    stuck = {"loss": level + FLAT, "acc": np.full(40, 0.03)}
    assert rules(made(settings=settings, **stuck)) == {"collapsed"}
    assert "collapsed" not in rules(made(settings={"loss": {"cross_entropy": 0.8}}, **stuck))


@pytest.mark.parametrize(
    "columns",
    [
        {"loss": math.log(40) + FLAT, "acc": np.full(40, 0.6)},  # it tells people apart all the same
        {"loss": 2.0 + FLAT, "acc": np.full(40, 0.03)},  # it stands still elsewhere
        {"loss": np.linspace(4.5, 3.2, 40), "acc": np.full(40, 0.03)},  # it passes through
    ],
)
def test_other_losses_are_no_collapse(columns):
    assert "collapsed" not in rules(made(**columns))


@pytest.mark.parametrize("route", ["scores", "predictor"])
def test_the_1e10_mask_is_seen_in_its_first_epoch(route):
    run = made(count=5, **{f"grad/{route}": np.full(5, 3e5)})
    (finding,) = diagnose([run])
    assert (finding.rule, finding.epoch) == ("amplified", 0)
    assert "1e10" in finding.said
    assert finding.evidence["times"] == pytest.approx(3e7)


def test_a_gradient_in_proportion_is_not_amplified():
    assert "amplified" not in rules(made(**{"grad/scores": np.full(40, 5e3)}))


def test_the_first_nan_is_named():
    loss = np.linspace(9, 7, 40)
    loss[12:] = np.nan
    (finding,) = [f for f in diagnose([made(loss=loss)]) if f.rule == "not_finite"]
    assert "step 12 (epoch 2)" in finding.said
    assert finding.evidence["loss one step before"] == pytest.approx(loss[11])


def test_what_was_recorded_is_named_in_words_of_both_languages():
    gradient = np.full(40, np.inf)
    (finding,) = [f for f in diagnose([made(**{"grad/scores": gradient})]) if f.rule == "not_finite"]
    assert finding.said.startswith("the gradient at the scores is no number from step 0")
    codes = {f"recorded.{name}" for name in ("loss", *(GRADIENT + route for route in ROUTES))}
    assert {f"note.{code}" for code in codes | {"evidence.scores", "evidence.predictor"}} <= texts()["zh"].keys()


def test_gaps_in_a_gradient_are_no_nan():
    gradient = np.full(40, 1e-3)
    gradient[::2] = np.nan
    assert "not_finite" not in rules(made(**{"grad/scores": gradient}))


def test_the_recorders_first_bad_step_is_told():
    bad = {"step": 14, "epoch": 2, "why": "loss 40 is 9.1 times the median of the steps before", "batch": {"batch": 32}}
    run = made()
    sick = Run(run.name, run.settings, run.steps, {}, about=run.about, first_bad=bad)
    assert rules(sick) == {"exploded"}
    assert "9.1 times" in diagnose([sick])[0].said


def test_a_loss_that_climbs_is_told():
    assert rules(made(loss=np.linspace(9, 18, 40))) == {"climbs"}
    assert rules(made(loss=np.linspace(9, 9.5, 40))) == set()


def test_a_head_that_enters_later_is_no_climb():
    """The total doubles when SDTPS joins; each head falls."""
    total = np.concatenate([np.linspace(4.5, 4.3, 20), np.linspace(8.6, 8.0, 20)])
    heads = {"loss_ori": np.linspace(4.5, 4.0, 40), "loss_sdtps": np.linspace(4.6, 4.0, 40)}
    assert "climbs" not in rules(made(loss=total, **heads))


def test_heads_of_a_loop_with_five_lines_are_heads(tmp_path):
    total = np.concatenate([np.linspace(4.5, 4.3, 20), np.linspace(8.6, 8.0, 20)])
    assert "climbs" not in rules(made(loss=total, ori=np.linspace(4.5, 4.0, 40), sdtps=np.linspace(4.6, 4.0, 40)))


def test_damaged_maps_take_no_others_with_them(tmp_path):
    run = with_maps(tmp_path / "run", lambda e: watched(np.random.default_rng(e)))
    (tmp_path / "run" / "maps" / "000001.npz").write_bytes(b"cut")
    assert settling(run).epochs.tolist() == [0, 2, 3]
    assert rules(run) == set()


def test_a_kept_set_that_never_moves_is_frozen(tmp_path):
    kept = np.arange(64)
    frozen = with_maps(tmp_path / "frozen", lambda _: watched(np.random.default_rng(3), kept))
    assert rules(frozen) == {"frozen"}
    moving = with_maps(tmp_path / "moving", lambda e: watched(np.random.default_rng(3), np.arange(64) + (e > 2)))
    assert rules(moving) == set()


def test_a_predictor_without_slope_is_saturated(tmp_path):
    def sick(epoch):
        return watched(np.random.default_rng(epoch), predictor=np.full(128, 0.999 if epoch > 1 else 0.6))

    run = with_maps(tmp_path / "sick", sick)
    (finding,) = diagnose([run])
    assert (finding.rule, finding.epoch) == ("saturated", 2)
    assert rules(with_maps(tmp_path / "well", lambda e: watched(np.random.default_rng(e)))) == set()


def test_a_head_outside_the_loss_is_named():
    silent = {"grad/head/sdtps": np.zeros(40)}
    (finding,) = diagnose([made(**silent)])
    assert finding.rule == "left_out"
    assert "sdtps" in finding.said


@pytest.mark.parametrize("settings", [{"heads": {"sdtps": 0.0}}, {"selection": {"warm_up_epochs": 8}}])
def test_a_head_that_was_left_out_on_purpose_is_not(settings):
    assert "left_out" not in rules(made(settings=settings, **{"grad/head/sdtps": np.zeros(40)}))


def test_a_head_that_only_waited_is_in_the_loss():
    late = np.where(np.arange(40) < 25, 0.0, 3.0)
    assert "left_out" not in rules(made(**{"grad/head/sdtps": late}))


def test_a_switch_that_nothing_reads():
    a, b = made("a", {"tau": 1.0, "seed": 0}), made("b", {"tau": 5.0, "seed": 0})
    (finding,) = diagnose([a, b])
    assert (finding.rule, finding.run) == ("dead_switch", "a / b")
    assert "tau" in finding.said
    moved = made("b", {"tau": 5.0, "seed": 0}, loss=9.0 - 0.0501 * np.arange(40))
    assert rules(a, moved) == set()


def test_equal_settings_and_other_numbers():
    a = made("a", {"tau": 1.0, "seed": 0})
    b = made("b", {"tau": 1.0, "seed": 0}, loss=9.0 - 0.0501 * np.arange(40))
    assert rules(a, b) == {"changed_code"}
    assert rules(a, made("b", {"tau": 1.0, "seed": 0})) == set()
    assert rules(a, made("b", {"tau": 1.0, "seed": 1}, loss=b.scalar("loss"))) == set()


def test_settings_are_compared_by_name():
    a = made("a", {"selection": {"tau": 1.0, "gumbel": True}, "beta": 0.25})
    b = made("b", {"selection": {"tau": 5.0, "gumbel": True}, "beta": 0.25, "new": 1})
    assert differing_settings(a, b) == {"selection.tau": (1.0, 5.0), "new": (None, 1)}
