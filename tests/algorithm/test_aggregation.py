import numpy as np
import torch

from sdtps.algorithm.aggregation import (
    DualTokenAggregation,
    TokenAggregation,
    aggregated_count,
    blend,
    mask_by_decision,
)
from tests.algorithm import reference


def shaken(module, seed=0):
    torch.manual_seed(seed)
    with torch.no_grad():
        for p in module.parameters():
            p.add_(0.3 * torch.randn_like(p))
    return module.double()


def as_numpy(module):
    return {k: v.numpy() for k, v in module.state_dict().items()}


def test_single_aggregation_equals_the_reference():
    module = shaken(TokenAggregation(64, 30))
    x = torch.randn(77, 64, dtype=torch.float64)
    w = as_numpy(module)
    weights = reference.softmax(reference.weight_network(x.numpy(), w, "weight.").T * w["scale"].item())
    np.testing.assert_allclose(module(x[None])[0].detach(), weights @ x.numpy(), rtol=1e-9)


def test_a_hard_mask_gives_masked_patches_no_weight():
    module = shaken(TokenAggregation(32, 5))
    x = torch.randn(1, 20, 32, dtype=torch.float64)
    mask = (torch.arange(20) % 3 != 0).double()[None]
    masked = module(x, mask)
    np.testing.assert_allclose(masked.detach(), module(x[:, mask[0].bool()]).detach(), rtol=1e-9)


def test_dual_aggregation_adds_two_branches_with_one_scale():
    module = shaken(DualTokenAggregation(64, 25))
    sparse, dense = torch.randn(64, 64, dtype=torch.float64), torch.randn(50, 64, dtype=torch.float64)
    w = as_numpy(module)
    want = 0
    for x, net in ((sparse, "weight_sparse."), (dense, "weight_dense.")):
        logits = reference.weight_network(x.numpy(), w, net).T * w["scale"].item()
        want = want + reference.softmax(logits) @ x.numpy()
    np.testing.assert_allclose(module(sparse[None], dense[None])[0].detach(), want, rtol=1e-9)


def test_dual_aggregation_without_the_dense_branch():
    module = shaken(DualTokenAggregation(32, 4))
    x = torch.randn(2, 10, 32, dtype=torch.float64)
    torch.testing.assert_close(module(x), blend(module.logits(x), x))


def test_dual_aggregation_masks_each_branch():
    module = shaken(DualTokenAggregation(32, 4))
    x, mask = torch.randn(1, 10, 32, dtype=torch.float64), (torch.arange(10) < 6).double()[None]
    torch.testing.assert_close(module(x, x, mask, mask), module(x[:, :6], x[:, :6]))


def test_a_fully_masked_row_becomes_uniform_in_fp32():
    weights = mask_by_decision(torch.randn(1, 3, 8), torch.zeros(1, 8)).softmax(-1)
    assert torch.equal(weights, torch.full_like(weights, 0.125))


def test_aggregated_count_is_cut_not_rounded():
    assert aggregated_count(128, 0.4, 0.5) == 25
    assert aggregated_count(128, 0.4, 0.005) == 0
