"""One training step's forward pass: the weighted losses, and what each head says."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from sdtps.algorithm.trace import Trace
from sdtps.models.reid import Encoded, Prediction, ReidModel
from sdtps.training.losses import (
    blind_loss,
    contrast_loss,
    early_loss,
    focus_loss,
    foreground_loss,
    head_loss,
    hush_loss,
    length_loss,
    order_loss,
    people_target,
    token_loss,
)
from sdtps.training.maps import CosineCalibration, apart_loss, maps_loss
from sdtps.training.recipe import LossWeights
from sdtps.training.sources import Batch, Patches
from sdtps.types import MODALITIES

# In the log; those after early need masks.
LOSSES = (
    *("identity", "contrast", "length", "apart", "early"),
    *("foreground", "focus", "token", "hush", "maps", "blind", "order"),
)
HEADS = ("ori", "sdtps")
OWN_HEADS = {f"_{m[0]}": place for place, m in enumerate(MODALITIES)}  # as the model names the heads of modalities


class Answer(NamedTuple):
    """What a head says, and who it is; b of the batch."""

    prediction: Prediction
    pid: Tensor  # (b,)


class Outcome(NamedTuple):
    """What a step is minimised by, and what it is judged by."""

    losses: dict[str, Tensor]  # weighted
    heads: dict[str, Tensor]  # identity loss by head, not weighted
    accuracy: dict[str, Tensor]  # share of right identities by head

    @property
    def total(self) -> Tensor:
        """The sum of the losses."""
        return torch.stack(list(self.losses.values())).sum()


def outcome_of(
    net: ReidModel,
    calibration: CosineCalibration,
    batch: Batch,
    weight: LossWeights,
    heads: Mapping[str, float] | None = None,
) -> Outcome:
    """Forward pass and losses of one batch.

    Args:
        net: the model.
        calibration: cosine to logit, for the maps.
        batch: tokens and identities.
        weight: of the losses; what has none is not computed.
        heads: loss weight by head, 1 by default; a head with weight 0 is no part of any loss.
    """
    share = dict.fromkeys(HEADS, 1.0) | dict(heads or {})
    encoded = net.reduce(batch.tokens)
    traces = net.sdtps(encoded.patches, encoded.global_vectors)
    found: dict[str, list[Answer]] = {}
    for suffix, prediction in net.predictions(encoded, traces).items():
        found.setdefault("sdtps" if suffix == "_sdtps" else "ori", []).append(_answer(suffix, prediction, batch))
    by_head = {
        name: torch.stack([head_loss(a.prediction, a.pid, weight.cross_entropy) for a in answers]).sum()
        for name, answers in found.items()
    }
    counted = [share[name] * loss for name, loss in by_head.items() if share[name]]
    losses = dict.fromkeys(LOSSES, batch.tokens.patches.new_zeros(()))
    losses["identity"] = weight.identity * torch.stack(counted).sum()
    if weight.contrast:
        compared = [(a.prediction.feature, a.pid) for name, answers in found.items() if share[name] for a in answers]
        if share["sdtps"]:
            compared.append((net.test_feature(encoded, traces), batch.pid))
        losses["contrast"] = weight.contrast * torch.stack([contrast_loss(*c) for c in compared]).mean()
    if weight.length:
        vectors = [*encoded.global_vectors.values(), *(trace.pooled for trace in traces.values())]
        losses["length"] = weight.length * length_loss(net.compared([vector]) for vector in vectors)
    if weight.apart:
        losses["apart"] = weight.apart * apart_loss(traces, weight.alike)
    if weight.early:
        losses["early"] = weight.early * early_loss(net, encoded, traces)
    if batch.patches is not None:
        losses |= _of_patches(net, calibration, batch.pid, batch.patches, weight, encoded, traces)
    accuracy = {
        name: torch.stack([(a.prediction.logits.argmax(1) == a.pid).float().mean() for a in answers]).mean()
        for name, answers in found.items()
    }
    return Outcome(losses, by_head, accuracy)


def _answer(suffix: str, prediction: Prediction, batch: Batch) -> Answer:
    """A modality's head is asked about pictures that show something; of the others it could only learn to guess."""
    place = OWN_HEADS.get(suffix)
    if place is None or batch.shown is None or not (shown := batch.shown[place]).any():
        return Answer(prediction, batch.pid)
    return Answer(Prediction(*(part[shown] for part in prediction)), batch.pid[shown])


def _of_patches(
    net: ReidModel,
    calibration: CosineCalibration,
    pid: Tensor,
    patches: Patches,
    weight: LossWeights,
    encoded: Encoded,
    traces: Mapping[str, Trace],
) -> dict[str, Tensor]:
    """The weighted losses that need to know what a patch shows."""
    losses = {}
    if weight.foreground:
        losses["foreground"] = weight.foreground * foreground_loss(traces, patches.person, patches.others)
    if weight.focus:
        losses["focus"] = weight.focus * focus_loss(net, encoded, people_target(patches.person, patches.others))
    if weight.token:
        losses["token"] = weight.token * token_loss(encoded, pid, patches.person)
    if weight.hush:
        losses["hush"] = weight.hush * hush_loss(net, encoded, people_target(patches.person, patches.others))
    if weight.maps:
        losses["maps"] = weight.maps * maps_loss(traces, patches, calibration, weight)
    own = getattr(net.backbone, "place_channels", 0)
    if weight.blind and own and patches.dark is not None:
        losses["blind"] = weight.blind * blind_loss(encoded.patches[MODALITIES[0]][..., :-own], patches.dark)
    if weight.order and patches.dark is not None:
        score, people = traces[MODALITIES[0]].score, people_target(patches.person, patches.others)
        losses["order"] = weight.order * order_loss(score[patches.dark], people[patches.dark])
    return losses
