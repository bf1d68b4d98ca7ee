"""How much two kept sets agree, and how much chance alone would give."""

from functools import lru_cache
from math import comb

from sdtps.types import BoolArray


def jaccard(a: BoolArray, b: BoolArray) -> float:
    """|A and B| / |A or B| of two (N,) masks; 1 when both are empty."""
    union = int((a | b).sum())
    return int((a & b).sum()) / union if union else 1.0


@lru_cache(maxsize=1024)
def chance_jaccard(patches: int, kept: int) -> float:
    """The mean Jaccard index of two independent random sets of K out of N patches, summed over what they share."""
    total = comb(patches, kept)
    shared = range(max(0, 2 * kept - patches), kept + 1)
    return sum(comb(kept, i) * comb(patches - kept, kept - i) / total * i / (2 * kept - i) for i in shared)
