"""The numbers of the gradient view: autograd's, and in the order that was measured on the public modules."""

import numpy as np
import pytest
import torch

import sdtps
from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selection import gumbel_noise
from sdtps.checkpoints.load import random_model
from sdtps.metrics import reference_gradients, triplet_gradients
from sdtps.metrics.gradients import HEAD_STD, IDENTITIES, IDENTITY_WEIGHT, ROUTES, SMOOTHING
from tests.conftest import tiny_vit_config

MODALITIES = ("rgb", "nir", "tir")


@pytest.fixture(scope="module")
def found(opened):
    return triplet_gradients(opened, sdtps.Settings())


@pytest.fixture(scope="module")
def reference():
    return reference_gradients()


def by_backward(opened, route, detached):
    """The same step written out: an own module, `.backward()`, `.grad`."""
    config = opened.model.net.sdtps
    module = MultiModalSDTPS(
        config.embed_dim, 128, variant=route.variant, tau=route.tau, noise_clamp=route.clamp, detach_attention=detached
    )
    module.load_state_dict(config.state_dict())
    module.train()
    patches = {m: t.clone().requires_grad_() for m, t in opened.encode().encoded.patches.items()}
    vectors = {m: t.clone().requires_grad_() for m, t in opened.encode().encoded.global_vectors.items()}
    draws = torch.Generator().manual_seed(0)
    uniform = {m: torch.rand(1, 128, generator=draws) for m in MODALITIES}
    traces = module(patches, vectors, uniform)
    for trace in traces.values():
        trace.score.retain_grad()
        trace.pooled.retain_grad()
    feature = torch.cat([traces[m].pooled for m in MODALITIES], dim=-1)
    width = feature.shape[-1]
    head = torch.randn(width, IDENTITIES, generator=torch.Generator().manual_seed(0)) * HEAD_STD
    logits = torch.nn.functional.normalize(feature, dim=-1) * width**0.5 @ head
    entropy = torch.nn.functional.cross_entropy(logits, torch.tensor([0]), label_smoothing=SMOOTHING)
    (IDENTITY_WEIGHT * entropy).backward()
    return module, patches, traces, uniform


@pytest.mark.parametrize("detached", [False, True])
@pytest.mark.parametrize("route", ROUTES, ids=lambda r: r.key)
def test_numbers_equal_autograd_on_the_same_input(opened, found, route, detached):
    module, patches, traces, _ = by_backward(opened, route, detached)
    flow = found.flow(route.key, detached)
    for m in MODALITIES:
        expected = traces[m].score.grad.abs().numpy()
        assert flow.score[m] == pytest.approx(expected, rel=1e-4, abs=1e-6 * float(expected.max()))
    predictor = [p.grad for n, p in module.named_parameters() if "_sparse." in n]
    assert flow.norms["predictor"] == pytest.approx(float(torch.stack([g.norm() for g in predictor]).norm()), rel=1e-3)
    tokens = torch.stack([p.grad.norm() for p in patches.values()]).norm()
    assert flow.norms["patches"] == pytest.approx(float(tokens), rel=1e-3)


@pytest.mark.parametrize("route", ROUTES[2:4], ids=lambda r: r.key)
def test_the_gumbel_gradient_is_1e10_times_the_softmax_jacobian(opened, found, route):
    """By hand: dL/ds = J(soft) / tau times 1e10 times the sum over the rows of dL/dlogits, scattered to the kept."""
    _, patches, traces, uniform = by_backward(opened, route, False)
    for m in MODALITIES:
        trace = traces[m]
        keep, w = trace.keep[0], trace.aggregation_weights[0].detach().double()  # (K,), (N_c, K)
        kept_tokens = patches[m][0].detach().double()[keep]
        to_weight = (kept_tokens @ trace.pooled.grad[0].double()) / (len(w) + 1)  # (K,) the same for every row
        to_logits = w * (to_weight - (w @ to_weight).unsqueeze(1))
        to_decision = torch.zeros(128, dtype=torch.float64).scatter(0, keep, 1e10 * to_logits.sum(0))
        noise = gumbel_noise(uniform[m][0], route.clamp)
        soft = ((trace.score[0].detach() + noise) / route.tau).softmax(0).double()
        by_hand = (soft * to_decision - soft * (soft @ to_decision)) / route.tau
        shown = found.flow(route.key).score[m][0]
        assert shown == pytest.approx(by_hand.abs().numpy(), rel=0.02, abs=0.02 * float(by_hand.abs().max()))


def test_the_order_of_the_routes_holds(found, reference):
    for gradients in (found, reference):
        for detached in (False, True):
            norms = {r.key: gradients.flow(r.key, detached).norms for r in ROUTES}
            assert norms["final"]["predictor"] < norms["importance"]["predictor"]
            assert norms["importance"]["predictor"] * 1e3 < norms["gumbel-tau5"]["predictor"]
            assert norms["gumbel-tau5"]["predictor"] < norms["gumbel-tau1"]["predictor"]
            assert norms["gumbel-tau1"]["aggregation"] == pytest.approx(norms["final"]["aggregation"])


@pytest.mark.parametrize(
    ("key", "name", "measured"),
    [
        ("final", "patches", 1.02e-3), ("final", "globals", 1.2e-6), ("final", "predictor", 5.5e-6),
        ("final", "aggregation", 4.6e-4), ("gumbel-tau1", "patches", 5.7e3), ("gumbel-tau1", "globals", 4.2e3),
        ("gumbel-tau1", "predictor", 3.0e4), ("gumbel-tau5", "patches", 4.4e2), ("gumbel-tau5", "globals", 3.4e2),
        ("gumbel-tau5", "predictor", 2.6e3), ("importance", "patches", 1.01e-3), ("importance", "globals", 2.0e-5),
        ("importance", "predictor", 1.5e-4), ("importance", "aggregation", 4.5e-4),
    ],
)  # fmt: skip
def test_the_seeded_batch_has_the_measured_orders_of_magnitude(reference, key, name, measured):
    assert abs(np.log10(reference.flow(key).norms[name] / measured)) < 1.0


def test_final_teaches_only_through_the_dropped(found):
    assert found.flow("final").zeros_kept == 1.0
    assert found.flow("importance").zeros_kept == 0.0


def test_the_cures_reach_every_kept_score_without_the_constant(found, reference):
    """Both are far below the 1e10 routes; the straight-through tokens point where the task points."""
    for gradients in (found, reference):
        wild = gradients.flow("gumbel-tau5").norms["score"]
        for key in ("gumbel-soft", "ste-tokens"):
            flow = gradients.flow(key)
            assert flow.zeros_kept == 0.0
            assert flow.finite
            assert flow.norms["score"] * 1e4 < wild
    assert reference.flow("ste-tokens").direction > 0.99
    assert found.flow("ste-tokens").loss == found.flow("final").loss


def test_cut_cosines_send_nothing_to_the_globals(found):
    for route in ROUTES:
        assert found.flow(route.key, True).norms["globals"] == 0.0
        assert found.flow(route.key, False).norms["globals"] > 0.0


def test_noise_drowns_the_direction(reference):
    assert abs(reference.flow("gumbel-tau1").direction) < 0.2
    assert reference.flow("final").direction == pytest.approx(1.0)
    assert reference.flow("importance").direction > 0.9


def test_noise_never_changes_the_decision(found):
    assert found.noise.changed == 0
    assert found.noise.soft_sum == pytest.approx(1.0, abs=1e-5)
    assert found.noise.hard_sum == 64


def test_the_model_on_show_is_left_alone(opened):
    module = opened.model.net.sdtps
    before = {n: p.clone() for n, p in module.named_parameters()}
    triplet_gradients(opened, sdtps.Settings(tau=0.05))
    assert module.training is False
    assert module.variant.name == "final"
    for name, parameter in module.named_parameters():
        assert parameter.grad is None
        assert torch.equal(parameter, before[name])


def test_weights_without_a_predictor_say_what_they_lack(photos):
    from sdtps.images.read import read_triplet
    from sdtps.pipeline import OpenSet

    model = random_model(tiny_vit_config(variant="open-source"), seed=3, device="cpu")
    for m in MODALITIES:
        setattr(model.net.sdtps, f"{m}_sparse", None)
    opened = OpenSet.of(model, read_triplet(photos["rgb"], photos["nir"], photos["tir"]))
    found = triplet_gradients(opened, sdtps.Settings(variant="open-source"))
    assert all("needs a predictor" in f.lacking for f in found.flows)
    assert found.as_dict()["flows"][0]["lacking"].code == "variant.lacks.predictor"
    assert found.noise is None


@pytest.mark.parametrize("settings", [{"sparse_ratio": 1.0}, {"sparse_ratio": 0.05, "aggr_ratio": 0.05}, {"tau": 0.05}])
def test_nothing_overflows_at_the_ends_of_the_sliders(opened, settings):
    found = triplet_gradients(opened, sdtps.Settings(**settings))
    assert all(f.finite for f in found.flows)
    assert all(np.isfinite(list(f.norms.values())).all() for f in found.flows)
