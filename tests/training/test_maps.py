from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from sdtps.training.maps import CosineCalibration, apart_loss, map_target, maps_loss, meaning_loss, rank_inside
from sdtps.training.recipe import LossWeights
from sdtps.training.sources import Patches
from sdtps.types import Modality

NOBODY = torch.zeros(4, 64)
SOMEBODY = torch.ones(4, 64)


def says(logit: float) -> CosineCalibration:
    """A calibration by which every map says the same everywhere."""
    calibration = CosineCalibration()
    with torch.no_grad():
        calibration.scale.zero_()
        calibration.offset.fill_(logit)
    return calibration


def test_rank_inside_spreads_over_the_person_only():
    values = torch.tensor([[0.9, 0.1, 0.5, 0.0, 0.2]])
    person = torch.tensor([[1.0, 0.8, 0.6, 0.2, 0.0]])
    torch.testing.assert_close(rank_inside(values, person), torch.tensor([[1.0, 0.0, 0.5, 1.0, 1.0]]))


def test_map_targets_are_zero_where_nobody_is(forward):
    traces, *_ = forward
    patches = Patches(NOBODY, NOBODY, visible=torch.ones(3, 4, 64))
    assert maps_loss(traces, patches, says(-30.0), LossWeights()) < 1e-6
    assert maps_loss(traces, patches, says(0.0), LossWeights()) > 0.5


def test_map_targets_follow_ranks_inside_the_person(forward):
    traces, *_ = forward
    weight = LossWeights(emphasis=1.0)
    ramp = torch.linspace(0, 1, 64).expand(3, 4, 64)  # ranks from 0 to 1: a mean target of one half
    plain = maps_loss(traces, Patches(SOMEBODY, NOBODY), says(-30.0), weight).item()
    seen = maps_loss(traces, Patches(SOMEBODY, NOBODY, visible=ramp), says(-30.0), weight).item()
    both = maps_loss(traces, Patches(SOMEBODY, NOBODY, visible=ramp, typical=ramp), says(-30.0), weight).item()
    # Cross maps are one half of all and ask for what is visible; self maps are the other and ask for what is typical.
    assert (plain, seen, both) == (pytest.approx(30), pytest.approx(22.5), pytest.approx(15))


def test_a_cross_map_asks_for_what_the_other_modality_sees():
    seen = torch.zeros(3, 1, 4)
    seen[2, 0] = torch.tensor([0.1, 0.9, 0.5, 0.7])  # by thermal
    patches = Patches(torch.ones(1, 4), torch.zeros(1, 4), visible=seen)
    weight = LossWeights(emphasis=1.0)
    target = map_target(patches, Modality.RGB, Modality.TIR, weight)
    torch.testing.assert_close(target, torch.tensor([[0, 1, 1 / 3, 2 / 3]]))
    torch.testing.assert_close(map_target(patches, Modality.RGB, Modality.RGB, weight), torch.ones(1, 4))


def test_without_visibility_the_target_is_the_person(forward):
    traces, *_ = forward
    assert maps_loss(traces, Patches(SOMEBODY, NOBODY), says(30.0), LossWeights()) < 1e-6


def test_warm_ground_and_bystanders_raise_targets(forward):
    traces, *_ = forward
    weight = LossWeights(warm_ground=0.5, others=0.2)
    warm = maps_loss(traces, Patches(NOBODY, NOBODY, warmth=SOMEBODY), says(-30.0), weight)
    assert warm.item() == pytest.approx(30 * 0.5 / 3)  # thermal maps alone
    assert maps_loss(traces, Patches(NOBODY, SOMEBODY), says(-30.0), weight).item() == pytest.approx(30 * 0.2)


def test_a_map_means_something_when_it_follows_its_order_inside_the_person(forward):
    traces, *_ = forward
    person = torch.zeros(4, 64)
    person[:, :20] = 1
    typical = torch.stack([t.raw_self_attention.detach() for t in traces.values()])
    patches = Patches(person, NOBODY, typical=typical)
    followed = meaning_loss(traces, patches).item()
    assert followed < 0.05  # ranks are nearly a line of the values; half the weight is with cross maps, not known here
    assert meaning_loss(traces, replace(patches, typical=-typical)).item() == pytest.approx(1 - followed, abs=1e-5)
    elsewhere = typical.clone()
    elsewhere[:, :, 20:] = torch.randn(3, 4, 44)
    assert meaning_loss(traces, replace(patches, typical=elsewhere)).item() == pytest.approx(followed, abs=1e-6)
    assert meaning_loss(traces, Patches(person, NOBODY)) == 0


def test_maps_below_the_limit_cost_nothing_and_copies_cost_what_is_above_it(forward):
    traces, *_ = forward
    assert apart_loss(traces, 1.0).item() == pytest.approx(0, abs=1e-6)
    trace = traces["rgb"]
    own = trace.raw_self_attention
    copies = replace(trace, predictor=own, raw_cross_attention=dict.fromkeys(trace.raw_cross_attention, 2 * own + 1))
    assert apart_loss({"rgb": copies}, 0.75).item() == pytest.approx(0.25, abs=1e-5)
    opposite = replace(copies, raw_cross_attention=dict.fromkeys(trace.raw_cross_attention, -own))
    assert apart_loss({"rgb": opposite}, 0.75).item() == pytest.approx(0.25 * 2 / 6, abs=1e-5)  # two pairs of six


def test_keeping_maps_apart_leaves_the_predictor_alone():
    maps = [torch.randn(2, 16, requires_grad=True) for _ in range(4)]
    trace = SimpleNamespace(
        predictor=maps[0], raw_self_attention=maps[1], raw_cross_attention={"nir": maps[2], "tir": maps[3]}
    )
    apart_loss({"rgb": trace}, -1.0).backward()
    assert maps[0].grad is None
    assert all(m.grad.abs().sum() > 0 for m in maps[1:])
