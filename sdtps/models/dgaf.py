"""DGAF of the public fork: two gates decide how much each modality adds to a common vector that enhances them all.

    w     = softmax_m(mean(W h_m) * exp(-H(h_m) / tau)),   H the entropy of |h| as a distribution
    g     = sigmoid(MLP([h_rgb, h_nir, h_tir]))
    fused = a sum_m w_m h_m + (1 - a) sum_m g_m h_m,   a = sigmoid(alpha)
    out   = [h_m + LayerNorm(Linear(fused))]

Version 1 reads one vector per modality, version 3 makes it from tokens by attention with a learned question.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from sdtps.models.fusion import Fused
from sdtps.models.pooling import answers, projected
from sdtps.types import MODALITIES

ENTROPY_EPS = 1e-8


class DualGatedFusion(nn.Module):
    """DGAF under the reference's names.

    Args:
        dim: C.
        inputs: how many vectors or token sets go in; six where FRCA's cross-attention comes before.
        tokens: version 3, which pools tokens; else version 1.
        heads: of the pooling; not stored in the weights.
        tau: of the entropy gate; not stored in the weights.
    """

    part = "dgaf"

    def __init__(self, dim: int, *, inputs: int = 3, tokens: bool = True, heads: int = 8, tau: float = 1.0) -> None:
        super().__init__()
        self.tau, self.tokens = tau, tokens
        if tokens:
            questions = [nn.Parameter(dim**-0.5 * torch.randn(1, 1, dim)) for _ in range(inputs)]
            if inputs == len(MODALITIES):
                for m, question in zip(MODALITIES, questions, strict=True):
                    self.register_parameter(f"{m}_query", question)
            else:
                self.queries = nn.ParameterList(questions)
            self.attn_pool = nn.MultiheadAttention(dim, heads, batch_first=True)
            self.attn_norm = nn.LayerNorm(dim)
        self.entropy_proj = nn.Linear(dim, dim)
        self.gate_net = nn.Sequential(
            nn.Linear(inputs * dim, dim), nn.LayerNorm(dim), nn.ReLU(), nn.Linear(dim, inputs), nn.Sigmoid()
        )
        self._alpha = nn.Parameter(torch.tensor(0.5))
        self.modal_enhance = nn.Sequential(nn.Linear(dim, dim), nn.LayerNorm(dim))

    def _questions(self) -> list[Tensor]:
        return list(self.queries) if hasattr(self, "queries") else [getattr(self, f"{m}_query") for m in MODALITIES]

    def still(self) -> dict[str, Tensor]:
        """What follows from the weights alone: the questions as they meet the tokens, and the mean of W; (1, ...)."""
        mean = {"mean": self.entropy_proj.weight.mean(0), "mean_offset": self.entropy_proj.bias.mean()}
        if not self.tokens:
            return {name: t.unsqueeze(0) for name, t in mean.items()}
        questions = torch.cat([q.flatten(1) for q in self._questions()])  # (M, C)
        directions, offsets = projected(self.attn_pool, questions)
        return {name: t.unsqueeze(0) for name, t in (mean | {"directions": directions, "offsets": offsets}).items()}

    def _pool(self, given: Sequence[Tensor], ready: Mapping[str, Tensor]) -> Tensor:
        """(B, T, C) each to (B, M, C)."""
        directions, offsets = ready["directions"][0], ready["offsets"][0]
        if len({rows.shape for rows in given}) == 1:
            found = answers(self.attn_pool, directions, offsets, torch.stack(list(given), dim=1))[0]
        else:  # a selector that hands on sets of different sizes
            each = zip(directions.split(1), offsets.split(1), given, strict=True)
            found = torch.cat([answers(self.attn_pool, d, o, rows.unsqueeze(1))[0] for d, o, rows in each], dim=1)
        pooled: Tensor = self.attn_norm(found)
        return pooled

    def forward(self, given: Sequence[Tensor], ready: Mapping[str, Tensor] | None = None) -> Fused:
        """Vectors (B, C) each, or tokens (B, T, C) each, to (B, inputs * C); `ready` is what `still` gave before."""
        ready = ready or self.still()
        vectors = self._pool(given, ready) if self.tokens else torch.stack(list(given), dim=1)  # (B, M, C)
        share = vectors.abs() + ENTROPY_EPS
        share = share / share.sum(-1, keepdim=True)
        entropy = -(share * (share + ENTROPY_EPS).log()).sum(-1)  # (B, M)
        said = vectors @ ready["mean"][0] + ready["mean_offset"][0]  # the mean of W h, without W h
        sure = (said * (-entropy / self.tau).exp()).softmax(dim=-1)
        gates = self.gate_net(vectors.flatten(1))  # (B, M)
        alpha = self._alpha.sigmoid()
        fused = ((alpha * sure + (1 - alpha) * gates).unsqueeze(-1) * vectors).sum(1)
        feature = (vectors + self.modal_enhance(fused).unsqueeze(1)).flatten(1)
        return Fused(feature, {"entropy_weights": sure, "gates": gates, "alpha": alpha.expand(len(gates))})
