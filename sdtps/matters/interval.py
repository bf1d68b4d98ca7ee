"""How sure a difference is: 95 % intervals from a bootstrap over identities.

Pictures of one person resemble each other, so pictures are no independent samples; identities are. Each draw gives
every identity a whole number of copies, n in all, as a query and as a distractor (see `judged`).

The interval is a bootstrap-t with equal tails: each draw's distance from the estimate is measured in the draw's own
standard error, so that an estimate which comes with a small error by luck gets no narrow interval. Where more than a
hundredth of the draws has no error at all, because few identities differ or few are there, it is the estimate ±
Student's t at n - 1 degrees of freedom · standard deviation over the draws · sqrt(n / (n - 1)).
`scripts/interval_coverage.py` measures how often it holds.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DRAWS = 1000
LEVEL = 0.95
FEW = 6  # identities, below which Student's t is taken
DEGENERATE = 0.01  # share of draws without an error, above which it is, too
TINY = 1e-12
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A mean or a difference with its 95 % interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float | None]:
        """Plain values; None for an end that is not known, since JSON has no infinity."""
        return {name: value if math.isfinite(value) else None for name, value in asdict(self).items()}

    def within(self, low: float, high: float = 1.0) -> "Interval":
        """Cut at the bounds of a quantity."""
        return Interval(self.value, max(self.low, low), min(self.high, high))

    def rounded(self, scale: float, digits: int) -> "Interval":
        """As it is shown: a verdict follows from these digits."""
        return Interval(*(_rounded(v * scale, digits) for v in (self.value, self.low, self.high)))


def _rounded(value: float, digits: int) -> float:
    """Halves away from zero, as the page rounds them; no minus before a zero."""
    if not math.isfinite(value):
        return value
    return float(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)) + 0.0


def identity_weights(identities: int, draws: int = DRAWS, seed: int = 0) -> Values:
    """(1 + B, I): every identity once, then B draws with replacement."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(identities, np.full(identities, 1 / identities), size=draws)
    return np.concatenate([np.ones((1, identities)), drawn.astype(np.float64)])


def interval(sums: Values, counts: Values, weights: Values) -> Interval:
    """The 95 % interval of a mean over queries, or of a difference of two.

    Args:
        sums: (1 + B, I) the quantity summed over each identity's queries, in each draw.
        counts: (I,) queries of each identity.
        weights: (1 + B, I) of the identities, see `identity_weights`.
    """
    total = weights @ counts
    means = (weights * sums).sum(1) / np.maximum(total, TINY)
    identities = int((counts > 0).sum())
    value, drawn = float(means[0]), means[1:]
    if identities < 2:
        return Interval(value, -math.inf, math.inf)
    errors = np.sqrt((weights * (sums - means[:, None] * counts) ** 2).sum(1)) / np.maximum(total, TINY)
    if errors[0] <= TINY:  # the same for everybody
        return Interval(value, value, value)
    sound = errors[1:] > TINY
    if identities < FEW or float((~sound).mean()) > DEGENERATE:
        half = student_t(LEVEL, identities - 1) * math.sqrt(identities / (identities - 1)) * float(drawn.std(ddof=1))
        return Interval(value, value - half, value + half)
    away = (drawn[sound] - value) / errors[1:][sound]
    below, above = np.quantile(away, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) * errors[0]
    return Interval(value, value - float(above), value - float(below))


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
