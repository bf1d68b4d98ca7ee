"""Everything that can be said from an analysis alone, for export beside its arrays."""

from typing import Any

from sdtps.metrics.faithfulness import selection_facts
from sdtps.metrics.overlap import cross_modal_overlap
from sdtps.metrics.provenance import cut_margins, norm_outliers, norm_scores
from sdtps.types import MODALITIES, Analysis, BoolArray


def summary(analysis: Analysis, person: BoolArray | None = None) -> dict[str, Any]:
    """Plain values and arrays; nothing is run again.

    Args:
        analysis: the numbers.
        person: (N,) True on the person's patches, where a mask is known.

    Returns:
        `facts` per modality (see `SelectionFacts`), `overlap` per pair of modalities (see `Overlap`), and `patches`:
        per modality the (N,) arrays `rank` (0 for the best), `margin` (see `cut_margins`), `norm_z` and `norm_outlier`
        (see `norm_scores`).
    """
    return {
        "facts": {m: facts.as_dict() for m, facts in selection_facts(analysis, person).items()},
        "overlap": {pair: found.as_dict() for pair, found in cross_modal_overlap(analysis).items()},
        "patches": {
            str(m): {
                "rank": analysis[m].rank,
                "margin": cut_margins(analysis[m]),
                "norm_z": norm_scores(analysis[m].token_norm),
                "norm_outlier": norm_outliers(analysis[m]),
            }
            for m in MODALITIES
        },
    }
