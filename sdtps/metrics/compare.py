"""What changed between two analyses: kept sets, maps and features."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.metrics.overlap import Overlap, overlap
from sdtps.panels import maps_of
from sdtps.pipeline import OpenSet
from sdtps.support.errors import SettingsError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Analysis, FloatArray, IntArray, Modality, Settings
from sdtps.variants import VARIANTS, Score, get_variant

NAN = float("nan")


@dataclass(frozen=True)
class ModalityChange:
    """One modality of B against A.

    Attributes:
        entered: patches that B keeps and A does not, in B's score order.
        left: patches that A keeps and B does not, in A's score order.
        overlap: of the two kept sets.
        differences: map name → (N,) B minus A; a map that one of them lacks is left out.
        climbed: (N,) places that a patch rose in the score order from A to B; below 0 where it fell.
        pooled_cosine: cosine of its two shares of the feature; NaN when their lengths differ or one is zero.
    """

    entered: IntArray
    left: IntArray
    overlap: Overlap
    differences: Mapping[str, FloatArray]
    climbed: IntArray
    pooled_cosine: float


@dataclass(frozen=True)
class Comparison:
    """B against A.

    Attributes:
        modalities: per modality; empty when the grids differ, since patches then have no counterpart.
        same_grid: whether patches can be compared one by one.
        same_scale: whether the scores of A and B have the same bounds; where not, their difference is mostly that of
            the bounds, and the change of ranks says more.
        feature_cosine: cosine of the two test features: how much of A's feature B retains.
        sdtps_cosine: the same for the selector's own part, the three shares. Both NaN when lengths differ.
    """

    modalities: Mapping[str, ModalityChange]
    same_grid: bool
    same_scale: bool
    feature_cosine: float
    sdtps_cosine: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return asdict(self)


@dataclass(frozen=True)
class VariantResult:
    """One variant on a triplet, against the variant that the settings name.

    Attributes:
        name: of the variant.
        lacking: what the weights lack for it, as a sentence; None when it ran, and only then the rest is set.
        analysis: its numbers.
        change: against the analysis of the settings' own variant.
    """

    name: str
    lacking: Message | None
    analysis: Analysis | None = None
    change: Comparison | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays; the analysis is exported on its own."""
        return {
            "name": self.name,
            "lacking": self.lacking,
            "change": None if self.change is None else self.change.as_dict(),
        }


def compare(a: Analysis, b: Analysis) -> Comparison:
    """B against A; they may differ in anything: settings, variant, weights, a missing modality, the triplet."""
    same = a.grid == b.grid
    changes = {str(m): _change(a, b, m) for m in MODALITIES} if same else {}
    half = [np.concatenate([x.share(m) for m in MODALITIES]) for x in (a, b)]
    return Comparison(changes, same, _scale(a) == _scale(b), cosine(a.feature, b.feature), cosine(*half))


def across_variants(opened: OpenSet, settings: Settings) -> list[VariantResult]:
    """Every named variant on the same tokens and weights, each compared with the one that the settings name."""
    own = opened.analyse(settings)
    results = []
    for name in VARIANTS:
        try:
            analysis = opened.analyse(replace(settings, variant=name))
        except SettingsError as lacking:
            results.append(VariantResult(name, lacking.message))
            continue
        results.append(VariantResult(name, None, analysis, compare(own, analysis)))
    return results


def cosine(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    """Cosine of two vectors in float64; NaN when their lengths differ or one is zero."""
    if a.shape != b.shape:
        return NAN
    x, y = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(np.clip(x @ y / lengths, -1.0, 1.0)) if lengths else NAN


def _scale(analysis: Analysis) -> tuple[Any, ...]:
    """What bounds the score: the selector, its sum, the mixture where it has one, whether there is a predictor."""
    variant = get_variant(analysis.settings.variant)
    mixed = variant.selector == "sdtps" and variant.score is Score.FUSED
    beta = analysis.settings.beta if mixed else None
    return variant.selector, variant.score, beta, analysis[MODALITIES[0]].predictor is not None


def _change(before_it: Analysis, after_it: Analysis, modality: Modality) -> ModalityChange:
    a, b = before_it[modality], after_it[modality]
    before, after = maps_of(a, modality), maps_of(b, modality)
    pairs = ((name, before[name], after[name]) for name in before)
    return ModalityChange(
        entered=b.keep[~np.isin(b.keep, a.keep)],
        left=a.keep[~np.isin(a.keep, b.keep)],
        overlap=overlap(a.keep, b.keep, before_it.grid.patches),
        differences={name: y - x for name, x, y in pairs if x is not None and y is not None},
        climbed=a.rank - b.rank,
        pooled_cosine=cosine(before_it.share(modality), after_it.share(modality)),
    )
