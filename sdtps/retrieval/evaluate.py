"""A data set from disk to mAP and Rank-k by the reference protocol, also with modalities missing."""

from collections.abc import Callable, Sequence
from itertools import combinations

from sdtps.datasets import UNKNOWN, Apart, Dataset
from sdtps.retrieval.features import NOTHING, FolderFeatures, MapQuality, Missing, extract
from sdtps.retrieval.ranking import Retrieval, retrieval
from sdtps.types import MODALITIES

__all__ = [
    "MISSING_TABLE",
    "FolderFeatures",
    "MapQuality",
    "Retrieval",
    "evaluate",
    "evaluate_folder",
    "extract",
    "retrieval",
]

# r, n, t, rn, rt, nt: which modalities are missing.
MISSING_TABLE: dict[str, Missing] = {
    "".join(m[0] for m in left_out): frozenset(str(m) for m in left_out)
    for count in (1, 2)
    for left_out in combinations(MODALITIES, count)
}

# Features of a split for each set of missing modalities.
Features = Callable[[str, Sequence[Missing]], dict[Missing, FolderFeatures]]


def evaluate_folder(found: FolderFeatures, apart: Apart = Apart.CAMERA) -> Retrieval:
    """Every triplet is a query and the whole folder its gallery, as for RGBNT201."""
    return _compare(found, found, apart)


def evaluate(
    dataset: Dataset, features: Features, *, missing_table: bool = False
) -> tuple[dict[str, Retrieval], FolderFeatures]:
    """Retrieval with everything there (""), and per row of the missing-modality table; and the queries' features.

    Args:
        dataset: which splits are query and gallery, and what a match must not share.
        features: gives a split's features.
        missing_table: with r, n, t, rn, rt, nt; query and gallery lack the same modalities.
    """
    if all(r.pid == UNKNOWN for r in dataset.listing(dataset.query).records):
        raise ValueError("The file names do not tell identities; retrieval cannot be judged without them.")
    conditions = {"": NOTHING} | (MISSING_TABLE if missing_table else {})
    query = features(dataset.query, tuple(conditions.values()))
    same = dataset.gallery == dataset.query
    gallery = query if same else features(dataset.gallery, tuple(conditions.values()))
    apart = dataset.layout.apart
    return {name: _compare(query[m], gallery[m], apart) for name, m in conditions.items()}, query[NOTHING]


def _compare(query: FolderFeatures, gallery: FolderFeatures, apart: Apart) -> Retrieval:
    return retrieval(query.features, query.pid, query.apart(apart), gallery.features, gallery.pid, gallery.apart(apart))
