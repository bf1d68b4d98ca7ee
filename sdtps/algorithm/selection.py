"""Stage 2, which patches stay: top-K, the extra token, the decision matrix D and its Gumbel relatives."""

import math
from typing import NamedTuple

import torch
from torch import Tensor

GUMBEL_EPS = 1e-9


def kept_count(num_patches: int, sparse_ratio: float) -> int:
    """K = max(1, ceil(N * sparse_ratio)), in Python floats as the reference does (ceil(100 * 0.07) is 8)."""
    return max(1, math.ceil(num_patches * sparse_ratio))


class Selection(NamedTuple):
    """One selection of a batch. N patches, K kept.

    Attributes:
        keep: (B, K) kept patches, descending score, lowest index first among ties.
        drop: (B, N-K) the others, in the same order.
        mask: (B, N) 1.0 where kept, 0.0 elsewhere; constant for the gradient.
        decision: (B, N) D: equal to the mask, and straight-through to the scores where Gumbel is on.
        selected: (B, K, C) kept tokens, raw values.
        extra: (B, 1, C) one token blended from the discarded; exactly zero when nothing is discarded.
        extra_weights: (B, N-K) its softmax weights.
    """

    keep: Tensor
    drop: Tensor
    mask: Tensor
    decision: Tensor
    selected: Tensor
    extra: Tensor
    extra_weights: Tensor


def gather_tokens(tokens: Tensor, index: Tensor) -> Tensor:
    """(B, N, C) tokens at (B, K) positions: (B, K, C)."""
    return tokens.gather(1, index.unsqueeze(-1).expand(-1, -1, tokens.shape[-1]))


def select_top_k(patches: Tensor, score: Tensor, k: int) -> Selection:
    """Keep the K best patches and fold the rest into one extra token.

    Args:
        patches: (B, N, C) patch tokens.
        score: (B, N) the score to rank by.
        k: number of patches to keep, 1 to N.
    """
    # Stable: among equal scores the lowest index comes first, on every device and at every N.
    return select_ordered(patches, score, score.detach().sort(dim=1, descending=True, stable=True).indices, k)


def select_ordered(patches: Tensor, score: Tensor, order: Tensor, k: int) -> Selection:
    """Keep the first K of any order and fold the rest, weighed by their own scores, into one extra token.

    Args:
        patches: (B, N, C) patch tokens.
        score: (B, N) scores, which weigh the extra token.
        order: (B, N) patches, the first to keep first.
        k: number of patches to keep, 1 to N.
    """
    keep, drop = order[:, :k], order[:, k:]
    mask = torch.zeros_like(score).scatter(1, keep, 1.0)
    # The only path by which the score learns in the deterministic variants: softmax over the discarded scores.
    extra_weights = score.gather(1, drop).softmax(dim=1)
    extra = extra_weights.unsqueeze(1) @ gather_tokens(patches, drop)
    return Selection(keep, drop, mask, mask, gather_tokens(patches, keep), extra, extra_weights)


def select_given(patches: Tensor, keep: Tensor) -> Selection:
    """The selection of a stage that was handed these tokens alone: all are kept, and the extra token is zero.

    Args:
        patches: (B, N, C) patch tokens.
        keep: (B, K) positions of the tokens that are there.
    """
    mask = patches.new_zeros(patches.shape[:2]).scatter(1, keep, 1.0)
    nothing = patches.new_zeros(len(patches), 0)
    extra = patches.new_zeros(len(patches), 1, patches.shape[2])
    return Selection(keep, nothing.long(), mask, mask, gather_tokens(patches, keep), extra, nothing)


def gumbel_noise(uniform: Tensor, clamp: float | None = None) -> Tensor:
    """Gumbel(0, 1) noise from uniform draws in [0, 1): -log(-log(u + 1e-9) + 1e-9), optionally clipped to +-clamp.

    fp32 or wider only: 1e-9 is zero in fp16 and the noise would be infinite.
    """
    noise = -torch.log(-torch.log(uniform + GUMBEL_EPS) + GUMBEL_EPS)
    return noise if clamp is None else noise.clamp(-clamp, clamp)


def straight_through(hard: Tensor, score: Tensor, noise: Tensor, tau: float) -> Tensor:
    """D of the Gumbel variant: the hard mask forward, the noisy softmax backward.

    `hard` comes from the noiseless ranking, so the noise never changes which patches are kept.

    Args:
        hard: (B, N) 0/1 mask.
        score: (B, N) scores.
        noise: (B, N) Gumbel noise.
        tau: temperature.

    Returns:
        (B, N), bitwise equal to `hard`.
    """
    soft = ((score + noise) / tau).softmax(dim=1)
    # (soft - soft.detach()) first: it is exactly 0, whereas (hard + soft) - soft.detach() is off by up to 6e-8.
    return hard + (soft - soft.detach())


def weigh_tokens(selection: Selection, patches: Tensor, decision: Tensor) -> Selection:
    """The selection with each kept token multiplied by its D (B, N).

    D is exactly 1 there, so no value changes; backward every score gets (dL/dv_i · v_i) through its own soft weight,
    with no constant in between. patches (B, N, C).
    """
    weighed = gather_tokens(patches * decision.unsqueeze(-1), selection.keep)
    return selection._replace(decision=decision, selected=weighed)


def soft_decision(score: Tensor, tau: float) -> Tensor:
    """softmax(score / tau) over the N patches: the soft decision without noise. (..., N) to (..., N)."""
    return (score / tau).softmax(dim=-1)


def selection_frequency(score: Tensor, k: int, tau: float, noise: Tensor) -> Tensor:
    """How often each patch is among the K best when Gumbel noise enters the ranking.

    Ranking score / tau + noise samples K patches without replacement from `soft_decision(score, tau)`
    (Gumbel top-K); for K = 1 the frequency tends to that soft decision. The module itself ranks without noise.

    Args:
        score: (B, N) scores.
        k: patches kept per draw.
        tau: temperature; towards 0 the frequency becomes the hard mask.
        noise: (S, N) Gumbel noise of S draws, shared by the samples.

    Returns:
        (B, N) in [0, 1]; each row sums to K.
    """
    ranking = (score / tau).unsqueeze(1) + noise  # (B, S, N)
    if k == ranking.shape[-1]:
        return torch.ones_like(score)
    # With continuous noise ties have measure zero, so "at least the K-th best" keeps K patches.
    kth_best = ranking.kthvalue(ranking.shape[-1] - k + 1, dim=-1, keepdim=True).values
    return (ranking >= kth_best).float().mean(dim=1)
