"""Soft SDTPS, the edition of December 2025: a mask between 0 and 1 instead of a choice.

    a    = softmax_N((W_q g + b_q)·(W_k p + b_k) / sqrt(C) + cos(p, g) / 0.3)      with q/k attention, else cos(p, g)
    s_x  = sigmoid((a - mean) / (std + 1e-5))                                      for x = self, cross 1, cross 2
    s    = w0 s_self + w1 s_c1 + w2 s_c2,    w = softmax(MLP([g_rgb, g_nir, g_tir]))
    m    = sigmoid((s - quantile(s, 1 - rho)) / tau_m)
    out  = mean over N of p·m

Nothing is dropped: the mask is the map. `keep` of the trace is a guide only, the ceil(rho N) heaviest patches.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from sdtps.algorithm.selection import kept_count
from sdtps.algorithm.selector import Selector, register
from sdtps.algorithm.trace import Evidence, Trace, trace_of
from sdtps.types import MODALITIES, Modality, Settings
from sdtps.variants import get_variant

COSINE_TAU = 0.3
SPREAD_EPS = 1e-5
HIDDEN = (256, 64)


class QueryKey(nn.Module):
    """One head that asks with a global vector and looks at patches, with their cosine as a bias."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)

    def forward(self, patches: Tensor, vector: Tensor, cosine: Tensor) -> Tensor:
        """(B, N, C) patches, (B, C) vector and (B, N) cosine to (B, N) attention that sums to 1."""
        query, keys = self.q_proj(vector), self.k_proj(patches)
        logits = (keys @ query.unsqueeze(-1)).squeeze(-1) * vector.shape[-1] ** -0.5
        return (logits + cosine / COSINE_TAU).softmax(dim=-1)


class ModalWeights(nn.Module):
    """How much self and cross attention count for one picture, from the three global vectors."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        wide, narrow = HIDDEN
        self.modal_weight_mlp = nn.Sequential(
            nn.Linear(3 * dim, wide), nn.LayerNorm(wide), nn.GELU(), nn.Dropout(0.1),
            nn.Linear(wide, narrow), nn.GELU(), nn.Linear(narrow, 3),
        )  # fmt: skip

    def forward(self, vectors: Tensor) -> Tensor:
        """(B, 3C) global vectors to (B, 3) weights that sum to 1."""
        weights: Tensor = self.modal_weight_mlp(vectors).softmax(dim=-1)
        return weights


def spread_norm(values: Tensor) -> Tensor:
    """sigmoid of the z-score over the patches, with the unbiased standard deviation."""
    return ((values - values.mean(-1, keepdim=True)) / (values.std(-1, keepdim=True) + SPREAD_EPS)).sigmoid()


@register
class SoftSDTPS(Selector):
    """Soft SDTPS under the names of its checkpoints.

    Args:
        embed_dim: C.
        num_patches: N.
        attention: with q/k attention; else the cosines alone.
        shared: one q/k pair per modality instead of three, under all of their names.
        knobs: of the training.
    """

    variant = get_variant("soft")

    def __init__(
        self, embed_dim: int, num_patches: int, *, attention: bool = True, shared: bool = False, **knobs: float
    ) -> None:
        super().__init__(embed_dim, num_patches, **knobs)
        self.attention = attention
        for m in MODALITIES:
            self.add_module(f"{m}_sparse", ModalWeights(embed_dim))
            if not attention:
                continue
            one = QueryKey(embed_dim) if shared else None
            if one is not None:
                self.add_module(f"{m}_shared_attn", one)
            for name in self._attention_names(m):
                self.add_module(name, one or QueryKey(embed_dim))

    @staticmethod
    def _attention_names(m: Modality) -> tuple[str, ...]:
        return (f"{m}_self_attn", *(f"{m}_cross_{o}" for o in m.others))

    def look(self, evidence: dict[str, Evidence]) -> dict[str, Evidence]:
        """Attention or cosine, normalised, and the mixing weights."""
        side_by_side = torch.cat([evidence[m].global_vector for m in MODALITIES], dim=-1)
        return {m: self._look(Modality(m), e, evidence, side_by_side) for m, e in evidence.items()}

    def _look(self, m: Modality, e: Evidence, every: Mapping[str, Evidence], side_by_side: Tensor) -> Evidence:
        seen = [e.raw_self, *e.raw_cross.values()]
        if self.attention:
            vectors = [every[o].global_vector for o in (m, *m.others)]
            looks = zip(self._attention_names(m), vectors, seen, strict=True)
            seen = [self._modules[name](e.patches, vector, cosine) for name, vector, cosine in looks]  # type: ignore[misc]
        own, *others = (spread_norm(s) for s in seen)
        mixing: Any = self._modules[f"{m}_sparse"]
        return replace(
            e,
            self_norm=own,
            cross_norm=dict(zip(e.raw_cross, others, strict=True)),
            own=dict(zip(("attention_self", "attention_cross1", "attention_cross2"), seen, strict=True))
            | {"mixing": mixing(side_by_side)},
        )

    def choose(self, evidence: Mapping[str, Evidence], settings: Settings) -> dict[str, Trace]:
        """Mix, compare with the quantile, weigh."""
        return {m: self._choose(e, settings) for m, e in evidence.items()}

    def _choose(self, e: Evidence, settings: Settings) -> Trace:
        n = e.patches.shape[1]
        mixing = e.own["mixing"]  # (B, 3)
        parts = torch.stack([e.self_norm, *e.cross_norm.values()], dim=-1)  # (B, N, 3)
        score = (parts * mixing.unsqueeze(1)).sum(-1)
        threshold = torch.quantile(score, 1 - settings.sparse_ratio, dim=1, keepdim=True)
        weights = ((score - threshold) / self.knob(settings, "mask_tau")).sigmoid()
        best = score.sort(dim=1, descending=True, stable=True).indices[:, : kept_count(n, settings.sparse_ratio)]
        kept = torch.zeros_like(score, dtype=torch.bool).scatter(1, best, True)
        hard = self.knob(settings, "hard") >= 0.5
        mask = kept.to(score.dtype) if hard else weights
        return trace_of(
            e,
            score=score,
            kept=kept,
            tokens=e.patches * mask.unsqueeze(-1),
            weights=None if hard else weights,
            maps={"weight": mask},
            numbers={"mixing": mixing, "effective": mask.sum(1) ** 2 / (mask**2).sum(1), "threshold": threshold[:, 0]},
        )
