"""What training asks of self and cross maps: to find the person, and not to repeat one another."""

from collections.abc import Mapping
from itertools import combinations, product

import torch
import torch.nn.functional as F
from torch import Tensor

from sdtps.algorithm.trace import Trace
from sdtps.training.recipe import LossWeights
from sdtps.training.sources import Patches
from sdtps.types import MODALITIES, Modality


class CosineCalibration(torch.nn.Module):
    """Scale and offset that turn a cosine into a logit, one for self and one for cross; used in training only."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((2,), 8.0))
        self.offset = torch.nn.Parameter(torch.zeros(2))

    def forward(self, cosine: Tensor, kind: int) -> Tensor:
        """Logits of self (0) or cross (1) cosines."""
        return self.scale[kind] * cosine + self.offset[kind]


def maps_loss(
    traces: Mapping[str, Trace], patches: Patches, calibration: CosineCalibration, weight: LossWeights
) -> Tensor:
    """Teach self and cross maps to find the person.

    Args:
        traces: forward record.
        patches: what is known of them.
        calibration: cosine to logit.
        weight: `others` is how much of a target a bystander makes, `guided` how often cross maps of black RGB pictures
            count: there only the other sensors know where the person is.
    """
    target = patches.person.maximum(weight.others * patches.others)
    losses = []
    for m, o in product(MODALITIES, MODALITIES):
        logits = calibration(_cosines(traces, m, o), int(o is not m))
        wrong = F.binary_cross_entropy_with_logits(logits, target, reduction="none").mean(1)  # (B,)
        if patches.dark is not None and m is Modality.RGB is not o:
            wrong = wrong * torch.where(patches.dark, weight.guided, 1.0)
        losses.append(map_share(m, o) * wrong.mean())
    return torch.stack(losses).sum()


def apart_loss(traces: Mapping[str, Trace], limit: float) -> Tensor:
    """How far the correlations between a modality's maps exceed a limit: a map that repeats another has no say.

    The predictor is taken as it is, for it has a truth of its own to follow.
    """
    losses = []
    for trace in traces.values():
        maps = [trace.raw_self_attention, *trace.raw_cross_attention.values()]
        if trace.predictor is not None:
            maps.append(trace.predictor.detach())
        losses += [F.relu(_correlation(one, other) - limit).mean() for one, other in combinations(maps, 2)]
    return torch.stack(losses).mean()


def _correlation(one: Tensor, other: Tensor) -> Tensor:
    """(B,) correlations of two maps (B, N)."""
    a, b = (F.normalize(x - x.mean(1, keepdim=True), dim=1) for x in (one, other))
    return (a * b).sum(1)


def _cosines(traces: Mapping[str, Trace], modality: Modality, other: Modality) -> Tensor:
    """(B, N) cosines of a modality's patches with the vector of a modality, its own or another."""
    trace = traces[modality]
    return trace.raw_self_attention if other is modality else trace.raw_cross_attention[other]


def map_share(modality: Modality, other: Modality) -> float:
    """Self and the two cross maps count alike, and the modalities, too; together they make 1."""
    return (0.5 if other is modality else 0.25) / len(MODALITIES)
