"""DeMo's own fusion: seven learned tokens ask seven combinations of modalities (HDM), and experts weigh them (ATMoE).

x_c   = attention_c(token_c over [g, patches] of every modality in c),   c in r, n, t, rn, rt, nt, rnt
gate  = softmax_c((W_q q)·(W_k x_c) / sqrt(C / H)) per head,   q = BN(QuickGELU(Linear([x_r, ..., x_rnt])))
moe   = [gate_c * expert_c(x_c)],   7C numbers
"""

from collections.abc import Mapping

import torch
from timm.layers import QuickGELU
from torch import Tensor, nn

from sdtps.models.fusion import Fused
from sdtps.models.pooling import ask
from sdtps.types import MODALITIES

COMBINATIONS = ("r", "n", "t", "rn", "rt", "nt", "rnt")
HEAD_CHANNELS = 64


def _block(width: int, out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, out), QuickGELU(), nn.BatchNorm1d(out))


class Expert(nn.Module):
    """One expert of one head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mlp = _block(width, width)


class ExpertHead(nn.Module):
    """The seven experts of one head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.expertHead = nn.ModuleList(Expert(width) for _ in COMBINATIONS)

    def forward(self, parts: Tensor) -> Tensor:
        """(B, 7, C/H) to the same shape, each combination by its expert."""
        return torch.stack([e.mlp(parts[:, i]) for i, e in enumerate(self.expertHead)], dim=1)  # type: ignore[operator]


class Gate(nn.Module):
    """How much each combination speaks, per head."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.linear_re = _block(len(COMBINATIONS) * dim, dim)
        self.q_, self.k_ = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)

    def forward(self, parts: Tensor) -> Tensor:
        """(B, 7, C) to (B, H, 7), summing to 1 over the combinations."""
        query = self.q_(self.linear_re(parts.flatten(1))).unflatten(-1, (self.heads, -1))  # (B, H, c)
        keys = self.k_(parts).unflatten(-1, (self.heads, -1))  # (B, 7, H, c)
        logits = torch.einsum("bhc,bkhc->bhk", query, keys) * query.shape[-1] ** -0.5
        return logits.softmax(dim=-1)


class GatingNetwork(nn.Module):
    """Holds the gate under the reference's name."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.gate = Gate(dim, heads)


class Experts(nn.Module):
    """ATMoE: gates and experts."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.experts = nn.ModuleList(ExpertHead(dim // heads) for _ in range(heads))
        self.gating_network = GatingNetwork(dim, heads)

    def forward(self, parts: Tensor) -> tuple[Tensor, Tensor]:
        """(B, 7, C) to (B, 7C) and the gates (B, H, 7)."""
        gates: Tensor = self.gating_network.gate(parts)
        by_head = parts.unflatten(-1, (len(self.experts), -1)).unbind(2)  # H of (B, 7, C/H)
        weighed = [e(x) * gates[:, h].unsqueeze(-1) for h, (e, x) in enumerate(zip(self.experts, by_head, strict=True))]
        return torch.cat(weighed, dim=-1).flatten(1), gates


class GeneralFusion(nn.Module):
    """HDM, with or without ATMoE, under the reference's names.

    Args:
        dim: C.
        heads: of ATMoE; 0 leaves it out, and the seven parts are handed on as they are.
    """

    part = "moe"

    def __init__(self, dim: int, heads: int = 0) -> None:
        super().__init__()
        for name in COMBINATIONS:
            self.register_parameter(f"{name}_token", nn.Parameter(dim**-0.5 * torch.randn(1, 1, dim)))
            self.add_module(name, nn.MultiheadAttention(dim, max(1, dim // HEAD_CHANNELS)))
        self.moe = Experts(dim, heads) if heads else None

    def forward(self, patches: Mapping[str, Tensor], vectors: Mapping[str, Tensor]) -> Fused:
        """(B, N, C) patches and (B, C) global vectors per modality to (B, 7C)."""
        rows = {m[0]: torch.cat([vectors[m].unsqueeze(1), patches[m]], dim=1) for m in MODALITIES}
        parts, attention = [], {}
        for name in COMBINATIONS:
            layer = self._modules[name]
            assert isinstance(layer, nn.MultiheadAttention)
            answer, seen = ask(layer, getattr(self, f"{name}_token"), torch.cat([rows[m] for m in name], dim=1))
            parts.append(answer)
            attention[f"attention_{name}"] = seen
        stacked = torch.stack(parts, dim=1)  # (B, 7, C)
        if self.moe is None:
            return Fused(stacked.flatten(1), attention)
        feature, gates = self.moe(stacked)
        return Fused(feature, {"experts": gates.mean(1), "experts_by_head": gates} | attention)
