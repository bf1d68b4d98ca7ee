"""What SDTPS did with one modality: every map, the kept patches and their weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType

import numpy as np

from sdtps.support.shown import describe_trace
from sdtps.types.basic import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class ModalityTrace:
    """What SDTPS did with one modality of one triplet. N patches, K kept, N_c aggregated tokens.

    Attributes:
        self_attention: (N,) cosine with the modality's own global vector, min-max normalised.
        cross_attention: (N,) per other modality, cosine with its global vector, min-max normalised.
        raw_self_attention: (N,) the same cosine before normalisation.
        raw_cross_attention: (N,) per other modality, the same cosine before normalisation.
        predictor: (N,) learned score in [0, 1], or None where the weights hold no predictor.
        score: (N,) fused score, by which patches are ranked.
        keep: (K,) kept patches in descending score order, lowest index first among ties.
        drop: (N-K,) discarded patches, in the same order.
        mask: (N,) True where kept.
        soft_mask: (N,) softmax(score / tau) over the patches: the soft decision without noise; None where the
            selector has no tau.
        selection_frequency: (N,) share of Gumbel top-K draws at tau that keep the patch; None likewise.
        aggregation_weights: (N_c, K) weight of each kept patch in each aggregated token; columns follow `keep`.
            None where the weights hold no aggregation network.
        dense_keep: (K,) kept patches of the second branch; only in variants with two branches.
        dense_aggregation_weights: (N_c, K) weights of the second branch; columns follow `dense_keep`.
        extra_weights: (N-K,) weight of each discarded patch in the extra token; follows `drop`.
        token_norm: (N,) L2 norm of each patch token; outliers are known artefacts of ViTs.
        pooled: (C,) mean of the final tokens.
        missing: True where the modality was not given and zeros went through the backbone.
        weights: (N,) mask in [0, 1] of a soft selector, which drops nothing; `keep`, `drop` and `mask` are then only a
            guide: the heaviest patches at the sparse ratio.
        groups: (N,) why a patch is kept, where the selector says it: 1 by its own modality, 2 by another, 3 by both,
            4 to fill up; 0 where it is dropped.
        maps: (N,) maps that the selector names besides, see `Variant.maps`.
        numbers: what the selector says about the whole modality: mixing weights, effective number, leak.
    """

    self_attention: FloatArray
    cross_attention: Mapping[str, FloatArray]
    raw_self_attention: FloatArray
    raw_cross_attention: Mapping[str, FloatArray]
    predictor: FloatArray | None
    score: FloatArray
    keep: IntArray
    drop: IntArray
    mask: BoolArray
    soft_mask: FloatArray | None
    selection_frequency: FloatArray | None
    aggregation_weights: FloatArray | None
    dense_keep: IntArray | None
    dense_aggregation_weights: FloatArray | None
    extra_weights: FloatArray
    token_norm: FloatArray
    pooled: FloatArray
    missing: bool
    weights: FloatArray | None = None
    groups: IntArray | None = None
    maps: Mapping[str, FloatArray] = field(default_factory=dict)
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ModalityTrace: {describe_trace(self)}>"

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Mapping):
                for array in value.values():
                    array.flags.writeable = False
                object.__setattr__(self, f.name, MappingProxyType(dict(value)))
            elif isinstance(value, np.ndarray):
                value.flags.writeable = False

    @cached_property
    def rank(self) -> IntArray:
        """(N,) place of each patch in the score order, 0 for the best."""
        rank = np.empty(len(self.score), np.int64)
        rank[np.concatenate([self.keep, self.drop])] = np.arange(len(rank))
        return rank

    @property
    def kept(self) -> int:
        """K, the number of kept patches."""
        return len(self.keep)

    @property
    def threshold(self) -> float | None:
        """The score of the last patch that is kept; None where patches are not kept by their score alone."""
        by_score = len(self.keep) and self.groups is None and not self.soft
        return float(self.score[self.keep[-1]]) if by_score else None

    @property
    def soft(self) -> bool:
        """Whether nothing is dropped and every patch has a weight instead."""
        return self.weights is not None

    @cached_property
    def effective(self) -> float:
        """Effective number of patches: (sum of weights)^2 / sum of squares; K for a hard choice."""
        weights = self.mask if self.weights is None else self.weights.astype(np.float64)
        return float(weights.sum() ** 2 / (weights**2).sum())

    @cached_property
    def aggregation_total(self) -> FloatArray | None:
        """(N,) total weight that each patch gets over all aggregated tokens; 0 where it is dropped."""
        if self.aggregation_weights is None:
            return None
        total = np.zeros(len(self.score), np.float32)
        total[self.keep] = self.aggregation_weights.sum(0)
        if self.dense_keep is not None and self.dense_aggregation_weights is not None:
            total[self.dense_keep] += self.dense_aggregation_weights.sum(0)
        return total

    @cached_property
    def aggregation_by_patch(self) -> FloatArray | None:
        """(N_c, N) weight of every patch in every aggregated token, both branches added; 0 where it is dropped."""
        if self.aggregation_weights is None:
            return None
        matrix = np.zeros((len(self.aggregation_weights), len(self.score)), np.float32)
        matrix[:, self.keep] = self.aggregation_weights
        if self.dense_keep is not None and self.dense_aggregation_weights is not None:
            matrix[:, self.dense_keep] += self.dense_aggregation_weights
        return matrix
