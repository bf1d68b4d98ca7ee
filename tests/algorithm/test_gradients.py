"""What reaches the scores when the module trains: the facts behind the choice of the final variant."""

import pytest
import torch

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.variants import SDTPS_VARIANTS
from tests.conftest import random_tokens


def run(variant, *, tau=1.0, clamp=None, detach=None, seed=0, batch=4, patches=128, dim=64):
    """Gradients of a task-like loss on the pooled feature; tokens cluster by identity."""
    torch.manual_seed(seed)
    module = MultiModalSDTPS(dim, patches, variant=variant, tau=tau, noise_clamp=clamp, detach_attention=detach).train()
    tokens, vectors = random_tokens(batch, patches, dim, seed=seed, dtype=torch.float32)
    for tensor in [*tokens.values(), *vectors.values()]:
        tensor.requires_grad_(True)
    torch.manual_seed(seed + 1)
    traces = module(tokens, vectors)
    scores = {m: t.score for m, t in traces.items()}
    for score in scores.values():
        if score.requires_grad:
            score.retain_grad()
    feature = torch.cat([t.pooled for t in traces.values()], dim=-1)
    head = torch.randn(feature.shape[-1], 5, generator=torch.Generator().manual_seed(9)) / 10
    torch.nn.functional.cross_entropy(feature @ head, torch.arange(batch) % 5).backward()
    return module, tokens, vectors, traces, scores


def size(tensors):
    return torch.stack([t.grad.norm() if t.grad is not None else torch.zeros(()) for t in tensors]).norm().item()


def predictor_size(module):
    return size([p for n, p in module.named_parameters() if "_sparse." in n])


def test_final_gives_kept_scores_exactly_no_gradient():
    *_, traces, scores = run("final")
    for m, trace in traces.items():
        kept = scores[m].grad.gather(1, trace.keep)
        dropped = scores[m].grad.gather(1, trace.drop)
        assert torch.count_nonzero(kept) == 0
        assert torch.count_nonzero(dropped) == dropped.numel()


def test_importance_reaches_every_kept_score():
    *_, traces, scores = run("importance")
    for m, trace in traces.items():
        assert torch.count_nonzero(scores[m].grad.gather(1, trace.keep)) == trace.keep.numel()


def test_complete_gumbel_amplifies_by_more_than_a_million():
    calm, wild = predictor_size(run("final")[0]), predictor_size(run("complete-gumbel")[0])
    assert wild > 1e6 * calm


def test_tau_and_clamp_only_rescale_the_amplified_gradient():
    calm = predictor_size(run("final")[0])
    tau1 = predictor_size(run("complete-gumbel")[0])
    tau5 = predictor_size(run("complete-gumbel", tau=5.0, clamp=5.0)[0])
    assert calm * 1e6 < tau5 < tau1


def test_complete_gumbel_has_the_forward_of_final():
    final, gumbel = run("final")[3], run("complete-gumbel")[3]
    for m in final:
        assert torch.equal(final[m].tokens, gumbel[m].tokens)
        assert torch.equal(final[m].keep, gumbel[m].keep)


def test_decision_is_bitwise_one_on_kept_patches():
    for trace in run("complete-gumbel")[3].values():
        assert torch.equal(trace.decision, trace.mask.float())
        assert trace.decision.requires_grad


def test_noise_is_off_in_evaluation():
    module = MultiModalSDTPS(32, 64, variant="complete-gumbel").eval()
    trace = module(*random_tokens(1, 64, 32, dtype=torch.float32))["rgb"]
    assert not trace.decision.requires_grad


def test_given_uniform_draws_make_the_noise():
    module = MultiModalSDTPS(32, 64, variant="complete-gumbel").train()
    tokens, vectors = random_tokens(2, 64, 32, dtype=torch.float32)
    uniform = {m: torch.rand(2, 64, generator=torch.Generator().manual_seed(5)) for m in tokens}
    weights = []
    for _ in range(2):
        module.zero_grad()
        sum(t.pooled.sum() for t in module(tokens, vectors, uniform).values()).backward()
        weights.append(module.rgb_sparse.score_predictor[0].weight.grad.clone())
    assert torch.equal(*weights)


def test_detach_attention_changes_only_what_the_cosines_carry():
    free, cut = run("final", detach=False), run("final", detach=True)
    for m in free[3]:
        assert torch.equal(free[3][m].tokens, cut[3][m].tokens)
    assert size(cut[2].values()) == 0.0
    assert size(free[2].values()) > 0.0
    assert predictor_size(free[0]) == pytest.approx(predictor_size(cut[0]), rel=1e-6)
    # The gathered tokens carry nearly all of the patch gradient, cosines or not.
    assert size(free[1].values()) == pytest.approx(size(cut[1].values()), rel=0.02)


def test_open_source_sends_nothing_to_the_patches():
    module, tokens, vectors, *_ = run("open-source")
    assert all(t.grad is None or torch.count_nonzero(t.grad) == 0 for t in tokens.values())
    assert size(vectors.values()) > 0.0
    assert size([p for n, p in module.named_parameters() if "_aggr." in n]) > 0.0


def test_paper_cuts_the_cosines_by_default():
    _, tokens, vectors, *_ = run("paper")
    assert size(vectors.values()) == 0.0
    assert size(tokens.values()) > 0.0


@pytest.mark.parametrize("variant", SDTPS_VARIANTS)
def test_gradients_are_finite(variant):
    module, tokens, vectors, *_ = run(variant)
    for tensor in [*tokens.values(), *vectors.values(), *module.parameters()]:
        assert tensor.grad is None or torch.isfinite(tensor.grad).all()


def test_cosines_are_cut_one_kind_at_a_time():
    """Without gradient through self, own globals learn from the other modalities' cross maps alone, and the reverse."""
    sizes = {cut: size(run("final", detach=cut)[2].values()) for cut in (False, "self", "cross", True)}
    assert sizes[True] == 0.0
    assert sizes["self"] > 0.0
    assert sizes["cross"] > 0.0
    assert len({round(v, 12) for v in sizes.values()}) == 4


def test_without_noise_complete_gumbel_is_final():
    torch.manual_seed(0)
    module = MultiModalSDTPS(32, 64, variant="complete-gumbel", gumbel=False).train()
    trace = module(*random_tokens(1, 64, 32, dtype=torch.float32))["rgb"]
    assert not trace.decision.requires_grad
