"""What is left of the feature when patches are truly removed, and whether the score's order beats a random one.

*Removal.* The SDTPS stage is run again on the remaining tokens alone, as if the backbone had given no others: it keeps
all of them (the selection is what is being judged, so it must not select once more), makes as many aggregated tokens as
the settings ask for, and the extra token is zero. Nothing is blackened or averaged over; a removed token is not there.
The backbone does not run again, so a token keeps what attention mixed into it: this judges the selection of tokens, not
the receptive field behind them. Scores stay those of the whole picture (they matter to `importance` alone).
Soft SDTPS removes nothing in its own run, so here the weights of the absent patches are set to 0 and the others keep
theirs. In Signal's SIM absent patches are zero rows that remain keys, as in its own run.

*Feature.* f(S) is the modality's pooled vector, the only part of the test feature that its patches change here.

*Target.* What f(S) is compared with, by cosine. `whole` is f(all patches): no selection took part in making it, so a
random order has no handicap. `person`, where a mask is known, is f(the person's patches): what the selection is meant
to hold on to. A background patch helps towards the first and harms the second, and a random handful of patches is a
fair sample of the first, so that insertion towards `whole` is hard to win; deletion has no such catch.

*Curves.* Insertion: f of the n best-scored patches for growing n. Deletion: f of what is left after the n best are
gone. With nothing left the cosine counts as 0. The area is the mean height over the share n / N (trapezoids). Random
orders are uniform permutations; read from its end one is again uniform, so the same orders serve both bands.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sdtps.types import BoolArray, IntArray

NAN = float("nan")
BAND = (0.025, 0.975)  # of the random orders
POINTS = 33  # at most so many set sizes on a curve, besides 0 and K
Values = NDArray[np.float64]
Pooled = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Curve:
    """One curve against random orders. P points.

    Attributes:
        share: (P,) n / N, from 0 to 1.
        cosine: (P,) of the score's order.
        low, middle, high: (P,) 2.5 %, 50 % and 97.5 % quantile of the random orders at each point.
        area: mean height of the score's order.
        area_low, area_high: 2.5 % and 97.5 % quantile of the random orders' areas: the band of chance.
        percentile: share of random orders whose area is smaller, equal ones counting half.
    """

    share: Values
    cosine: Values
    low: Values
    middle: Values
    high: Values
    area: float
    area_low: float
    area_high: float
    percentile: float

    @property
    def above(self) -> bool:
        """Whether the area lies above the band of chance."""
        return self.area > self.area_high

    @property
    def below(self) -> bool:
        """Whether the area lies below the band of chance."""
        return self.area < self.area_low

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return asdict(self) | {"above": self.above, "below": self.below}


@dataclass(frozen=True)
class Retained:
    """Cosine with the target when only one set of patches is left.

    Attributes:
        kept: only the kept patches; `kept_percentile` is the share of random sets of the same size that do worse.
        dropped: only the dropped patches, NaN when nothing is dropped; `dropped_percentile` likewise.
    """

    kept: float
    kept_percentile: float
    dropped: float
    dropped_percentile: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Removal:
    """Insertion and deletion towards one target."""

    insertion: Curve
    deletion: Curve
    retained: Retained

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return {name: getattr(self, name).as_dict() for name in ("insertion", "deletion", "retained")}


def random_orders(patches: int, count: int, seed: int) -> IntArray:
    """(R, N) independent uniform permutations."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(patches) for _ in range(count)])


def set_sizes(patches: int, *include: int) -> IntArray:
    """The set sizes of a curve: 1 to N in even steps, and those that must be among them."""
    even = np.linspace(1, patches, min(POINTS, patches)).round().astype(np.int64)
    return np.unique(np.concatenate([even, [n for n in include if 1 <= n <= patches]]).astype(np.int64))


def measure_removal(
    pooled: Pooled,
    order: IntArray,
    kept: int,
    randoms: IntArray,
    person: BoolArray | None = None,
    progress: Callable[[], None] | None = None,
) -> dict[str, Removal]:
    """Insertion and deletion of one modality, towards each target that is known.

    Args:
        pooled: (R, n) patch sets to the (R, C) vectors that the selector makes of each of them alone.
        order: (N,) patches in descending score.
        kept: K.
        randoms: (R, N) random orders.
        person: (N,) True on the person's patches, where a mask is known.
        progress: called before each of the `len(set_sizes(N, K, N - K))` steps; may raise to stop.

    Returns:
        `whole`, and `person` when the mask marks at least one patch.
    """
    n = len(order)
    targets = {"whole": _feature(pooled, np.arange(n)[None])}
    if person is not None and person.any():
        targets["person"] = _feature(pooled, np.flatnonzero(person)[None])
    # Row 0 builds the insertion curve, row 1 (the worst first) is what deletion leaves, the others are chance.
    orders = np.concatenate([order[None], order[None, ::-1], randoms])
    sizes = set_sizes(n, kept, n - kept)
    cosines: dict[str, list[Values]] = {name: [np.zeros(len(orders))] for name in targets}
    for size in sizes:
        if progress is not None:
            progress()
        features = _feature(pooled, orders[:, :size])
        for name, target in targets.items():
            cosines[name].append(cosine_rows(features, target))
    sizes = np.concatenate([[0], sizes])
    return {name: _removal(np.stack(rows, axis=1), sizes, n, kept) for name, rows in cosines.items()}


def cosine_rows(features: Tensor, target: Tensor) -> Values:
    """(B,) cosine of each row of (B, C) with (1, C), in float64; NaN where a vector is zero."""
    a, b = features.double(), target.double()
    lengths = a.norm(dim=-1) * b.norm(dim=-1)
    cosine = torch.where(lengths > 0, (a * b).sum(-1) / lengths, torch.nan)
    rows: Values = cosine.clamp(-1.0, 1.0).numpy()
    return rows


def compare_curve(share: Values, cosine: Values, randoms: Values) -> Curve:
    """A curve (P,) against random ones (R, P) at the same shares (P,)."""
    low, middle, high = np.quantile(randoms, [BAND[0], 0.5, BAND[1]], axis=0)
    areas: Values = np.asarray(np.trapezoid(randoms, share, axis=1))
    area = float(np.trapezoid(cosine, share))
    area_low, area_high = (float(q) for q in np.quantile(areas, BAND))
    return Curve(share, cosine, low, middle, high, area, area_low, area_high, percentile(area, areas))


def percentile(value: float, chance: Values) -> float:
    """Share of `chance` below the value, equal ones counting half; NaN when either is not a number."""
    if np.isnan(value) or np.isnan(chance).any():
        return NAN
    return float((chance < value).mean() + 0.5 * (chance == value).mean())


def _removal(cosines: Values, sizes: IntArray, n: int, kept: int) -> Removal:
    """Rows of (2 + R, P) cosines: insertion, what deletion leaves, chance; columns follow `sizes`."""
    insertion, left, randoms = cosines[0], cosines[1], cosines[2:]
    share = sizes / n
    at = {int(size): i for i, size in enumerate(sizes)}
    has_dropped = kept < n
    dropped = float(left[at[n - kept]]) if has_dropped else NAN
    return Removal(
        compare_curve(share, insertion, randoms),
        # What is left of n when m are gone: the curve over m runs backwards through the sizes.
        compare_curve(1.0 - share[::-1], left[::-1], randoms[:, ::-1]),
        Retained(
            kept=float(insertion[at[kept]]),
            kept_percentile=percentile(float(insertion[at[kept]]), randoms[:, at[kept]]),
            dropped=dropped,
            dropped_percentile=percentile(dropped, randoms[:, at[n - kept]]) if has_dropped else NAN,
        ),
    )


def _feature(pooled: Pooled, keep: IntArray) -> Tensor:
    """(B, C) f of each row of (B, n) patch sets."""
    return pooled(torch.from_numpy(np.ascontiguousarray(keep)))
