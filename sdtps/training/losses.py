"""What training minimises: identity on both features, foreground for the predictor, people in pools and tokens."""

from collections.abc import Iterable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from sdtps.algorithm.selection import gather_tokens
from sdtps.algorithm.trace import Trace
from sdtps.models.adapters import AttentionPool
from sdtps.models.backbone import HieraBackbone
from sdtps.models.losses import batch_hard_triplet
from sdtps.models.reid import Encoded, Prediction, ReidModel
from sdtps.training.maps import map_share
from sdtps.types import MODALITIES

LABEL_SMOOTHING = 0.1
OTHER_PEOPLE = 0.8  # how much of a foreground patch a bystander makes
TOKEN_TEMPERATURE = 0.1
CONTRAST_TEMPERATURE = 0.1
ASKED_PATCHES = 32  # per picture and step; the others get their turn
ORDER_TEMPERATURE = 0.1
EARLY = 8  # the best-scored patches are at most this fraction of all


def identity_loss(predictions: Iterable[Prediction], pid: Tensor, cross_entropy_weight: float) -> Tensor:
    """Label-smoothed cross-entropy plus batch-hard triplet, summed over the heads."""
    return torch.stack([head_loss(p, pid, cross_entropy_weight) for p in predictions]).sum()


def head_loss(prediction: Prediction, pid: Tensor, cross_entropy_weight: float) -> Tensor:
    """Label-smoothed cross-entropy plus batch-hard triplet of one head."""
    entropy = F.cross_entropy(prediction.logits, pid, label_smoothing=LABEL_SMOOTHING)
    return cross_entropy_weight * entropy + batch_hard_triplet(prediction.feature, pid)


def contrast_loss(feature: Tensor, pid: Tensor) -> Tensor:
    """How well each triplet's cosines find its person's other views among the batch; feature (B, D), pid (B,).

    The mean over those views of -log softmax: supervised contrast, on the measure that ranks a gallery.
    """
    unit = F.normalize(feature, dim=-1)
    itself = torch.eye(len(pid), dtype=torch.bool, device=pid.device)
    log_share = (unit @ unit.T / CONTRAST_TEMPERATURE).masked_fill(itself, -torch.inf).log_softmax(1)
    same = (pid[:, None] == pid[None]) & ~itself
    return -log_share.masked_fill(~same, 0).sum(1).div(same.sum(1).clamp(min=1)).mean()


def people_target(person: Tensor, others: Tensor) -> Tensor:
    """Share of people in each patch; a bystander makes somewhat less of one."""
    return (person + OTHER_PEOPLE * others).clamp(0, 1)


def foreground_loss(traces: Mapping[str, Trace], person: Tensor, others: Tensor) -> Tensor:
    """Binary cross-entropy of the predictor with the share of people in each patch; shares (B, N)."""
    target = people_target(person, others)
    losses = []
    for trace in traces.values():
        assert trace.predictor is not None
        losses.append(F.binary_cross_entropy(trace.predictor.clamp(1e-5, 1 - 1e-5), target))
    return torch.stack(losses).mean()


def focus_loss(net: ReidModel, encoded: Encoded, people: Tensor) -> Tensor:
    """-log of the weight that pools and aggregation rows lay on people when every patch is there; people (B, N) shares.

    A feature that looks past the street is the same in the next camera, and the same without the street's patches.
    """
    losses = []
    for m in MODALITIES:
        weights = []
        pools = net.backbone.pools if isinstance(net.backbone, HieraBackbone) else None
        if pools is not None and isinstance(pool := pools[m], AttentionPool):
            weights.append(pool.weights(encoded.patches[m]).transpose(1, 2))  # (B, heads, N)
        if (aggregation := getattr(net.sdtps, f"{m}_aggr")) is not None:
            weights.append(aggregation.logits(encoded.patches[m]).softmax(dim=-1))  # (B, N_c, N)
        losses += [-((w * people.unsqueeze(1)).sum(-1) + 1e-2).log().mean() for w in weights]
    return torch.stack(losses).mean()


def length_loss(features: Iterable[Tensor]) -> Tensor:
    """How much the usual lengths of a match's vectors differ, as the variance of their logarithms; (B, D) each.

    In a match a longer vector counts more, and the one that knows the training's people best would grow and drown the
    others, which may know strangers better. The median, because black pictures may have shorter ones.
    """
    usual = torch.stack([f.norm(dim=-1).median() for f in features])
    return usual.clamp(min=1e-6).log().var(unbiased=False)


def blind_loss(looks: Tensor, dark: Tensor) -> Tensor:
    """How long looks of black pictures are, beside those of the others; looks (B, N, C), dark (B,).

    What a black patch looks like says nothing; without it, the cosine compares places alone. The gradient passes
    through both lengths: to make all looks shorter, until no picture is seen, gains nothing.
    """
    if dark.all() or not dark.any():
        return looks.new_zeros(())
    length = looks.norm(dim=-1).mean(1)  # (B,)
    return length[dark].mean() / length[~dark].mean().clamp(min=1e-6)


def hush_loss(net: ReidModel, encoded: Encoded, people: Tensor) -> Tensor:
    """How much patches without people say what the feature of all says, by their cosine; people (B, N) shares.

    Attention inside the adapters tells every patch who is in the picture. A patch that people are recognised by should
    show them, or dropping it would lose nothing that any other patch does not say, too.
    """
    empty = 1 - people
    losses = []
    for m in MODALITIES:
        if (aggregation := getattr(net.sdtps, f"{m}_aggr")) is not None:
            patches = encoded.patches[m]
            weights = aggregation.logits(patches).softmax(-1).mean(1, keepdim=True)  # (B, 1, N)
            looks, whole = net.compared([patches]), net.compared([weights @ patches]).detach()
            said = F.cosine_similarity(looks, whole, dim=-1).clamp(min=0)  # (B, N)
            losses.append((said * empty).sum() / empty.sum().clamp(min=1))
    return torch.stack(losses).mean() if losses else people.new_zeros(())


def order_loss(score: Tensor, people: Tensor) -> Tensor:
    """How often, softly, a patch without people is scored above one with people; (B, N) each, people are shares.

    On black pictures the maps must share the score so that those of the other sensors decide.
    """
    above = F.softplus((score[:, None] - score[:, :, None]) / ORDER_TEMPERATURE)  # (B, N with people, N without)
    weight = people[:, :, None] * (1 - people[:, None])
    return (above * weight).sum() / weight.sum().clamp(min=1)


def early_loss(net: ReidModel, encoded: Encoded, traces: Mapping[str, Trace]) -> Tensor:
    """How far the best-scored patches alone are from the feature of all: 1 less their cosine, for a random number.

    A selection that keeps little should keep what the feature is made of.
    """
    losses = []
    for m in MODALITIES:
        if (aggregation := getattr(net.sdtps, f"{m}_aggr")) is not None:
            patches, logits = encoded.patches[m], aggregation.logits(encoded.patches[m])  # (B, N, C), (B, N_c, N)
            count = int(torch.randint(1, patches.shape[1] // EARLY + 1, ()))
            best = traces[m].score.topk(count, dim=1).indices  # (B, n)
            few = logits.gather(2, best.unsqueeze(1).expand(-1, logits.shape[1], -1)).softmax(-1).mean(1, keepdim=True)
            some = (few @ gather_tokens(patches, best)).squeeze(1)
            whole = (logits.softmax(-1).mean(1, keepdim=True) @ patches).squeeze(1)
            losses.append(1 - F.cosine_similarity(net.compared([some]), net.compared([whole])).mean())
    return torch.stack(losses).mean() if losses else encoded.patches[MODALITIES[0]].new_zeros(())


def token_loss(encoded: Encoded, pid: Tensor, person: Tensor) -> Tensor:
    """Ask patch tokens which of the batch's people they belong to.

    A token answers by its cosine with each person's mean global vector: of its own modality, and of the other two.

    Args:
        encoded: tokens and global vectors.
        pid: (B,) identities.
        person: (B, N) share of the person in each patch, the weight of its answer.
    """
    people, own = pid.unique(return_inverse=True)
    centres = {m: F.normalize(_mean_by(F.normalize(encoded.global_vectors[m], dim=-1), own, len(people)), dim=-1)
               for m in MODALITIES}  # fmt: skip
    asked = torch.rand(person.shape, device=person.device).argsort(dim=1)[:, :ASKED_PATCHES]  # (B, A)
    person = person.gather(1, asked)
    labels = own[:, None].expand(person.shape)
    losses = []
    for m in MODALITIES:
        tokens = F.normalize(gather_tokens(encoded.patches[m], asked), dim=-1)
        for o in MODALITIES:
            logits = tokens @ centres[o].T / TOKEN_TEMPERATURE  # (B, A, people)
            wrong = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none").view(person.shape)
            losses.append(map_share(m, o) * (wrong * person).sum() / person.sum().clamp(min=1))
    return torch.stack(losses).sum()


def _mean_by(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """(B, D) values averaged by (B,) group: (groups, D)."""
    one_hot = F.one_hot(group, groups).to(values.dtype)  # (B, groups)
    return (one_hot.T @ values) / one_hot.sum(0)[:, None]
