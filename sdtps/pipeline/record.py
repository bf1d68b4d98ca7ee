"""From tensors to the record that travels: the first sample as NumPy arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from sdtps.algorithm.trace import Evidence, Trace
from sdtps.types import ModalityTrace


def array(tensor: Tensor) -> NDArray[Any]:
    """The first sample as a NumPy array that shares no memory with the cache."""
    return np.array(tensor[0].numpy())


def modality_trace(
    trace: Trace, evidence: Evidence, what_if: tuple[Tensor, Tensor] | None, missing: bool
) -> ModalityTrace:
    """What is written down of one modality; `what_if` is the soft decision and the frequency under noise."""

    def optional(tensor: Tensor | None) -> NDArray[Any] | None:
        return None if tensor is None else array(tensor)

    soft, frequency = (None, None) if what_if is None else (t.numpy().copy() for t in what_if)
    return ModalityTrace(
        self_attention=array(trace.self_attention),
        cross_attention={o: array(t) for o, t in trace.cross_attention.items()},
        raw_self_attention=array(trace.raw_self_attention),
        raw_cross_attention={o: array(t) for o, t in trace.raw_cross_attention.items()},
        predictor=optional(trace.predictor),
        score=array(trace.score),
        keep=array(trace.keep),
        drop=array(trace.drop),
        mask=array(trace.mask),
        soft_mask=soft,
        selection_frequency=frequency,
        aggregation_weights=optional(trace.aggregation_weights),
        dense_keep=optional(trace.dense_keep),
        dense_aggregation_weights=optional(trace.dense_aggregation_weights),
        extra_weights=array(trace.extra_weights),
        token_norm=np.linalg.norm(evidence.patches[0].numpy(), axis=-1),
        pooled=array(trace.pooled),
        missing=missing,
        weights=optional(trace.weights),
        groups=optional(trace.groups),
        maps={name: array(t) for name, t in trace.maps.items()},
        numbers={name: array(t) for name, t in trace.numbers.items()},
    )
