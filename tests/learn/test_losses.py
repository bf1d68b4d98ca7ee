import math

import pytest
import torch
import torch.nn.functional as F

from sdtps.learn.losses import CosineCalibration, batch_hard_triplet, foreground_loss, identity_loss, typicality_loss
from sdtps.model import Encoded, Prediction
from tests.conftest import random_tokens, shaken_module


def test_triplet_takes_the_hardest_pair_of_each_kind():
    feature = torch.tensor([[0.0], [1.0], [3.0], [7.0]])
    pid = torch.tensor([0, 0, 1, 1])
    # Farthest own: 1, 1, 4, 4; nearest other: 3, 2, 2, 6.
    want = F.softplus(torch.tensor([1.0 - 3, 1.0 - 2, 4.0 - 2, 4.0 - 6])).mean()
    torch.testing.assert_close(batch_hard_triplet(feature, pid), want)


def test_collapsed_features_cost_log_two():
    assert batch_hard_triplet(torch.zeros(6, 4), torch.arange(6) // 2).item() == pytest.approx(math.log(2), abs=1e-3)


def test_identity_loss_adds_the_heads():
    pid = torch.tensor([0, 0, 1, 1])
    one = Prediction(torch.randn(4, 3), torch.randn(4, 5))
    single = identity_loss([one], pid, 0.25)
    torch.testing.assert_close(identity_loss([one, one], pid, 0.25), 2 * single)
    want = 0.25 * F.cross_entropy(one.logits, pid, label_smoothing=0.1) + batch_hard_triplet(one.feature, pid)
    torch.testing.assert_close(single, want)


@pytest.fixture
def forward():
    module = shaken_module(32, 64, dtype=torch.float32).train()
    patches, vectors = random_tokens(4, 64, 32, dtype=torch.float32)
    return module(patches, vectors), Encoded(patches, vectors), torch.tensor([5, 5, 9, 9])


def test_foreground_loss_is_lowest_for_the_right_map(forward):
    traces, *_ = forward
    predictor = {m: t.predictor.detach() for m, t in traces.items()}
    right, wrong = predictor["rgb"], 1 - predictor["rgb"]
    only_rgb = {"rgb": traces["rgb"]}
    nobody = torch.zeros_like(right)
    assert foreground_loss(only_rgb, right, nobody) < foreground_loss(only_rgb, wrong, nobody)


def test_typicality_falls_when_tokens_point_at_their_person(forward):
    traces, encoded, pid = forward
    person = torch.zeros(4, 64)
    person[:, :20] = 1
    aimed = {m: p.clone() for m, p in encoded.patches.items()}
    for m in aimed:
        centre = encoded.global_vectors["rgb"].view(2, 2, -1).mean(1).repeat_interleave(2, 0)
        aimed[m][:, :20] = centre[:, None]
    shared = dict.fromkeys(aimed, encoded.global_vectors["rgb"])
    calibration = CosineCalibration()
    before, _ = typicality_loss(
        traces, Encoded(encoded.patches, shared), pid, person, torch.zeros_like(person), calibration, 0.5
    )
    after, _ = typicality_loss(traces, Encoded(aimed, shared), pid, person, torch.zeros_like(person), calibration, 0.5)
    assert after < before


def test_map_targets_are_zero_outside_the_person(forward):
    traces, encoded, pid = forward
    calibration = CosineCalibration()
    nobody = torch.zeros(4, 64)
    _, low = typicality_loss(traces, encoded, pid, nobody, nobody, calibration, 0.5)
    with torch.no_grad():
        calibration.offset.fill_(-30.0)
    _, lower = typicality_loss(traces, encoded, pid, nobody, nobody, calibration, 0.5)
    assert lower < 1e-6 < low


def test_warm_ground_raises_the_target_of_thermal_maps_alone(forward):
    traces, encoded, pid = forward
    calibration = CosineCalibration()
    with torch.no_grad():
        calibration.offset.fill_(-30.0)  # every map says background
    nobody, warm = torch.zeros(4, 64), torch.full((4, 64), 0.3)
    _, cold = typicality_loss(traces, encoded, pid, nobody, nobody, calibration, 0.5)
    _, warmed = typicality_loss(traces, encoded, pid, nobody, nobody, calibration, 0.5, warm)
    assert cold < 1e-6
    # A logit of -30 ± 8 against 0.3 costs about 9, and thermal is a third of the maps.
    assert 2 < warmed < 4
