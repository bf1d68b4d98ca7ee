import math

import pytest
import torch
import torch.nn.functional as F

from sdtps.learn.losses import (
    CosineCalibration,
    batch_hard_triplet,
    foreground_loss,
    identity_loss,
    maps_loss,
    token_loss,
)
from sdtps.learn.recipe import LossWeights
from sdtps.learn.sources import Patches
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


def test_token_loss_falls_when_tokens_point_at_their_person(forward):
    _, encoded, pid = forward
    person = torch.zeros(4, 64)
    person[:, :20] = 1
    aimed = {m: p.clone() for m, p in encoded.patches.items()}
    for m in aimed:
        centre = encoded.global_vectors["rgb"].view(2, 2, -1).mean(1).repeat_interleave(2, 0)
        aimed[m][:, :20] = centre[:, None]
    shared = dict.fromkeys(aimed, encoded.global_vectors["rgb"])
    before = token_loss(Encoded(encoded.patches, shared), pid, person)
    assert token_loss(Encoded(aimed, shared), pid, person) < before


def says(logit: float) -> CosineCalibration:
    """A calibration by which every map says the same everywhere."""
    calibration = CosineCalibration()
    with torch.no_grad():
        calibration.scale.zero_()
        calibration.offset.fill_(logit)
    return calibration


NOBODY = torch.zeros(4, 64)
SOMEBODY = torch.ones(4, 64)


def test_map_targets_are_zero_where_nobody_is(forward):
    traces, *_ = forward
    patches = Patches(NOBODY, NOBODY, visible=torch.ones(3, 4, 64))
    assert maps_loss(traces, patches, says(-30.0), LossWeights()) < 1e-6
    assert maps_loss(traces, patches, says(0.0), LossWeights()) > 0.5


def test_map_targets_follow_what_a_modality_sees(forward):
    traces, *_ = forward
    weight = LossWeights(emphasis=1.0)
    unseen = Patches(SOMEBODY, NOBODY, visible=torch.zeros(3, 4, 64))
    only_rgb = Patches(SOMEBODY, NOBODY, visible=torch.stack([SOMEBODY, NOBODY, NOBODY]))
    assert maps_loss(traces, unseen, says(-30.0), weight) < 1e-6
    # RGB is one half of its own modality's maps and a quarter of the other two's: a third of all, at 30 each.
    assert maps_loss(traces, only_rgb, says(-30.0), weight).item() == pytest.approx(10.0)


def test_without_visibility_the_target_is_the_person(forward):
    traces, *_ = forward
    assert maps_loss(traces, Patches(SOMEBODY, NOBODY), says(30.0), LossWeights()) < 1e-6


def test_warm_ground_and_bystanders_raise_targets(forward):
    traces, *_ = forward
    weight = LossWeights(warm_ground=0.5, others=0.2)
    warm = maps_loss(traces, Patches(NOBODY, NOBODY, warmth=SOMEBODY), says(-30.0), weight)
    assert warm.item() == pytest.approx(30 * 0.5 / 3)  # thermal maps alone
    assert maps_loss(traces, Patches(NOBODY, SOMEBODY), says(-30.0), weight).item() == pytest.approx(30 * 0.2)
