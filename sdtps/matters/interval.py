"""How sure a difference is: 95 % intervals from a bootstrap over identities.

Pictures of one person resemble each other, so pictures are no independent samples; identities are. Each draw gives
every identity a whole number of copies, n in all, as a query and as a distractor (see `judged`). The interval is the
estimate ± t · standard deviation over the draws · sqrt(n / (n - 1)), with Student's t at n - 1 degrees of freedom: with
about 30 identities plain percentiles are too narrow. `scripts/interval_coverage.py` measures how often it holds.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 1000
LEVEL = 0.95
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean or a difference with its 95 % interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)

    def within(self, low: float, high: float = 1.0) -> "Interval":
        """Cut at the bounds of a quantity."""
        return Interval(self.value, max(self.low, low), min(self.high, high))

    def rounded(self, scale: float, digits: int) -> "Interval":
        """As it is shown: a verdict follows from these digits."""
        return Interval(*(round(v * scale, digits) + 0.0 for v in (self.value, self.low, self.high)))


def identity_weights(identities: int, draws: int = DRAWS, seed: int = 0) -> Values:
    """(1 + B, I): every identity once, then B draws with replacement."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(identities, np.full(identities, 1 / identities), size=draws)
    return np.concatenate([np.ones((1, identities)), drawn.astype(np.float64)])


def interval(values: Values, identities: int) -> Interval:
    """From what `identity_weights` makes of a statistic, (1 + B,), to its interval."""
    value, drawn = float(values[0]), values[1:]
    if identities < 2:
        return Interval(value, -math.inf, math.inf)
    widened = math.sqrt(identities / (identities - 1))
    half = student_t(LEVEL, identities - 1) * widened * float(drawn.std(ddof=1))
    return Interval(value, value - half, value + half)


def weighted_means(values: Values, owner: NDArray[np.int64], weights: Values) -> Values:
    """(n,) values of identities `owner` (n,) under weights (B, I): (B,) means."""
    sums = np.bincount(owner, values, minlength=weights.shape[1])
    counts = np.bincount(owner, minlength=weights.shape[1])
    means: Values = (weights @ sums) / (weights @ counts)
    return means


@lru_cache(maxsize=64)
def student_t(level: float, freedom: int) -> float:
    """The half-width of the middle `level` of Student's t distribution."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    return _bisect(lambda x: _half_area(x, freedom, scale) - level / 2, 0.0, 1e3)


def _half_area(x: float, freedom: int, scale: float) -> float:
    """The area from 0 to x; by the tangent of an angle, so that far tails need no more steps than near ones."""
    angle = np.linspace(0.0, math.atan(x / math.sqrt(freedom)), 2001)
    return float(np.trapezoid(np.cos(angle) ** (freedom - 1), angle)) * scale * math.sqrt(freedom)


def _bisect(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


def plain(intervals: dict[str, Interval]) -> dict[str, Any]:
    """Intervals by name as plain values."""
    return {name: one.as_dict() for name, one in intervals.items()}
