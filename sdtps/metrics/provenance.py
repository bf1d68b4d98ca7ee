"""Why a patch was kept or dropped, and where an aggregated token comes from."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sdtps.algorithm.scoring import ScoreWeights, fuse
from sdtps.algorithm.selection import kept_count
from sdtps.panels import SLIDERS
from sdtps.types import MODALITIES, Analysis, BoolArray, FloatArray, Modality, ModalityTrace, Settings
from sdtps.variants import Score, get_variant

NAN = float("nan")
OUTLIER_LIMIT = 3.5  # modified z-score above which a norm counts as an outlier
MAD_TO_SIGMA = 1.4826  # median absolute deviation to standard deviation of a normal distribution
FLIP_STEPS = {name: np.array(SLIDERS[name].stops()) for name in ("sparse_ratio", "beta")}  # what moves the kept set


@dataclass(frozen=True)
class Part:
    """One term of a patch's score.

    Attributes:
        name: `predictor`, `self`, or the other modality whose global vector a cross term compares with.
        value: what enters the score: min-max normalised, or the plain cosine in the variant that sums cosines.
        weight: its weight in the score.
        share: value * weight; the shares of all parts add up to the score.
        raw: the cosine before normalisation; None for the predictor.
        from_missing: whether it compares with a modality that was not given.
    """

    name: str
    value: float
    weight: float
    share: float
    raw: float | None
    from_missing: bool


@dataclass(frozen=True)
class PatchProvenance:
    """One patch of one modality: why it was kept or dropped.

    Attributes:
        modality, patch, row, col: which patch; all counted from 0.
        kept: whether it is among the K best.
        score: its fused score.
        parts: the terms that add up to it.
        rank: its place in the score order, 0 for the best.
        kept_count: K.
        margin: kept: score minus the best dropped score; dropped: score minus the worst kept one. How far it is inside
            (positive) or outside (negative) of the selection; NaN when nothing is dropped.
        flips: per slider, the nearest stop of that slider (steps of 0.01, all else as it is) at which the patch
            changes sides; None where no stop does. Only `sparse_ratio` and `beta` can move the kept set.
        kept_in: for each modality, whether it keeps the patch at this place; None for a missing modality.
        tokens: (N_c,) its weight in each aggregated token, both branches added; zeros when dropped; None without an
            aggregation network.
        token_total: their sum; NaN without an aggregation network.
        extra_weight: its weight in the extra token; 0 when kept.
        norm, norm_z: L2 norm of its token, and its modified z-score (see `norm_scores`).
        norm_outlier: whether that z-score exceeds 3.5: a high-norm artefact token.
        weight: its weight in a soft mask, which drops nothing; None for a hard choice.
        group: why it is kept, see `ModalityTrace.groups`; None where the selector does not say.
        maps: its value in each map that the selector names besides.
    """

    modality: str
    patch: int
    row: int
    col: int
    kept: bool
    score: float
    parts: tuple[Part, ...]
    rank: int
    kept_count: int
    margin: float
    flips: dict[str, float | None]
    kept_in: dict[str, bool | None]
    tokens: FloatArray | None
    token_total: float
    extra_weight: float
    norm: float
    norm_z: float
    norm_outlier: bool
    weight: float | None = None
    group: int | None = None
    maps: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return asdict(self)


@dataclass(frozen=True)
class TokenProvenance:
    """One aggregated token of one modality: the patches it draws from.

    Attributes:
        modality, token: which token, counted from 0.
        weights: (N,) weight of each patch, both branches added; 0 for dropped patches.
        sources: patches in descending weight, those without weight left out.
        effective: effective number of patches (see `effective_number`).
    """

    modality: str
    token: int
    weights: FloatArray
    sources: NDArray[np.int64]
    effective: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return asdict(self)


def patch_provenance(analysis: Analysis, modality: str, patch: int) -> PatchProvenance:
    """Everything that decided about one patch.

    Args:
        analysis: the numbers.
        modality: `rgb`, `nir` or `tir`.
        patch: index, row by row.
    """
    if not 0 <= patch < analysis.grid.patches:
        raise ValueError(f"There is no patch {patch}; the grid has {analysis.grid.patches}, counted from 0.")
    trace = analysis[modality]
    row, col = analysis.grid.row_col(patch)
    matrix = trace.aggregation_by_patch
    tokens = None if matrix is None else matrix[:, patch].copy()
    z = float(norm_scores(trace.token_norm)[patch])
    place = int(trace.rank[patch]) - trace.kept
    return PatchProvenance(
        modality=str(modality),
        patch=patch,
        row=row,
        col=col,
        kept=bool(trace.mask[patch]),
        score=float(trace.score[patch]),
        parts=score_parts(analysis, modality, patch),
        rank=int(trace.rank[patch]),
        kept_count=trace.kept,
        margin=cut_margins(trace)[patch].item(),
        flips={name: _flip(analysis.settings, trace, modality, patch, name) for name in FLIP_STEPS},
        kept_in={str(m): None if analysis[m].missing else bool(analysis[m].mask[patch]) for m in MODALITIES},
        tokens=tokens,
        token_total=NAN if tokens is None else float(tokens.sum()),
        extra_weight=float(trace.extra_weights[place]) if place >= 0 else 0.0,
        norm=float(trace.token_norm[patch]),
        norm_z=z,
        norm_outlier=z > OUTLIER_LIMIT,
        weight=None if trace.weights is None else float(trace.weights[patch]),
        group=None if trace.groups is None else int(trace.groups[patch]),
        maps={name: float(values[patch]) for name, values in trace.maps.items()},
    )


def token_provenance(analysis: Analysis, modality: str, token: int) -> TokenProvenance:
    """The patches behind one aggregated token; a ValueError where there is no such token."""
    matrix = analysis[modality].aggregation_by_patch
    if matrix is None or not 0 <= token < len(matrix):
        raise ValueError(f"There is no aggregated token {token}; there are {0 if matrix is None else len(matrix)}.")
    weights = matrix[token]
    order = np.argsort(-weights, kind="stable")
    return TokenProvenance(str(modality), token, weights, order[weights[order] > 0], effective_number(weights))


def score_parts(analysis: Analysis, modality: str, patch: int) -> tuple[Part, ...]:
    """The terms whose shares add up to the score: equation 3, the plain sum of cosines, or a selector's own mix."""
    trace = analysis[modality]
    variant = get_variant(analysis.settings.variant)
    if variant.selector != "sdtps":
        return _mixed_parts(analysis, modality, patch)
    cosines = variant.score is Score.COSINES
    weight = ScoreWeights(0.0, 1.0, 1.0) if cosines else ScoreWeights.fused(analysis.settings.beta)
    first = trace.raw_self_attention if cosines else trace.self_attention
    crosses = trace.raw_cross_attention if cosines else trace.cross_attention
    parts = []
    if trace.predictor is not None and not cosines:
        parts.append(_part("predictor", trace.predictor[patch], weight.predictor, None, False))
    parts.append(_part("self", first[patch], weight.self_attention, trace.raw_self_attention[patch], trace.missing))
    for other, values in crosses.items():
        raw = trace.raw_cross_attention[other][patch]
        parts.append(_part(other, values[patch], weight.cross_attention, raw, analysis[other].missing))
    return tuple(parts)


def _mixed_parts(analysis: Analysis, modality: str, patch: int) -> tuple[Part, ...]:
    """Self and cross attention by the mixing weights of a soft mask; empty where the score is no such sum."""
    trace = analysis[modality]
    mixing = trace.numbers.get("mixing")
    if mixing is None or len(mixing) != 1 + len(trace.cross_attention):
        return ()
    values = {"self": trace.self_attention, **trace.cross_attention}
    raws = {"self": trace.raw_self_attention, **trace.raw_cross_attention}
    return tuple(
        _part(
            name, values[name][patch], float(weight), raws[name][patch], analysis[name].missing if i else trace.missing
        )
        for i, (name, weight) in enumerate(zip(values, mixing, strict=True))
    )


def cut_margins(trace: ModalityTrace) -> NDArray[np.float64]:
    """(N,) how far each patch is inside (above 0) or outside of the kept set, in score.

    A kept patch is compared with the best dropped one, a dropped patch with the worst kept one; NaN when nothing is
    dropped, or when something else than the score decides. The smallest positive value is the margin at the cut. A soft
    mask has no cut; its margin is the distance from the score of weight one half.
    """
    if trace.soft and "threshold" in trace.numbers:
        return trace.score.astype(np.float64) - float(trace.numbers["threshold"])
    if trace.soft or trace.groups is not None or not len(trace.drop) or not len(trace.keep):
        return np.full(len(trace.score), NAN)
    best_dropped, worst_kept = (float(trace.score[i]) for i in (trace.drop[0], trace.keep[-1]))
    return trace.score.astype(np.float64) - np.where(trace.mask, best_dropped, worst_kept)


def effective_number(weights: NDArray[np.floating]) -> float:
    """(Σ w)² / Σ w² of non-negative weights: n for n equal ones, 1 for a single one; NaN when all are 0."""
    squares = float(np.square(weights, dtype=np.float64).sum())
    return float(weights.sum(dtype=np.float64)) ** 2 / squares if squares else NAN


def norm_scores(norms: NDArray[np.floating]) -> NDArray[np.float64]:
    """(N,) modified z-scores of token norms: (norm - median) / (1.4826 * median absolute deviation).

    Zeros when more than half of the norms are equal, since there is no spread to compare with.
    """
    centred = norms.astype(np.float64) - np.median(norms)
    spread = MAD_TO_SIGMA * np.median(np.abs(centred))
    scores: NDArray[np.float64] = centred / spread if spread > 0 else np.zeros(len(norms))
    return scores


def norm_outliers(trace: ModalityTrace) -> BoolArray:
    """(N,) patches whose token norm has a modified z-score above 3.5."""
    found: BoolArray = norm_scores(trace.token_norm) > OUTLIER_LIMIT
    return found


def rank_order(score: NDArray[np.floating]) -> NDArray[np.int64]:
    """Patches in descending score, lowest index first among ties, as the selection ranks them."""
    return np.argsort(-score, kind="stable")


def score_at(trace: ModalityTrace, modality: str, beta: float) -> FloatArray:
    """(N,) the fused score of equation 3 at another beta."""
    parts = (trace.self_attention, *(trace.cross_attention[o] for o in Modality(modality).others))
    self_norm, cross1, cross2 = (torch.tensor(p) for p in parts)
    predictor = torch.zeros_like(self_norm) if trace.predictor is None else torch.tensor(trace.predictor)
    score: FloatArray = fuse(predictor, self_norm, cross1, cross2, beta).numpy()
    return score


def _flip(settings: Settings, trace: ModalityTrace, modality: str, patch: int, name: str) -> float | None:
    """The nearest slider stop at which the patch changes sides, the lower one when two are equally near."""
    variant = get_variant(settings.variant)
    if name not in variant.reads or trace.soft or (variant.selector != "sdtps" and "mixing" not in trace.numbers):
        return None
    now = getattr(settings, name)
    for stop in sorted(FLIP_STEPS[name], key=lambda stop: (abs(stop - now), stop)):
        if _kept_at(trace, modality, patch, name, float(stop)) != bool(trace.mask[patch]):
            return float(stop)
    return None


def _kept_at(trace: ModalityTrace, modality: str, patch: int, name: str, value: float) -> bool:
    if name == "sparse_ratio":
        return bool(trace.rank[patch] < kept_count(len(trace.score), value))
    return bool(patch in rank_order(score_at(trace, modality, value))[: trace.kept])


def _part(name: str, value: float, weight: float, raw: float | None, from_missing: bool) -> Part:
    share = float(value) * weight
    return Part(name, float(value), weight, share, None if raw is None else float(raw), from_missing)
