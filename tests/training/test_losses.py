import math
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F

from sdtps.models.losses import batch_hard_triplet
from sdtps.models.reid import Encoded, ModelConfig, Prediction, build_model
from sdtps.training.losses import (
    blind_loss,
    contrast_loss,
    early_loss,
    focus_loss,
    foreground_loss,
    hush_loss,
    identity_loss,
    length_loss,
    order_loss,
    people_target,
    token_loss,
)
from sdtps.types import MODALITIES
from tests.training.test_training import TINY_HIERA


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


def test_contrast_is_the_mean_log_share_of_the_other_views():
    feature = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 2.0], [-1.0, 0.0]])
    pid = torch.tensor([0, 0, 1, 1])
    cosines = torch.tensor([[1, 0.6, 0, -1], [0.6, 1, 0.8, -0.6], [0, 0.8, 1, 0], [-1, -0.6, 0, 1]]) / 0.1
    want = []
    for i, mate in enumerate((1, 0, 3, 2)):
        others = [j for j in range(4) if j != i]
        want.append(torch.logsumexp(cosines[i, others], 0) - cosines[i, mate])
    torch.testing.assert_close(contrast_loss(feature, pid), torch.stack(want).mean())
    leaf = feature.clone().requires_grad_()
    contrast_loss(leaf, pid).backward()
    assert leaf.grad.isfinite().all()


def test_lengths_are_compared_by_their_ratios_and_black_pictures_do_not_count():
    vectors = F.normalize(torch.randn(5, 4, generator=torch.manual_seed(0)), dim=-1)
    assert length_loss([7 * vectors] * 3) < 1e-10
    torch.testing.assert_close(length_loss([vectors, math.e * vectors]), torch.tensor(0.25))  # logarithms 0 and 1
    some_black = torch.cat([vectors[:3], 0.01 * vectors[3:]])
    torch.testing.assert_close(length_loss([some_black, vectors]), torch.tensor(0.0))


def test_looks_of_black_pictures_are_measured_by_those_of_the_others():
    looks = torch.ones(4, 3, 4)  # length 2
    looks[0] = 0.25
    dark = torch.tensor([True, False, False, False])
    assert blind_loss(looks, dark).item() == pytest.approx(0.25)
    looks.requires_grad_()
    blind_loss(looks, dark).backward()
    # The whole batch made shorter changes nothing: a gate cannot win by shutting for every picture.
    assert (looks.grad * looks).sum().item() == pytest.approx(0, abs=1e-6)
    assert looks.grad[0].min() > 0 > looks.grad[1:].max()
    assert blind_loss(looks, ~dark & dark) == blind_loss(looks, dark | ~dark) == 0


def test_order_asks_for_people_before_the_rest():
    people = torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    right, wrong, flat = (torch.tensor([s]) for s in ([1.0, 0.9, 0.1, 0.0], [0.0, 0.1, 0.9, 1.0], [0.5] * 4))
    assert order_loss(right, people) < 0.01 < order_loss(flat, people).item() == pytest.approx(math.log(2))
    assert order_loss(wrong, people) > 5
    assert order_loss(right, torch.zeros(1, 4)) == 0
    assert order_loss(right[:0], people[:0]) == 0


def test_focus_falls_as_weights_move_to_people():
    torch.manual_seed(0)
    options = {"adapter_dim": 16, "timm_options": TINY_HIERA}
    net = build_model(ModelConfig("hiera", "sam2_hiera_tiny", backbone_options=options))
    tokens = torch.randn(2, 128, 16)
    people = people_target(torch.zeros(2, 128), torch.zeros(2, 128))
    people[:, :32] = 1
    encoded = Encoded(dict.fromkeys(("rgb", "nir", "tir"), tokens), {})
    step = torch.optim.Adam(net.parameters(), lr=0.02)
    values = []
    for _ in range(15):
        loss = focus_loss(net, encoded, people)
        values.append(loss.item())
        step.zero_grad()
        loss.backward()
        step.step()
    assert values[0] == pytest.approx(-math.log(0.26), abs=0.3), "at first, about a quarter of the weight is on people"
    assert values[-1] < 0.8 * values[0]
    assert focus_loss(net, encoded, torch.ones(2, 128)).item() == pytest.approx(-math.log(1.01), abs=1e-4)


def test_bystanders_count_less():
    torch.testing.assert_close(
        people_target(torch.tensor([1.0, 0.5, 0.0]), torch.tensor([0.5, 0.0, 1.0])), torch.tensor([1.0, 0.5, 0.8])
    )


def test_foreground_loss_is_lowest_for_the_right_map(forward):
    traces, *_ = forward
    predictor = {m: t.predictor.detach() for m, t in traces.items()}
    right, wrong = predictor["rgb"], 1 - predictor["rgb"]
    only_rgb = {"rgb": traces["rgb"]}
    nobody = torch.zeros_like(right)
    assert foreground_loss(only_rgb, right, nobody) < foreground_loss(only_rgb, wrong, nobody)


def test_best_patches_that_speak_for_all_cost_nothing():
    torch.manual_seed(0)
    net = build_model(
        ModelConfig("hiera", "sam2_hiera_tiny", backbone_options={"adapter_dim": 16, "timm_options": TINY_HIERA})
    )
    patches = torch.randn(2, 128, 16)
    score = torch.arange(128.0).flip(0).expand(2, -1)
    traces = {m: SimpleNamespace(score=score) for m in MODALITIES}

    def loss(tokens):
        torch.manual_seed(1)  # the number of patches is drawn
        return early_loss(net, Encoded(dict.fromkeys(MODALITIES, tokens), {}), traces).item()

    alike = patches.clone()
    alike[:] = patches[:, :1]
    assert loss(alike) == pytest.approx(0, abs=1e-6)
    first_differs = alike.clone()
    first_differs[:, 0] = -alike[:, 0]  # one of a few best, one of all
    last_differs = alike.clone()
    last_differs[:, -1] = -alike[:, -1]
    assert loss(last_differs) < loss(first_differs) + 1e-6
    assert loss(patches) > 0.1


def test_patches_without_people_are_asked_to_say_something_else_than_the_feature():
    torch.manual_seed(0)
    options = {"adapter_dim": 16, "timm_options": TINY_HIERA}
    net = build_model(ModelConfig("hiera", "sam2_hiera_tiny", backbone_options=options))
    people = torch.zeros(2, 128)
    people[:, :64] = 1

    def loss(tokens):
        return hush_loss(net, Encoded(dict.fromkeys(MODALITIES, tokens), {}), people)

    alike = torch.randn(2, 1, 16).repeat(1, 128, 1)
    assert loss(alike).item() == pytest.approx(1, abs=1e-5)
    opposed = alike.clone()
    opposed[:, 64:] *= -0.1
    assert loss(opposed).item() == 0, "what points away from the feature is not asked about"
    assert hush_loss(net, Encoded(dict.fromkeys(MODALITIES, alike), {}), torch.ones(2, 128)).item() == 0
    leaf = alike.clone().requires_grad_()
    loss(leaf).backward()
    assert not leaf.grad[:, :64].any(), "only patches without people change, not the feature that they are held against"


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
