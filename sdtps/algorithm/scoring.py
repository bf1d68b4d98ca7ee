"""Stage 1, how much each patch matters: equations 1 to 3.

    s_p  = sigmoid(MLP(v))                                     (1)  the predictor
    s_im = Norm(cos(v, g_own)),  s_c = Norm(cos(v, g_other))   (2)  self and cross attention
    s    = (1 - 2 beta) s_p + beta (s_c1 + s_c2 + 2 s_im)      (3)  the fused score

All of it runs in fp32 or wider: min-max and softmax of half-precision cosines merge neighbouring patches.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

NORM_EPS = 1e-8


class ScoreWeights(NamedTuple):
    """Weight of each part in the score."""

    predictor: float
    self_attention: float
    cross_attention: float  # of each of the two

    @classmethod
    def fused(cls, beta: float) -> "ScoreWeights":
        """Weights of equation 3; they sum to 1 + 2 beta when both crosses are counted."""
        return cls(1.0 - 2.0 * beta, 2.0 * beta, beta)


def at_least_fp32(x: Tensor) -> Tensor:
    """The tensor in fp32, or as it is when it is wider."""
    return x if x.dtype in (torch.float32, torch.float64) else x.float()


def cosine_attention(patches: Tensor, *vectors: Tensor) -> tuple[Tensor, ...]:
    """Cosine of every patch with each of some vectors.

    Args:
        patches: (B, N, C) patch tokens, not normalised.
        vectors: (B, C) each, global vectors.

    Returns:
        (B, N) cosines in [-1, 1] for each vector.
    """
    directions = F.normalize(patches, dim=-1)
    # A row-wise sum, not a matmul: equal patches must get equal bits, or min-max blows rounding up to full scale.
    return tuple((directions * F.normalize(v, dim=-1).unsqueeze(1)).sum(-1) for v in vectors)


def min_max_norm(scores: Tensor) -> Tensor:
    """Norm of equation 2: each sample's N scores (B, N) onto [0, 1]; constant scores become zeros."""
    # Two calls, because older torch has no derivative of aminmax.
    low, high = scores.amin(dim=-1, keepdim=True), scores.amax(dim=-1, keepdim=True)
    return (scores - low) / (high - low + NORM_EPS)


def fuse(predictor: Tensor, self_norm: Tensor, cross1_norm: Tensor, cross2_norm: Tensor, beta: float) -> Tensor:
    """Equation 3. All maps (B, N); the result lies in [0, 1 + 2 beta]."""
    return (1.0 - 2.0 * beta) * predictor + beta * (cross1_norm + cross2_norm + 2.0 * self_norm)


class TokenSparse(nn.Module):
    """The predictor of equation 1: Linear(C, C//4), GELU, Linear(C//4, 1), sigmoid. Holds the reference names."""

    def __init__(self, embed_dim: int) -> None:
        super().__init__()
        hidden = embed_dim // 4
        self.score_predictor = nn.Sequential(
            nn.Linear(embed_dim, hidden), nn.GELU(), nn.Linear(hidden, 1), nn.Sigmoid()
        )

    def forward(self, patches: Tensor) -> Tensor:
        """(B, N, C) patches to (B, N) scores in [0, 1]."""
        scores: Tensor = self.score_predictor(patches).squeeze(-1)
        return scores
