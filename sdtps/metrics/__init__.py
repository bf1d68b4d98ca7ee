"""Numbers that say why a patch was kept, how good a selection is, and whether it beats chance.

Exact definitions stand in the docstrings of the modules: `foreground` (against a mask), `overlap` (sets against
chance), `provenance` (one patch, one token), `compare` (B against A, variants side by side), `sweep` (one slider),
`flatness` (maps without structure), `removal`, `stability` and `faithfulness` (does the selection hold on to the
feature), `gradients` (what reaches the scores), `summary` (what an analysis alone says). What cannot be said, such as
a margin when nothing is dropped, is NaN. Every result has `as_dict()`.
"""

from sdtps.images.foreground import auc, best_precision, correlation, precision, recall
from sdtps.metrics.compare import Comparison, VariantResult, across_variants, compare
from sdtps.metrics.faithfulness import Faithfulness, measure_faithfulness, selection_facts
from sdtps.metrics.gradients import Gradients, reference_gradients, triplet_gradients
from sdtps.metrics.overlap import Overlap, chance_jaccard, cross_modal_overlap, overlap
from sdtps.metrics.provenance import (
    PatchProvenance,
    TokenProvenance,
    effective_number,
    norm_scores,
    patch_provenance,
    token_provenance,
)
from sdtps.metrics.summary import summary
from sdtps.metrics.sweep import Sweep, sweep

__all__ = [
    "Comparison",
    "Faithfulness",
    "Gradients",
    "Overlap",
    "PatchProvenance",
    "Sweep",
    "TokenProvenance",
    "VariantResult",
    "across_variants",
    "auc",
    "best_precision",
    "chance_jaccard",
    "compare",
    "correlation",
    "cross_modal_overlap",
    "effective_number",
    "measure_faithfulness",
    "norm_scores",
    "overlap",
    "patch_provenance",
    "precision",
    "recall",
    "reference_gradients",
    "selection_facts",
    "summary",
    "sweep",
    "token_provenance",
    "triplet_gradients",
]
