"""The two ways to make the choice differentiable: soft weights over all patches, and straight-through tokens."""

import pytest
import torch

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selection import gumbel_noise
from sdtps.types import Settings
from tests.conftest import random_tokens, shaken_module

UNIFORM = torch.rand(3, 64, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
NOISE = gumbel_noise(UNIFORM)


def module_of(variant: str, **options: float) -> MultiModalSDTPS:
    module = shaken_module(16, 64, variant=variant).train()
    for name, value in options.items():
        setattr(module, name, value)
    return module


def test_soft_weights_follow_the_equation():
    module = module_of("gumbel-soft", tau=0.7)
    patches, vectors = random_tokens(3, 64, 16)
    trace = module(patches, vectors, dict.fromkeys(patches, UNIFORM))["rgb"]
    p = ((trace.score + NOISE) / 0.7).softmax(1)
    logits = module.rgb_aggr.logits(patches["rgb"])
    by_hand = (logits + (p + 1e-8).log()[:, None]).softmax(-1) @ patches["rgb"]
    torch.testing.assert_close(trace.tokens, by_hand)  # no extra token
    torch.testing.assert_close(trace.pooled, by_hand.mean(1))
    torch.testing.assert_close(trace.weights.sum(1), torch.ones(3, dtype=torch.float64))


def test_a_constant_p_and_all_patches_are_plain_aggregation():
    """No noise, and a temperature at which all scores are alike."""
    module = module_of("gumbel-soft", gumbel=False, tau=1e12, sparse_ratio=1.0)
    patches, vectors = random_tokens(3, 64, 16)
    for m, trace in module(patches, vectors).items():
        plain = getattr(module, f"{m}_aggr")(patches[m])
        torch.testing.assert_close(trace.tokens, plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("variant", ["gumbel-soft", "ste-tokens"])
def test_at_test_time_both_are_final(variant):
    patches, vectors = random_tokens(2, 64, 16)
    module = module_of(variant).eval()
    for m, e in module.evidence(patches, vectors).items():
        ours, final = (module.decide(e, Settings(variant=v)) for v in (variant, "final"))
        assert torch.equal(ours.tokens, final.tokens), m
        assert torch.equal(ours.order, final.order)


def test_straight_through_tokens_look_like_final_to_the_bit():
    patches, vectors = random_tokens(3, 64, 16)
    ours, final = (module_of(v)(patches, vectors) for v in ("ste-tokens", "final"))
    for m in ours:
        assert torch.equal(ours[m].tokens, final[m].tokens)
        assert torch.equal(ours[m].keep, final[m].keep)


def test_the_gradient_is_that_of_the_surrogate():
    """Finite differences of the same step with D = hard + soft(s) - soft(s0), the kept set held still."""
    module = module_of("ste-tokens", tau=0.8)
    patches, vectors = random_tokens(3, 64, 16)
    trace = module(patches, vectors, dict.fromkeys(patches, UNIFORM))["rgb"]
    direction = torch.randn(16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (gradient,) = torch.autograd.grad((trace.pooled @ direction).sum(), trace.score)

    score, keep, drop = trace.score.detach(), trace.keep, trace.drop
    weights = trace.aggregation_weights.detach()
    calm = ((score + NOISE) / 0.8).softmax(1)

    def surrogate(s):
        decision = trace.mask.double() + ((s + NOISE) / 0.8).softmax(1) - calm
        weighed = (patches["rgb"] * decision.unsqueeze(-1)).gather(1, keep.unsqueeze(-1).expand(-1, -1, 16))
        left = patches["rgb"].gather(1, drop.unsqueeze(-1).expand(-1, -1, 16))
        extra = s.gather(1, drop).softmax(1).unsqueeze(1) @ left
        return (torch.cat([weights @ weighed, extra], 1).mean(1) @ direction).sum()

    step = 1e-6
    for i in (0, 7, 31, 63):
        for sample in range(3):
            move = torch.zeros_like(score)
            move[sample, i] = step
            slope = (surrogate(score + move) - surrogate(score - move)) / (2 * step)
            assert gradient[sample, i].item() == pytest.approx(slope.item(), rel=1e-5, abs=1e-9)
    assert torch.count_nonzero(gradient) == gradient.numel()  # every score, kept or not
