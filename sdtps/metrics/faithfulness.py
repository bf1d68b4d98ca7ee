"""The whole report on one triplet: does the selection hold on to what matters, and does it beat chance?"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sdtps.algorithm.selector import Selector
from sdtps.algorithm.trace import Evidence
from sdtps.images.foreground import precision, recall
from sdtps.metrics.overlap import Overlap, cross_modal_overlap
from sdtps.metrics.provenance import cut_margins, effective_number, norm_outliers
from sdtps.metrics.removal import Removal, measure_removal, random_orders, set_sizes
from sdtps.metrics.stability import Stability, disturbances, measure_stability
from sdtps.pipeline import OpenSet
from sdtps.support.progress import Progress
from sdtps.support.threads import one_thread
from sdtps.types import MODALITIES, Analysis, BoolArray, ModalityTrace, Settings
from sdtps.variants import get_variant

NAN = float("nan")
ORDERS = 200


@dataclass(frozen=True)
class SelectionFacts:
    """What the numbers of one modality say without removing anything.

    Attributes:
        kept, patches: K and N.
        margin: worst kept score minus best dropped score; NaN when nothing is dropped.
        margin_sigmas: the margin in standard deviations of the score over the patches; NaN for a constant score.
        effective_median, effective_min, effective_max: effective number of patches behind an aggregated token (see
            `provenance.effective_number`), over the N_c tokens; NaN without tokens.
        outliers, outliers_kept: patches with an outlier norm (see `provenance.norm_scores`), and how many are kept.
        precision, recall: share of the kept patches that are the person, and of the person's patches that are kept;
            NaN without a mask. Of a soft mask, `keep` is a guide: the heaviest patches at the sparse ratio.
        effective_patches: effective number of patches, by their weights; K for a hard choice.
        lightest, heaviest: range of a soft mask; NaN for a hard choice.
        leak: attention that dropped patches take in Signal's SIM; NaN elsewhere.
    """

    kept: int
    patches: int
    margin: float
    margin_sigmas: float
    effective_median: float
    effective_min: float
    effective_max: float
    outliers: int
    outliers_kept: int
    precision: float
    recall: float
    effective_patches: float = NAN
    lightest: float = NAN
    heaviest: float = NAN
    leak: float = NAN

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Faithfulness:
    """The report on one triplet at one set of settings.

    Attributes:
        settings: what it holds for.
        orders: number of random orders behind the bands.
        removal: modality → target → curves; missing modalities are left out. See `sdtps.metrics.removal`.
        facts: modality → facts; missing modalities are left out.
        overlap: pair of modalities → overlap of their kept sets.
        stability: overlap of the kept sets with those of disturbed pictures.
        weighed: nothing is removed in the selector's own run; weights of absent patches were set to 0 instead, and kept
            sets are the heaviest patches at the sparse ratio.
    """

    settings: Settings
    orders: int
    removal: Mapping[str, Mapping[str, Removal]]
    facts: Mapping[str, SelectionFacts]
    overlap: Mapping[str, Overlap]
    stability: Stability
    weighed: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return {
            "settings": self.settings.as_dict(),
            "orders": self.orders,
            "removal": {m: {t: r.as_dict() for t, r in row.items()} for m, row in self.removal.items()},
            "facts": {m: f.as_dict() for m, f in self.facts.items()},
            "overlap": {pair: o.as_dict() for pair, o in self.overlap.items()},
            "stability": self.stability.as_dict(),
            "weighed": self.weighed,
        }


def measure_faithfulness(
    opened: OpenSet,
    settings: Settings | None = None,
    *,
    person: BoolArray | None = None,
    orders: int = ORDERS,
    seed: int = 0,
    progress: Progress | None = None,
) -> Faithfulness:
    """Everything in `Faithfulness`, for one triplet.

    Args:
        opened: the image set.
        settings: ratios, beta and variant; those of the training by default.
        person: (N,) True on the person's patches, where a mask is known.
        orders: random orders behind each band.
        seed: of the random orders and the noise.
        progress: called with (done, total); may raise to stop.
    """
    settings = settings or opened.model.settings
    given = [m for m in MODALITIES if m not in opened.missing]
    analysis = opened.analyse(settings)
    evidence = opened.evidence(settings.variant)
    selector = opened.model.net.selector(get_variant(settings.variant))
    n, kept = analysis.grid.patches, {m: analysis[m].kept for m in given}
    steps = _Steps(progress, sum(len(set_sizes(n, k, n - k)) for k in kept.values()) + len(disturbances()))
    randoms = random_orders(n, orders, seed)
    removal = {}
    for m in given:
        order = np.concatenate([analysis[m].keep, analysis[m].drop])
        share = partial(pooled, selector, evidence, str(m), settings)
        with one_thread(), torch.inference_mode():
            removal[str(m)] = measure_removal(share, order, kept[m], randoms, person, steps)
    return Faithfulness(
        settings,
        orders,
        removal,
        selection_facts(analysis, person),
        cross_modal_overlap(analysis),
        measure_stability(opened, analysis, seed, steps),
        analysis[given[0]].soft,
    )


def pooled(
    selector: Selector, evidence: Mapping[str, Evidence], modality: str, settings: Settings, keep: Tensor
) -> Tensor:
    """(R, C) a modality's share of the feature when only the patches in each row of `keep` (R, n) take part."""
    return selector.feature_of(evidence, modality, keep, settings)


def selection_facts(analysis: Analysis, person: BoolArray | None = None) -> dict[str, SelectionFacts]:
    """The facts of every modality that was given."""
    return {str(m): _facts(analysis[m], person) for m in MODALITIES if not analysis[m].missing}


def _facts(trace: ModalityTrace, person: BoolArray | None) -> SelectionFacts:
    margin = float(cut_margins(trace)[trace.keep[-1]]) if len(trace.keep) else NAN
    spread = float(trace.score.std(dtype=np.float64))
    matrix = trace.aggregation_by_patch
    effective = np.array([effective_number(row) for row in matrix]) if matrix is not None and len(matrix) else [NAN]
    outliers = norm_outliers(trace)
    return SelectionFacts(
        kept=trace.kept,
        patches=len(trace.score),
        margin=margin,
        margin_sigmas=margin / spread if spread > 0 else NAN,
        effective_median=float(np.median(effective)),
        effective_min=float(np.min(effective)),
        effective_max=float(np.max(effective)),
        outliers=int(outliers.sum()),
        outliers_kept=int(outliers[trace.keep].sum()),
        precision=NAN if person is None or not len(trace.keep) else precision(person, trace.keep),
        recall=NAN if person is None else recall(person, trace.keep),
        effective_patches=trace.effective,
        lightest=NAN if trace.weights is None else float(trace.weights.min()),
        heaviest=NAN if trace.weights is None else float(trace.weights.max()),
        leak=float(trace.numbers["leak"]) if "leak" in trace.numbers else NAN,
    )


class _Steps:
    """Counts steps on their way to a progress function."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def __call__(self) -> None:
        if self.progress is not None:
            self.progress(self.done, self.total)
        self.done += 1
