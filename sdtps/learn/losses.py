"""What training minimises: identity on both features, foreground for the predictor, typicality for the cosines."""

from collections.abc import Iterable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from sdtps.model import Encoded, Prediction
from sdtps.selection import gather_tokens
from sdtps.trace import Trace
from sdtps.types import MODALITIES, Modality

LABEL_SMOOTHING = 0.1
OTHER_PEOPLE = 0.8  # how much of a foreground patch a bystander makes
TYPICAL_TEMPERATURE = 0.1
TYPICAL_PATCHES = 32  # asked per picture and step; the others get their turn


def batch_hard_triplet(feature: Tensor, pid: Tensor) -> Tensor:
    """Soft-margin triplet loss with the hardest positive and negative of the batch; feature (B, D), pid (B,)."""
    distance = torch.cdist(feature, feature)  # (B, B)
    same = pid[:, None] == pid[None]
    farthest_same = distance.masked_fill(~same, -torch.inf).amax(1)
    nearest_other = distance.masked_fill(same, torch.inf).amin(1)
    return F.softplus(farthest_same - nearest_other).mean()


def identity_loss(predictions: Iterable[Prediction], pid: Tensor, cross_entropy_weight: float) -> Tensor:
    """Label-smoothed cross-entropy plus batch-hard triplet, summed over the heads."""
    losses = [
        cross_entropy_weight * F.cross_entropy(p.logits, pid, label_smoothing=LABEL_SMOOTHING)
        + batch_hard_triplet(p.feature, pid)
        for p in predictions
    ]
    return torch.stack(losses).sum()


def foreground_loss(traces: Mapping[str, Trace], person: Tensor, others: Tensor) -> Tensor:
    """Binary cross-entropy of the predictor with the share of people in each patch; shares (B, N)."""
    target = (person + OTHER_PEOPLE * others).clamp(0, 1)
    losses = []
    for trace in traces.values():
        assert trace.predictor is not None
        losses.append(F.binary_cross_entropy(trace.predictor.clamp(1e-5, 1 - 1e-5), target))
    return torch.stack(losses).mean()


class CosineCalibration(torch.nn.Module):
    """Scale and offset that turn a cosine into a logit, one for self and one for cross; used in training only."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.full((2,), 8.0))
        self.offset = torch.nn.Parameter(torch.zeros(2))

    def forward(self, cosine: Tensor, kind: int) -> Tensor:
        """Logits of self (0) or cross (1) cosines."""
        return self.scale[kind] * cosine + self.offset[kind]


def typicality_loss(
    traces: Mapping[str, Trace],
    encoded: Encoded,
    pid: Tensor,
    person: Tensor,
    others: Tensor,
    calibration: CosineCalibration,
    emphasis: float,
    warm_ground: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Give self and cross maps a meaning of their own.

    A patch token is asked which of the batch's people it belongs to, by its cosine with each person's mean global
    vector: of its own modality for the self map ("what is typical of this person"), of another one for a cross map
    ("what the other modality also sees"). How surely it answers, compared with the person's other patches, is the map's
    target inside the person; on the background, the target is 0, or in thermal a little for what is warm: warm ground
    resembles a warm body more than a cold wall does.

    Args:
        traces: forward record.
        encoded: tokens and global vectors.
        pid: (B,) identities; each must occur.
        person: (B, N) share of the person in each patch.
        others: (B, N) target on other people, who resemble a person more than the street does.
        calibration: cosine to logit.
        emphasis: 0 asks for plain foreground, 1 for certainty alone.
        warm_ground: (B, N) least target of thermal maps.

    Returns:
        Contrastive loss of the tokens, and binary cross-entropy of the maps with their targets.
    """
    people, own = pid.unique(return_inverse=True)
    centres = {m: F.normalize(_mean_by(F.normalize(encoded.global_vectors[m], dim=-1), own, len(people)), dim=-1)
               for m in MODALITIES}  # fmt: skip
    asked = torch.rand(person.shape, device=person.device).argsort(dim=1)[:, :TYPICAL_PATCHES]  # (B, A)
    person, others = person.gather(1, asked), others.gather(1, asked)
    least = torch.zeros_like(person) if warm_ground is None else warm_ground.gather(1, asked)
    labels = own[:, None].expand(person.shape)
    contrastive, maps = [], []
    for m in MODALITIES:
        tokens = F.normalize(gather_tokens(encoded.patches[m], asked), dim=-1)
        for o in MODALITIES:
            weight = 0.5 if o is m else 0.25
            logits = tokens @ centres[o].T / TYPICAL_TEMPERATURE  # (B, A, people)
            wrong = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view(person.shape)
            contrastive.append(weight * (wrong * person).sum() / person.sum().clamp(min=1))
            certainty = _within_person(-wrong.detach(), person)
            cosine = (traces[m].raw_self_attention if o is m else traces[m].raw_cross_attention[o]).gather(1, asked)
            target = (person * (1 - emphasis + emphasis * certainty) + others).clamp(0, 1)
            if m is Modality.TIR:
                target = target.maximum(least)
            maps.append(weight * F.binary_cross_entropy_with_logits(calibration(cosine, int(o is not m)), target))
    return torch.stack(contrastive).sum() / 3, torch.stack(maps).sum() / 3


def _within_person(values: Tensor, person: Tensor) -> Tensor:
    """(B, A) values onto [0, 1] between the least and the greatest of each picture's person patches."""
    inside = person >= 0.5
    low = values.masked_fill(~inside, torch.inf).amin(1, keepdim=True)
    high = values.masked_fill(~inside, -torch.inf).amax(1, keepdim=True)
    known = high > low  # two different patches at least
    scaled = (values - low) / (high - low)
    return torch.where(known, scaled, torch.ones_like(scaled)).clamp(0, 1)


def _mean_by(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """(B, D) values averaged by (B,) group: (groups, D)."""
    one_hot = F.one_hot(group, groups).to(values.dtype)  # (B, groups)
    return (one_hot.T @ values) / one_hot.sum(0)[:, None]
