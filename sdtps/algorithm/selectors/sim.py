"""Signal's selective interaction (SIM): what the own global or another modality's global marks is kept.

    intra: the k patches of m with the largest g_m·p
    inter: S = softmax over all 3N keys of (W_q g)(W_k p)^T / sqrt(C); each global marks the best 2k of the others' 2N
    mask:  intra or inter; with a keep ratio r exactly int(N r) patches, by g_m·p
    out:   norm2(x + ffn(x)), x = norm1(g + attention(g over all 3N rows)); rows that were dropped are zero
A dropped row stays a key of the cross-attention and takes the share that its bias gives it: the leak.
"""

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from sdtps.algorithm.selector import Selector, register
from sdtps.algorithm.trace import Evidence, Trace, trace_of
from sdtps.types import MODALITIES, Settings
from sdtps.variants import get_variant

HEADS = 8
INTRA, INTER, FILLED = 1, 2, 4


class TokenSelection(nn.Module):
    """The projections of the inter-modal marks; `W_v` is stored by the reference and used by nothing."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(dim, dim) for _ in range(3))

    def forward(self, vectors: Tensor, patches: Tensor) -> Tensor:
        """(B, 3, C) globals and (B, 3N, C) patches to (B, 3, 3N) attention, each row summing to 1."""
        scores = self.W_q(vectors) @ self.W_k(patches).transpose(1, 2) / vectors.shape[-1] ** 0.5
        return scores.softmax(dim=-1)


class ModalInteractive(nn.Module):
    """Cross-attention of the three globals over the rows that are left, and a feed-forward block."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.cross_attn = nn.MultiheadAttention(dim, HEADS, batch_first=True)
        self.ffn = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def look(self, vectors: Tensor, rows: Tensor) -> Tensor:
        """(B, 3, C) globals and (B, T, C) whole rows to (B, 3, H, 1 + T) logits; the first is that of a zero row."""
        dim, per_head = vectors.shape[-1], vectors.shape[-1] // HEADS
        w_q, w_k, _ = self.cross_attn.in_proj_weight.split(dim)
        b_q, b_k, _ = self.cross_attn.in_proj_bias.split(dim)
        query = (vectors @ w_q.T + b_q).unflatten(-1, (HEADS, per_head))  # (B, 3, H, c)
        # Three questions and hundreds of rows: the key projection moves to the questions' side.
        asked = torch.einsum("bqhc,hcd->bqhd", query, w_k.unflatten(0, (HEADS, per_head)))
        bias = torch.einsum("bqhc,hc->bqh", query, b_k.unflatten(0, (HEADS, per_head))).unsqueeze(-1)
        return torch.cat([bias, torch.einsum("bqhd,btd->bqht", asked, rows) + bias], dim=-1) * per_head**-0.5

    def values(self, rows: Tensor) -> Tensor:
        """(B, T, C) whole rows to (B, H, T, c) what each head takes from them, without the bias."""
        w_v = self.cross_attn.in_proj_weight.chunk(3)[2]
        return (rows @ w_v.T).unflatten(-1, (HEADS, -1)).transpose(1, 2).contiguous()

    def forward(self, vectors: Tensor, values: Tensor, mask: Tensor, logits: Tensor) -> tuple[Tensor, Tensor]:
        """The globals look at the rows that the mask (B, T) leaves; the others are zero, but stay keys.

        Returns (B, 3, C) results and (B, 3, T) attention, the mean over heads.
        """
        weights = torch.where(mask[:, None, None], logits[..., 1:], logits[..., :1]).softmax(dim=-1)  # (B, 3, H, T)
        taken = (weights * mask[:, None, None]).transpose(1, 2) @ values  # (B, H, 3, c)
        b_v = self.cross_attn.in_proj_bias.chunk(3)[2]  # weights sum to 1, zero rows included
        x = self.norm1(vectors + self.cross_attn.out_proj(taken.transpose(1, 2).flatten(2) + b_v))
        return self.norm2(x + self.ffn(x)), weights.mean(2)


@register
class SelectiveInteraction(Selector):
    """SIM under the names of Signal's checkpoints; `k` and `keep_ratio` come from the training's configuration."""

    variant = get_variant("sim")

    def __init__(self, embed_dim: int, num_patches: int, **knobs: float) -> None:
        super().__init__(embed_dim, num_patches, **knobs)
        self.token_selection = TokenSelection(embed_dim)
        self.modal_interactive = ModalInteractive(embed_dim)

    def look(self, evidence: dict[str, Evidence]) -> dict[str, Evidence]:
        """Products with the own global, and how much the other globals look at each patch."""
        vectors = torch.stack([evidence[m].global_vector for m in MODALITIES], dim=1)  # (B, 3, C)
        rows = torch.cat([evidence[m].patches for m in MODALITIES], dim=1)  # (B, 3N, C)
        looks = self.token_selection(vectors, rows).unflatten(-1, (len(MODALITIES), -1))  # (B, query, keys of, N)
        block = self.modal_interactive
        common = {"vectors": vectors, "values": block.values(rows), "logits": block.look(vectors, rows)}
        found = {}
        for i, m in enumerate(MODALITIES):
            e = evidence[m]
            product = (e.patches @ e.global_vector.unsqueeze(-1)).squeeze(-1) * e.patches.shape[-1] ** -0.5
            cross = {str(o): looks[:, MODALITIES.index(o), i] for o in m.others}
            own = {"looks": looks[:, i].flatten(1)} | ({} if i else common)  # what all share stands with the first
            found[str(m)] = replace(e, self_norm=product, cross_norm=cross, own=own)
        return found

    def choose(self, evidence: Mapping[str, Evidence], settings: Settings) -> dict[str, Trace]:
        """Mark, unite, and let the globals look at what is left."""
        return self._looked(evidence, *self._masks(evidence, settings))

    def choose_ordered(
        self, evidence: Mapping[str, Evidence], settings: Settings, order: Mapping[str, Tensor], *, whole: bool = False
    ) -> dict[str, Trace]:
        """As many patches of each modality as the marks keep, by another order; see `Selector`."""
        masks, _ = self._masks(evidence, settings)
        given = {}
        for m, mask in masks.items():
            first = torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)  # (B, N) as many as were kept
            given[m] = torch.ones_like(mask) if whole else torch.zeros_like(mask).scatter(1, order[m], first)
        return self._looked(evidence, given, {m: mask.long() for m, mask in given.items()})

    def _looked(
        self, evidence: Mapping[str, Evidence], masks: dict[str, Tensor], groups: dict[str, Tensor]
    ) -> dict[str, Trace]:
        every = torch.cat([masks[m] for m in MODALITIES], dim=1)  # (B, 3N)
        first = evidence[MODALITIES[0]].own
        result, attention = self.modal_interactive(first["vectors"], first["values"], every, first["logits"])
        leak = (attention * ~every.unsqueeze(1)).sum(-1)  # (B, 3)
        seen = attention.mean(1).unflatten(-1, (len(MODALITIES), -1))  # (B, 3, N)
        found = {}
        for i, m in enumerate(map(str, MODALITIES)):
            left = evidence[m].patches * masks[m].unsqueeze(-1)
            maps, numbers = {"attention": seen[:, i]}, {"leak": leak[:, i]}
            record = trace_of(evidence[m], score=evidence[m].self_norm, kept=masks[m], tokens=left, maps=maps,
                              numbers=numbers, groups=groups[m])  # fmt: skip
            found[m] = replace(record, pooled=result[:, i])
        return found

    def _masks(self, evidence: Mapping[str, Evidence], settings: Settings) -> list[dict[str, Tensor]]:
        n = evidence["rgb"].patches.shape[1]
        k, ratio = int(self.knob(settings, "k")), self.knob(settings, "keep_ratio")
        groups = {m: INTRA * _best(e.self_norm, min(k, n)) for m, e in evidence.items()}
        for m in MODALITIES:
            looks = evidence[m].own["looks"].unflatten(-1, (len(MODALITIES), n))
            abroad = torch.cat([looks[:, MODALITIES.index(o)] for o in m.others], dim=1)  # (B, 2N)
            for o, marked in zip(m.others, _best(abroad, min(2 * k, 2 * n)).split(n, dim=1), strict=True):
                groups[o] = groups[o] | INTER * marked
        if ratio > 0:
            groups = {m: _exactly(g, evidence[m].self_norm, int(n * ratio)) for m, g in groups.items()}
        return [{m: g > 0 for m, g in groups.items()}, groups]

    def feature_of(self, evidence: Mapping[str, Evidence], modality: str, keep: Tensor, settings: Settings) -> Tensor:
        """The modality's result when only these of its patches are left; the other modalities stay as chosen."""
        times, i = len(keep), [str(m) for m in MODALITIES].index(modality)
        masks = {m: mask.expand(times, -1) for m, mask in self._masks(evidence, settings)[0].items()}
        masks[modality] = torch.zeros_like(masks[modality]).scatter(1, keep, True)
        every = torch.cat([masks[m] for m in MODALITIES], dim=1)
        first = {k: t.expand(times, *t.shape[1:]) for k, t in evidence[MODALITIES[0]].own.items()}
        return self.modal_interactive(first["vectors"], first["values"], every, first["logits"])[0][:, i]


def _best(scores: Tensor, k: int) -> Tensor:
    """(B, N) 1 at the k largest of each row, lowest index first among equals; int64."""
    order = scores.sort(dim=1, descending=True, stable=True).indices[:, :k]
    return torch.zeros_like(scores, dtype=torch.int64).scatter(1, order, 1)


def _exactly(groups: Tensor, scores: Tensor, count: int) -> Tensor:
    """The groups with exactly `count` patches: the best of the union stay, or the best of the rest join."""
    # Marked patches stand before all others, whatever their score.
    order = scores.sort(dim=1, descending=True, stable=True).indices
    first = (groups.gather(1, order) > 0).to(torch.int8).sort(dim=1, descending=True, stable=True).indices
    chosen = torch.zeros_like(groups).scatter(1, order.gather(1, first)[:, :count], 1)
    return chosen * torch.where(groups > 0, groups, FILLED)
