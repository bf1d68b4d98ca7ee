"""What a selector writes down on its way: batched tensors with names and shapes. Everything that draws reads it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Branch:
    """What one branch of weights says about every patch: predictor (B, N) and aggregation logits (B, R, N)."""

    predictor: Tensor | None
    logits: Tensor | None


@dataclass(frozen=True)
class Evidence:
    """Everything about one modality that no slider changes. R is the number of rows the weights have."""

    patches: Tensor  # (B, N, C)
    global_vector: Tensor  # (B, C)
    raw_self: Tensor  # (B, N)
    raw_cross: dict[str, Tensor]  # (B, N) each
    self_norm: Tensor  # (B, N)
    cross_norm: dict[str, Tensor]  # (B, N) each
    branches: tuple[Branch, ...] = ()  # one, or two for dual aggregation; none in other selectors
    own: dict[str, Tensor] = field(default_factory=dict)  # (B, ...) what a selector computes besides

    def map(self, change: Callable[[Tensor], Tensor]) -> "Evidence":
        """The same evidence with every tensor changed in one way."""
        return Evidence(
            patches=change(self.patches),
            global_vector=change(self.global_vector),
            raw_self=change(self.raw_self),
            raw_cross={o: change(t) for o, t in self.raw_cross.items()},
            self_norm=change(self.self_norm),
            cross_norm={o: change(t) for o, t in self.cross_norm.items()},
            branches=tuple(
                Branch(*(None if t is None else change(t) for t in (b.predictor, b.logits))) for b in self.branches
            ),
            own={name: change(t) for name, t in self.own.items()},
        )

    def repeated(self, times: int) -> "Evidence":
        """The evidence of one sample as a batch of equal samples, without copying."""
        return self.map(lambda tensor: tensor.expand(times, *tensor.shape[1:]))

    @property
    def bytes(self) -> int:
        """Memory of its tensors."""
        maps = [self.raw_self, self.self_norm, *self.raw_cross.values(), *self.cross_norm.values()]
        branches = [t for b in self.branches for t in (b.predictor, b.logits) if t is not None]
        return sum(t.nbytes for t in (self.patches, self.global_vector, *maps, *branches, *self.own.values()))


@dataclass(frozen=True)
class Trace:
    """The record of one modality of a batch. B samples, N patches, C channels, K kept, N_c aggregated.

    `dense_*` hold the second branch of the dual aggregation and are None in all other variants. A selector other than
    SDTPS leaves out what it does not have, and adds what it names in `maps` and `numbers`.
    """

    self_attention: Tensor  # (B, N) normalised as the selector does it
    cross_attention: dict[str, Tensor]  # (B, N) each, likewise
    raw_self_attention: Tensor  # (B, N) cosines
    raw_cross_attention: dict[str, Tensor]  # (B, N) each, cosines
    predictor: Tensor | None  # (B, N) in [0, 1]
    score: Tensor  # (B, N)
    order: Tensor  # (B, N) kept patches first, each part by descending score
    counts: Tensor  # (B,) how many of the order are kept
    mask: Tensor  # (B, N) bool
    decision: Tensor  # (B, N) D; 1.0 where kept, or the weight of a soft mask
    extra_weights: Tensor  # (B, N-K)
    aggregation_weights: Tensor | None  # (B, N_c, K) rows sum to 1
    tokens: Tensor  # (B, T, C) what is handed on
    pooled: Tensor  # (B, C) the modality's share of the feature
    rows_asked: int = 0  # N_c by the ratios; more than the weights have is clamped
    selected: Tensor | None = None  # (B, K, C)
    extra: Tensor | None = None  # (B, 1, C)
    aggregated: Tensor | None = None  # (B, N_c, C)
    dense_keep: Tensor | None = None  # (B, K)
    dense_aggregation_weights: Tensor | None = None  # (B, N_c, K)
    weights: Tensor | None = None  # (B, N) in [0, 1]: a soft mask, where nothing is dropped
    groups: Tensor | None = None  # (B, N) 0 dropped, 1 intra, 2 inter, 3 both, 4 filled up
    maps: dict[str, Tensor] = field(default_factory=dict)  # (B, N) each, by the names that the selector gives
    numbers: dict[str, Tensor] = field(default_factory=dict)  # (B, ...) what it says about a whole modality

    @classmethod
    def of(cls, evidence: Evidence, **decided: Any) -> "Trace":
        """What was decided on this evidence; its first branch tells the predictor."""
        return cls(
            self_attention=evidence.self_norm,
            cross_attention=evidence.cross_norm,
            raw_self_attention=evidence.raw_self,
            raw_cross_attention=evidence.raw_cross,
            predictor=evidence.branches[0].predictor if evidence.branches else None,
            **decided,
        )

    def map(self, change: Callable[[Tensor], Tensor]) -> "Trace":
        """The same record with every tensor changed in one way."""

        def changed(value: Any) -> Any:
            if isinstance(value, Tensor):
                return change(value)
            return {name: change(t) for name, t in value.items()} if isinstance(value, dict) else value

        return Trace(**{f.name: changed(getattr(self, f.name)) for f in fields(self)})

    @property
    def keep(self) -> Tensor:
        """(B, K) kept patches in descending score; for a soft mask only a guide: its K heaviest."""
        return self.order[:, : self._kept]

    @property
    def drop(self) -> Tensor:
        """(B, N-K) the other patches in descending score."""
        return self.order[:, self._kept :]

    @property
    def _kept(self) -> int:
        first, *others = self.counts.tolist()
        if any(count != first for count in others):
            raise ValueError(
                "The samples of this batch keep different numbers of patches; look at one, or at the mask."
            )
        return int(first)

    def sample(self, index: int) -> "Trace":
        """One sample of the batch, as a batch of one."""

        def one(value: Any) -> Any:
            if isinstance(value, Tensor):
                return value[index : index + 1]
            return {k: one(v) for k, v in value.items()} if isinstance(value, dict) else value

        return replace(self, **{f.name: one(getattr(self, f.name)) for f in fields(self)})


def trace_of(
    evidence: Evidence,
    *,
    score: Tensor,
    kept: Tensor,
    tokens: Tensor,
    weights: Tensor | None = None,
    groups: Tensor | None = None,
    maps: Mapping[str, Tensor] | None = None,
    numbers: Mapping[str, Tensor] | None = None,
) -> Trace:
    """The record of a selector that keeps or weighs patches without aggregating them.

    Args:
        evidence: what it was decided from.
        score: (B, N) by which patches are ordered.
        kept: (B, N) bool; for a soft mask the guide that is outlined at most.
        tokens: (B, T, C) what is handed on; their mean is the modality's share of the feature.
        weights: (B, N) the soft mask, where nothing is dropped.
        groups: (B, N) why a patch is kept, see `Trace`.
        maps, numbers: what it names besides.
    """
    order = score.sort(dim=1, descending=True, stable=True).indices
    first = kept.gather(1, order).to(torch.int8).sort(dim=1, descending=True, stable=True).indices
    counts = kept.sum(1)
    # No extra token is made; its weights are there so that every trace has the same fields.
    nothing = score.new_zeros(len(score), score.shape[1] - int(counts.max()))
    return Trace.of(
        evidence,
        score=score,
        order=order.gather(1, first),
        counts=counts,
        mask=kept,
        decision=kept.to(score.dtype) if weights is None else weights,
        extra_weights=nothing,
        aggregation_weights=None,
        tokens=tokens,
        pooled=tokens.mean(dim=1),
        weights=weights,
        groups=groups,
        maps=dict(maps or {}),
        numbers=dict(numbers or {}),
    )
