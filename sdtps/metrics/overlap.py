"""How much two kept sets agree, raw and against chance. NumPy only.

The Jaccard index of two random sets is not 0: two random halves of the patches share a third of their union. So every
overlap comes with what chance would give, and corrected by it.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import combinations
from math import lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.types import MODALITIES, Analysis

NAN = float("nan")


@dataclass(frozen=True)
class Overlap:
    """The agreement of two sets of patches.

    Attributes:
        jaccard: |A ∩ B| / |A ∪ B|; 1 for equal sets, two empty ones included.
        chance: expected Jaccard index of two independent random sets of the same sizes (see `chance_jaccard`).
        corrected: (jaccard - chance) / (1 - chance): 1 for equal sets, 0 on average for random ones, below 0 for sets
            that avoid each other; NaN where chance is 1, because the sizes leave no choice.
        shared: |A ∩ B|.
    """

    jaccard: float
    chance: float
    corrected: float
    shared: int

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def overlap(a: Collection[int] | NDArray[np.int64], b: Collection[int] | NDArray[np.int64], patches: int) -> Overlap:
    """The overlap of two sets of patch indices out of `patches`."""
    first, second = ({int(i) for i in s} for s in (a, b))
    union = len(first | second)
    shared = len(first & second)
    raw = shared / union if union else 1.0
    chance = chance_jaccard(patches, len(first), len(second))
    corrected = (raw - chance) / (1.0 - chance) if chance < 1.0 - 1e-12 else NAN
    return Overlap(raw, chance, corrected, shared)


@lru_cache(maxsize=4096)
def chance_jaccard(patches: int, first: int, second: int) -> float:
    """E[J] of two independent, uniformly random sets of `first` and `second` out of `patches`, exactly.

    The shared number I is hypergeometric, and J = I / (first + second - I); the mean is summed over I, so that the
    corrected index of random sets is 0 on average. K / (2N - K), often quoted for equal sizes, is J at the mean of I.
    """
    if not first and not second:
        return 1.0
    low, high = max(0, first + second - patches), min(first, second)
    total = _log_choose(patches, second)
    return float(
        sum(
            np.exp(_log_choose(first, i) + _log_choose(patches - first, second - i) - total) * i / (first + second - i)
            for i in range(low, high + 1)
        )
    )


def cross_modal_overlap(analysis: Analysis) -> dict[str, Overlap]:
    """Overlap of the kept sets of each pair of modalities, keyed `rgb-nir`; a missing one has no pairs."""
    given = [m for m in MODALITIES if not analysis[m].missing]
    return {
        f"{a}-{b}": overlap(analysis[a].keep, analysis[b].keep, analysis.grid.patches)
        for a, b in combinations(given, 2)
    }


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
