"""The steps of `MultiModalSDTPS.decide` for one modality: score, weights of the aggregation, and the record."""

import torch
import torch.nn.functional as F
from torch import Tensor

from sdtps.algorithm.aggregation import add_importance, add_soft_choice, mask_by_decision
from sdtps.algorithm.scoring import fuse
from sdtps.algorithm.selection import Selection, gather_tokens
from sdtps.algorithm.trace import Branch, Evidence, Trace
from sdtps.variants import Decision, Score, Variant

Side = tuple[Tensor, Selection, Tensor | None]  # score, selection, aggregation weights of one branch


def score_of(evidence: Evidence, branch: Branch, beta: float, variant: Variant) -> Tensor:
    """(B, N) the score of a branch."""
    if variant.score is Score.COSINES:
        return evidence.raw_self + sum(evidence.raw_cross.values())
    predictor = torch.zeros_like(evidence.self_norm) if branch.predictor is None else branch.predictor
    cross1, cross2 = evidence.cross_norm.values()
    return fuse(predictor, evidence.self_norm, cross1, cross2, beta)


def aggregation_weights(
    branch: Branch, score: Tensor, selection: Selection, rows: int, variant: Variant
) -> Tensor | None:
    """(B, N_c, K) weights, or None where the weights hold no aggregation network."""
    k = selection.keep.shape[1]
    if not variant.needs_aggregation:
        # Every kept patch is its own token.
        return torch.eye(k, dtype=score.dtype, device=score.device).expand(len(score), k, k)
    if branch.logits is None:
        return None
    columns = selection.keep.unsqueeze(1).expand(-1, min(rows, branch.logits.shape[1]), -1)
    logits = branch.logits.gather(2, columns)  # (B, N_c, K); a smaller row index reads the first rows
    if variant.decision is Decision.MASK_1E10:
        logits = mask_by_decision(logits, selection.decision.gather(1, selection.keep))
    elif variant.decision is Decision.IMPORTANCE:
        logits = add_importance(logits, score.gather(1, selection.keep))
    return logits.softmax(dim=-1)


def record(evidence: Evidence, sides: list[Side], asked: int, variant: Variant) -> Trace:
    """What was decided, of one branch or of two."""
    score, selection, weights = sides[0]
    aggregated = selection.selected if weights is None else weights @ selection.selected  # (B, N_c, C)
    extra, dense_keep, dense_weights = selection.extra, None, None
    if len(sides) == 2:
        _, dense, dense_weights = sides[1]
        assert dense_weights is not None
        dense_keep = dense.keep
        aggregated, extra = aggregated + dense_weights @ dense.selected, (extra + dense.extra) / 2
    tokens = torch.cat([aggregated, extra], dim=1)  # (B, N_c + 1, C)
    if variant.global_token:
        tokens = F.normalize(torch.cat([evidence.global_vector.unsqueeze(1), tokens], dim=1), dim=-1)
    return Trace.of(
        evidence,
        score=score,
        order=torch.cat([selection.keep, selection.drop], dim=1),
        counts=torch.full((len(score),), selection.keep.shape[1]),
        mask=selection.mask.bool(),
        decision=selection.decision,
        selected=selection.selected,
        extra=extra,
        extra_weights=selection.extra_weights,
        aggregation_weights=weights,
        aggregated=aggregated,
        tokens=tokens,
        pooled=tokens.mean(dim=1),
        rows_asked=asked,
        dense_keep=dense_keep,
        dense_aggregation_weights=dense_weights,
    )


def record_soft(evidence: Evidence, score: Tensor, selection: Selection, soft: Tensor, asked: int) -> Trace:
    """The record of a soft choice over all patches: weights of every patch, and no extra token.

    Args:
        evidence: of one branch.
        score: (B, N).
        selection: the top-K, by which patches are ordered and outlined; nothing is dropped.
        soft: (B, N) p, each row summing to 1.
        asked: aggregated tokens that the ratios ask for.
    """
    order = torch.cat([selection.keep, selection.drop], dim=1)
    tokens = gather_tokens(evidence.patches, order)
    logits, weights = evidence.branches[0].logits, None
    if logits is None:
        aggregated = tokens * soft.gather(1, order).unsqueeze(-1)
    else:
        weights = add_soft_choice(logits[:, :asked], soft).softmax(dim=-1)  # (B, N_c, N)
        weights = weights.gather(2, order.unsqueeze(1).expand(-1, weights.shape[1], -1))
        aggregated = weights @ tokens
    return Trace.of(
        evidence,
        score=score,
        order=order,
        counts=torch.full((len(score),), selection.keep.shape[1]),
        mask=selection.mask.bool(),
        decision=soft,
        selected=tokens,
        extra_weights=torch.zeros_like(selection.extra_weights),
        aggregation_weights=weights,
        aggregated=aggregated,
        tokens=aggregated,
        pooled=aggregated.mean(dim=1),
        rows_asked=asked,
        weights=soft,
    )
