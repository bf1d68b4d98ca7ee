import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from sdtps.training.maps import CosineCalibration, apart_loss, maps_loss
from sdtps.training.recipe import LossWeights
from sdtps.training.sources import Patches

NOBODY = torch.zeros(4, 64)
SOMEBODY = torch.ones(4, 64)


def says(logit: float) -> CosineCalibration:
    """A calibration by which every map says the same everywhere."""
    calibration = CosineCalibration()
    with torch.no_grad():
        calibration.scale.zero_()
        calibration.offset.fill_(logit)
    return calibration


def test_map_targets_are_zero_where_nobody_is(forward):
    traces, *_ = forward
    patches = Patches(NOBODY, NOBODY)
    assert maps_loss(traces, patches, says(-30.0), LossWeights()) < 1e-6
    assert maps_loss(traces, patches, says(0.0), LossWeights()) > 0.5


def test_the_target_is_the_person(forward):
    traces, *_ = forward
    assert maps_loss(traces, Patches(SOMEBODY, NOBODY), says(30.0), LossWeights()) < 1e-6


def test_bystanders_raise_targets(forward):
    traces, *_ = forward
    weight = LossWeights(others=0.2)
    assert maps_loss(traces, Patches(NOBODY, SOMEBODY), says(-30.0), weight).item() == pytest.approx(30 * 0.2)


def test_cross_maps_of_black_pictures_count_more(forward):
    traces, *_ = forward
    weight, even = LossWeights(guided=3.0), math.log(2)
    for dark, want in ((False, even), (True, even * (1 + 2 / 6))):  # RGB's two cross maps make a sixth of all
        patches = Patches(NOBODY, NOBODY, torch.full((4,), dark))
        assert maps_loss(traces, patches, says(0.0), weight).item() == pytest.approx(want)


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
