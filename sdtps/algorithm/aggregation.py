"""Stage 3, how kept patches become a few tokens: equation 4.

    v_hat_j = sum_i W[j, i] v_i,   W = softmax_i(scale * MLP(V)^T)

The weight network looks at one patch at a time, so its logits do not depend on what is kept: they are computed once
for all N patches, and a selection only picks columns.
"""

import torch
from torch import Tensor, nn

MASK_CONSTANT = 1e10
IMPORTANCE_EPS = 1e-8
HIDDEN_RATIO = 0.2


def aggregated_count(num_patches: int, aggr_ratio: float, sparse_ratio: float) -> int:
    """N_c = int(N * aggr_ratio * sparse_ratio), multiplied left to right in floats and cut, as the reference does."""
    return int(num_patches * aggr_ratio * sparse_ratio)


def weight_network(dim: int, rows: int) -> nn.Sequential:
    """LayerNorm(C), Linear(C, h), GELU, Linear(h, N_c) with h = int(0.2 C)."""
    hidden = int(HIDDEN_RATIO * dim)
    return nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, rows))


def mask_by_decision(logits: Tensor, decision: Tensor) -> Tensor:
    """logits (B, N_c, K) minus (1 - D) * 1e10, D (B, K).

    Forward this is exact: D is 1 on kept patches and nothing changes. Backward it is the trap that broke training:
    d logits / d D = 1e10, so a straight-through D sends the score 1e10 times the softmax Jacobian of the noise
    (predictor gradient about 5e9 times its deterministic size), in a direction unrelated to the task.
    fp32 only: 1e10 is infinite in fp16.
    """
    return logits - (1.0 - decision.unsqueeze(1)) * MASK_CONSTANT


def add_importance(logits: Tensor, kept_score: Tensor) -> Tensor:
    """logits (B, N_c, K) plus log(softmax(kept scores) + 1e-8), kept scores (B, K): a bounded path to every score."""
    return logits + (kept_score.softmax(dim=1) + IMPORTANCE_EPS).log().unsqueeze(1)


def add_soft_choice(logits: Tensor, soft: Tensor) -> Tensor:
    """logits (B, N_c, N) plus log(p + 1e-8), p (B, N) a soft choice: a constant p leaves the softmax as it was."""
    return logits + (soft + IMPORTANCE_EPS).log().unsqueeze(1)


def blend(logits: Tensor, tokens: Tensor, decision: Tensor | None = None) -> Tensor:
    """Softmax the logits (B, N_c, K), masked by an optional D (B, K), and apply them to tokens (B, K, C)."""
    if decision is not None:
        logits = mask_by_decision(logits, decision)
    return logits.softmax(dim=-1) @ tokens


class TokenAggregation(nn.Module):
    """One weight network and its learnable scale."""

    def __init__(self, dim: int, rows: int) -> None:
        super().__init__()
        self.weight = weight_network(dim, rows)
        self.scale = nn.Parameter(torch.ones(1, 1, 1))

    def networks(self) -> tuple[nn.Sequential, ...]:
        """The weight networks, one per branch."""
        return (self.weight,)

    @property
    def rows(self) -> int:
        """N_c of the weights: how many tokens they can make at most."""
        return len(self.networks()[0][3].bias)  # type: ignore[arg-type]

    def logits(self, tokens: Tensor, branch: int = 0) -> Tensor:
        """(B, N, C) tokens to (B, N_c, N) scaled logits of a branch."""
        scaled: Tensor = self.networks()[branch](tokens).transpose(1, 2) * self.scale
        return scaled

    def forward(self, tokens: Tensor, decision: Tensor | None = None) -> Tensor:
        """(B, K, C) tokens and an optional D (B, K) to (B, N_c, C) aggregated tokens."""
        return blend(self.logits(tokens), tokens, decision)


class DualTokenAggregation(TokenAggregation):
    """Equation 4 with two branches: two weight networks, one shared scale, results added (rows weigh 2 in total)."""

    def __init__(self, dim: int, rows: int) -> None:
        nn.Module.__init__(self)
        self.weight_sparse = weight_network(dim, rows)
        self.weight_dense = weight_network(dim, rows)
        self.scale = nn.Parameter(torch.ones(1, 1, 1))

    def networks(self) -> tuple[nn.Sequential, ...]:
        """The weight networks, one per branch."""
        return self.weight_sparse, self.weight_dense

    def forward(  # type: ignore[override]
        self,
        sparse: Tensor,
        dense: Tensor | None = None,
        sparse_decision: Tensor | None = None,
        dense_decision: Tensor | None = None,
    ) -> Tensor:
        """Tokens of the branches (B, N_s, C) and (B, N_d, C), each with an optional D, to (B, N_c, C)."""
        tokens = blend(self.logits(sparse), sparse, sparse_decision)
        return tokens if dense is None else tokens + blend(self.logits(dense, 1), dense, dense_decision)
