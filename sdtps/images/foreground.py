"""How well a map or a kept set finds the positive patches (the person, where a mask is known). NumPy only."""

import numpy as np
from numpy.typing import NDArray


def auc(positive: NDArray[np.bool_], score: NDArray[np.floating]) -> float:
    """Area under the ROC curve: the chance that a positive patch scores above a negative one, ties counting half.

    NaN when one of the two kinds is absent.
    """
    n1, n0 = int(positive.sum()), int((~positive).sum())
    if not n1 or not n0:
        return float("nan")
    _, group, counts = np.unique(score, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank = (last - (counts - 1) / 2)[group]  # 1-based, shared among ties
    return float((mean_rank[positive].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def precision(positive: NDArray[np.bool_], keep: NDArray[np.int64]) -> float:
    """Share of the kept patches that are positive."""
    return float(positive[keep].mean())


def best_precision(positive: NDArray[np.bool_], kept: int) -> float:
    """The precision of a perfect ranking that keeps so many patches: below 1 where fewer are positive."""
    return min(int(positive.sum()), kept) / kept


def recall(positive: NDArray[np.bool_], keep: NDArray[np.int64]) -> float:
    """Share of the positive patches that are kept; NaN when there are none."""
    return float(positive[keep].sum() / positive.sum()) if positive.any() else float("nan")


def correlation(a: NDArray[np.floating], b: NDArray[np.floating]) -> float:
    """Pearson correlation of two maps; NaN when one is constant."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])
