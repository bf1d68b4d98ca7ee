"""What training asks of self and cross maps: to find the person, to mean something, and not to repeat one another."""

from collections.abc import Mapping
from itertools import combinations, product

import torch
import torch.nn.functional as F
from torch import Tensor

from sdtps.algorithm.trace import Trace
from sdtps.images.masks import HALF
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
    """Teach self and cross maps to find the person; see `map_target`.

    Args:
        traces: forward record.
        patches: what is known of them.
        calibration: cosine to logit.
        weight: shapes the targets.
    """
    losses = []
    for m, o in product(MODALITIES, MODALITIES):
        logits = calibration(_cosines(traces, m, o), int(o is not m))
        losses.append(map_share(m, o) * F.binary_cross_entropy_with_logits(logits, map_target(patches, m, o, weight)))
    return torch.stack(losses).sum()


def map_target(patches: Patches, modality: Modality, other: Modality, weight: LossWeights) -> Tensor:
    """(B, N) what the map of a modality's patches with the vector of a modality, its own or another, should show.

    It is the person's share of a patch, weighed by the patch's rank among the person's patches, see `meaning_rank`. On
    the background it is 0, or in thermal a little for what is warm: warm ground resembles a warm body more than a cold
    wall does.

    Args:
        patches: what is known of them.
        modality: whose patches.
        other: whose vector; `modality` itself for the self map.
        weight: `emphasis` 0 asks for plain foreground, 1 for ranks alone; `others` and `warm_ground` are targets.
    """
    least = weight.others * patches.others
    if modality is Modality.TIR and patches.warmth is not None:
        least = least.maximum(weight.warm_ground * patches.warmth)
    rank = meaning_rank(patches, modality, other)
    if rank is None:
        return patches.person.maximum(least)
    return (patches.person * (1 - weight.emphasis + weight.emphasis * rank)).maximum(least)


def meaning_loss(traces: Mapping[str, Trace], patches: Patches) -> Tensor:
    """Give self and cross maps a meaning of their own: 1 less their correlation with it, inside the person.

    There the silhouette, which every map must find, says nothing.
    """
    inside = patches.person >= HALF
    losses = []
    for m, o in product(MODALITIES, MODALITIES):
        if (rank := meaning_rank(patches, m, o)) is not None:
            losses.append(map_share(m, o) * (1 - _correlation(_cosines(traces, m, o), rank, inside).mean()))
    return torch.stack(losses).sum() if losses else patches.person.new_zeros(())


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


def meaning_rank(patches: Patches, modality: Modality, other: Modality) -> Tensor | None:
    """(B, N) rank of each patch inside the person by what a map should mean, where that is known.

    In a self map it is closeness to the person's mean colour, in a cross map how much it stands out to the other one.
    """
    known = patches.typical if other is modality else patches.visible
    return None if known is None else rank_inside(known[MODALITIES.index(other)], patches.person)


def rank_inside(values: Tensor, person: Tensor) -> Tensor:
    """(B, N) values to their rank among the patches that are mostly person: 0 the least, 1 the greatest and the rest.

    Ranks spread evenly whatever the light, so that every map has a whole scale inside the person.
    """
    inside = person >= HALF
    place = values.masked_fill(~inside, torch.inf).argsort(1).argsort(1)  # (B, N); the outside comes last
    return (place / (inside.sum(1, keepdim=True) - 1).clamp(min=1)).clamp(max=1)


def _correlation(one: Tensor, other: Tensor, where: Tensor | None = None) -> Tensor:
    """(B,) correlations of two maps (B, N), over all patches or over those where a mask (B, N) holds."""
    weight = torch.ones_like(one) if where is None else where.to(one.dtype)
    count = weight.sum(1, keepdim=True).clamp(min=1)
    a, b = (F.normalize((x - (x * weight).sum(1, keepdim=True) / count) * weight, dim=1) for x in (one, other))
    return (a * b).sum(1)


def _cosines(traces: Mapping[str, Trace], modality: Modality, other: Modality) -> Tensor:
    """(B, N) cosines of a modality's patches with the vector of a modality, its own or another."""
    trace = traces[modality]
    return trace.raw_self_attention if other is modality else trace.raw_cross_attention[other]


def map_share(modality: Modality, other: Modality) -> float:
    """Self and the two cross maps count alike, and the modalities, too; together they make 1."""
    return (0.5 if other is modality else 0.25) / len(MODALITIES)
