"""The feature that the author's own test compares, put together from its parts.

ori    the three global vectors side by side (after the GLOBAL_LOCAL reduction where it stands before the selection)
sdtps  the three pooled token sets of the selector side by side; SIM's result for Signal
moe    DeMo's seven weighed combinations
dgaf   the gated vectors of the public fork
frca   the mean of the tokens that FRCA changed
fused  the reduction of [global, mean patch], where it stands beside the selection
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from timm.layers import QuickGELU
from torch import Tensor, nn

from sdtps.algorithm.trace import Trace
from sdtps.models.dgaf import DualGatedFusion
from sdtps.models.frca import FourierChannelAttention
from sdtps.models.fusion import Fused
from sdtps.models.moe import COMBINATIONS, GeneralFusion
from sdtps.types import MODALITIES, Grid

# How parts and numbers of the fusion, and what its heads have ready, are named among a selector's evidence.
PART, NUMBER, READY = "feature/", "number/", "ready/"
PARTS = ("ori", "sdtps", "moe", "dgaf", "frca", "fused")


@dataclass(frozen=True)
class FusionConfig:
    """What follows the selection, as far as a checkpoint has it.

    Attributes:
        parts: of the test feature, in their order.
        reduce_after: [global, pooled tokens] are reduced after the selection, not [global, mean patch] before it.
        moe: options of `GeneralFusion`; None without it.
        dgaf: options of `DualGatedFusion`; None without it.
        dgaf_selected: DGAF reads what the selector hands on, else what the backbone gives.
        frca: options of `FourierChannelAttention`; None without it.
        frca_cross: heads of the cross-attention between FRCA and DGAF; 0 without it.
        left_out: channels at the end of each vector of `ori` and `sdtps` that nobody is recognised by, such as a code
            of the place in the picture.
    """

    parts: tuple[str, ...] = ("ori", "sdtps")
    reduce_after: bool = False
    moe: Mapping[str, Any] | None = None
    dgaf: Mapping[str, Any] | None = None
    dgaf_selected: bool = True
    frca: Mapping[str, Any] | None = None
    frca_cross: int = 0
    left_out: int = 0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "FusionConfig":
        """From plain values, also after a trip through JSON."""
        return cls(**{**values, "parts": tuple(values.get("parts", cls.parts))})


@dataclass
class Given:
    """What the parts are made from; `numbers` collects what the heads say on their way."""

    patches: Mapping[str, Tensor]  # (B, N, C)
    vectors: Mapping[str, Tensor]  # (B, C)
    traces: Mapping[str, Trace]
    grid: Grid
    numbers: dict[str, Tensor] = field(default_factory=dict)
    ready: Mapping[str, Tensor] = field(default_factory=dict)  # of DGAF, where it was computed before


class FusionHeads(nn.Module):
    """Everything between the selector and the feature. Its children carry the names of the checkpoints.

    The model adopts the children as its own, so that their names have no prefix in a state dict.
    """

    def __init__(self, dim: int, config: FusionConfig) -> None:
        super().__init__()
        self.config = config
        if config.left_out not in range(dim):
            raise ValueError(f"A vector has {dim} channels; {config.left_out} cannot be left out.")
        self.compared = dim - int(config.left_out)  # channels of a vector
        if config.moe is not None:
            self.generalFusion = GeneralFusion(dim, **config.moe)
        if config.dgaf is not None:
            self.dgaf = DualGatedFusion(dim, **config.dgaf)
        if config.frca is not None:
            for m in MODALITIES:
                self.add_module(f"frca_{m}", FourierChannelAttention(dim, **config.frca))
        if config.frca_cross:
            self.frca_cross_attn = nn.MultiheadAttention(dim, config.frca_cross, batch_first=True)
            self.frca_cross_norm = nn.LayerNorm(dim)
        if config.reduce_after or "fused" in config.parts:
            for m in MODALITIES:
                self.add_module(f"{m}_reduce", reduction(dim))

    def still(self, patches: Mapping[str, Tensor], vectors: Mapping[str, Tensor], grid: Grid) -> dict[str, Tensor]:
        """Parts and numbers that no setting changes, under names that `feature` finds them by."""
        given = Given(patches, vectors, {}, grid)
        after_backbone = {"moe", "fused", "frca"} | (set() if self._dgaf_waits else {"dgaf"})
        parts = {PART + p: getattr(self, f"_{p}")(given) for p in self.config.parts if p in after_backbone}
        found = parts | {NUMBER + name: values for name, values in given.numbers.items()}
        if "dgaf" in self.config.parts and self._dgaf_waits:
            batch = len(vectors[MODALITIES[0]])
            found |= {READY + name: t.expand(batch, *t.shape[1:]) for name, t in self.dgaf.still().items()}
        return found

    def feature(self, given: Given, still: Mapping[str, Tensor] | None = None) -> Tensor:
        """(B, D) the parts side by side; what `still` holds is taken from there."""
        still = still or {}
        given.numbers.update({k.removeprefix(NUMBER): v for k, v in still.items() if k.startswith(NUMBER)})
        given.ready = {k.removeprefix(READY): v for k, v in still.items() if k.startswith(READY)}
        found = {k.removeprefix(PART): v for k, v in still.items() if k.startswith(PART)}
        parts = (found[p] if p in found else getattr(self, f"_{p}")(given) for p in self.config.parts)
        return torch.cat(list(parts), dim=-1)

    def side_by_side(self, vectors: Iterable[Tensor]) -> Tensor:
        """(B, C) each: what is compared of them."""
        return torch.cat([v[..., : self.compared] for v in vectors], dim=-1)

    def slices(self, dim: int) -> dict[str, slice]:
        """Where each part lies in the feature; C = `dim`."""
        wide = {"moe": len(COMBINATIONS), "dgaf": int((self.config.dgaf or {}).get("inputs", len(MODALITIES)))}
        found, start = {}, 0
        for part in self.config.parts:
            channels = self.compared if part in ("ori", "sdtps") else dim
            end = start + channels * wide.get(part, len(MODALITIES))
            found[part] = slice(start, end)
            start = end
        return found

    @property
    def selected(self) -> tuple[str, ...]:
        """The parts that the selection can change."""
        waiting = ("sdtps", "dgaf") if self._dgaf_waits else ("sdtps",)
        return tuple(part for part in self.config.parts if part in waiting)

    @property
    def _dgaf_waits(self) -> bool:
        """Whether DGAF reads what the selector hands on."""
        return self.config.frca is None and self.config.dgaf_selected

    def _ori(self, given: Given) -> Tensor:
        return self.side_by_side([given.vectors[m] for m in MODALITIES])

    def _sdtps(self, given: Given) -> Tensor:
        return self.side_by_side(self._pooled(given))

    def _moe(self, given: Given) -> Tensor:
        return self._take(given, self.generalFusion(given.patches, given.vectors))

    def _fused(self, given: Given) -> Tensor:
        means = {m: given.patches[m].mean(1) for m in given.patches}
        return torch.cat([self._reduce(m, given.vectors[m], means[m]) for m in MODALITIES], dim=-1)

    def _frca(self, given: Given) -> Tensor:
        means = {m: t.mean(1) for m, t in self._changed(given).items()}
        if self.config.reduce_after:
            means = {m: self._reduce(m, given.vectors[m], v) for m, v in means.items()}
        return torch.cat([means[m] for m in MODALITIES], dim=-1)

    def _dgaf(self, given: Given) -> Tensor:
        if self.config.frca is not None:
            tokens = self._changed(given)
            sets = self._crossed(tokens) if self.config.frca_cross else [tokens[m] for m in MODALITIES]
            if not self.dgaf.tokens:
                means = {m: t.mean(1) for m, t in tokens.items()}
                sets = [self._reduce(m, given.vectors[m], means[m]) for m in MODALITIES]
            return self._take(given, self.dgaf(sets))
        if self.dgaf.tokens:
            source = {m: t.tokens for m, t in given.traces.items()} if self.config.dgaf_selected else given.patches
            return self._take(given, self.dgaf([source[m] for m in MODALITIES], given.ready))
        vectors = self._pooled(given) if self.config.dgaf_selected else [given.vectors[m] for m in MODALITIES]
        return self._take(given, self.dgaf(vectors, given.ready))

    def _pooled(self, given: Given) -> list[Tensor]:
        pooled = {m: given.traces[m].pooled for m in MODALITIES}
        if not self.config.reduce_after:
            return list(pooled.values())
        return [self._reduce(m, given.vectors[m], v) for m, v in pooled.items()]

    def _reduce(self, modality: str, vector: Tensor, local: Tensor) -> Tensor:
        reduced: Tensor = getattr(self, f"{modality}_reduce")(torch.cat([vector, local], dim=-1))
        return reduced

    def _changed(self, given: Given) -> dict[str, Tensor]:
        return {m: getattr(self, f"frca_{m}")(given.patches[m], given.grid) for m in map(str, MODALITIES)}

    def _crossed(self, tokens: Mapping[str, Tensor]) -> list[Tensor]:
        pairs = [(tokens[m], tokens[o]) for m in MODALITIES for o in m.others]
        return [self.frca_cross_norm(self.frca_cross_attn(q, kv, kv, need_weights=False)[0] + q) for q, kv in pairs]

    @staticmethod
    def _take(given: Given, fused: Fused) -> Tensor:
        given.numbers.update(fused.numbers)
        return fused.feature


def reduction(dim: int) -> nn.Sequential:
    """DeMo's GLOBAL_LOCAL: [vector, mean of tokens] to one vector."""
    return nn.Sequential(nn.LayerNorm(2 * dim), nn.Linear(2 * dim, dim), QuickGELU())
