"""What the module writes down on its way: batched tensors with names and shapes. Everything that draws reads it."""

from collections.abc import Callable
from dataclasses import dataclass

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
    branches: tuple[Branch, ...]  # one, or two for dual aggregation

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
        )

    def repeated(self, times: int) -> "Evidence":
        """The evidence of one sample as a batch of equal samples, without copying."""
        return self.map(lambda tensor: tensor.expand(times, *tensor.shape[1:]))

    @property
    def bytes(self) -> int:
        """Memory of its tensors."""
        maps = [self.raw_self, self.self_norm, *self.raw_cross.values(), *self.cross_norm.values()]
        branches = [t for b in self.branches for t in (b.predictor, b.logits) if t is not None]
        return sum(t.nbytes for t in (self.patches, self.global_vector, *maps, *branches))


@dataclass(frozen=True)
class Trace:
    """The record of one modality of a batch. B samples, N patches, C channels, K kept, N_c aggregated.

    `dense_*` hold the second branch of the dual aggregation and are None in all other variants.
    """

    self_attention: Tensor  # (B, N) min-max normalised
    cross_attention: dict[str, Tensor]  # (B, N) each, min-max normalised
    raw_self_attention: Tensor  # (B, N) cosines
    raw_cross_attention: dict[str, Tensor]  # (B, N) each, cosines
    predictor: Tensor | None  # (B, N) in [0, 1]
    score: Tensor  # (B, N)
    keep: Tensor  # (B, K) descending score
    drop: Tensor  # (B, N-K) descending score
    mask: Tensor  # (B, N) bool
    decision: Tensor  # (B, N) D; 1.0 where kept
    selected: Tensor  # (B, K, C)
    extra: Tensor  # (B, 1, C)
    extra_weights: Tensor  # (B, N-K)
    aggregation_weights: Tensor | None  # (B, N_c, K) rows sum to 1
    aggregated: Tensor  # (B, N_c, C)
    tokens: Tensor  # (B, N_c + 1, C)
    pooled: Tensor  # (B, C)
    rows_asked: int  # N_c by the ratios; more than the weights have is clamped
    dense_keep: Tensor | None = None  # (B, K)
    dense_aggregation_weights: Tensor | None = None  # (B, N_c, K)
