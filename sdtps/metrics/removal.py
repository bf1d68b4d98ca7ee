"""What is left of the feature when patches are truly removed, and whether the score's order beats a random one.

*Removal.* The SDTPS stage is run again on the remaining tokens alone, as if the backbone had given no others: it keeps
all of them (the selection is what is being judged, so it must not select once more), makes as many aggregated tokens as
the settings ask for, and the extra token is zero. Nothing is blackened or averaged over; a removed token is not there.
The backbone does not run again, so a token keeps what attention mixed into it: this judges the selection of tokens, not
the receptive field behind them. Scores stay those of the whole picture (they matter to `importance` alone).
Soft SDTPS removes nothing in its own run, so here the weights of the absent patches are set to 0 and the others keep
theirs. In Signal's SIM absent patches are zero rows that remain keys, as in its own run.

*Feature.* f(S) is the modality's pooled vector: all that the selection hands on, and the only part of the test feature
that its patches change here. Channels that a model leaves out of recognising people (`left_out`) count here, too.

*Target.* What f(S) is compared with, by cosine. `whole` is f(all patches): no selection took part in making it, so a
random order has no handicap. `person`, where a mask is known, is f(the person's patches): what the selection is meant
to hold on to. A background patch helps towards the first and harms the second, and a random handful of patches is a
fair sample of the first, so that insertion towards `whole` is hard to win; deletion has no such catch.

*Curves.* Insertion: f of the n best-scored patches for growing n. Deletion: f of what is left after the n best are
gone. With nothing left the cosine counts as 0. The area is the mean height over the share n / N (trapezoids). Random
orders are uniform permutations; read from its end one is again uniform, so the same orders serve both bands.

*Baselines.* Chance: random orders. The centre prior: patches by their distance from the middle of the picture, nearest
first, since people stand there and any map with a bright middle looks clever.

*Verdict.* The lead is how much better the area is than that of a random order, in the good direction: the median over
the random orders, and the middle 95 %. The selection beats chance where that whole interval lies above 0.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sdtps.types import BoolArray, Grid, IntArray

NAN = float("nan")
BAND = (0.025, 0.975)  # of the random orders
POINTS = 33  # at most so many set sizes in even steps on a curve, besides 0 and K
FIRST = (1, 2, 3, 4, 6, 8)  # and these, because the first patches decide most
MOST_DIGITS = 8
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
        higher_is_better: the good direction: up for insertion, down for deletion.
        lead, lead_low, lead_high: how much better the area is than that of a random order: median, 2.5 % and 97.5 %
            quantile over the random orders; above 0 is good in both directions.
        centre: (P,) of the centre prior; empty where it was not measured.
        centre_area, centre_lead: its area, and how much better the score's order is; NaN where it was not measured.
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
    higher_is_better: bool
    lead: float
    lead_low: float
    lead_high: float
    centre: Values
    centre_area: float
    centre_lead: float

    @property
    def beats_chance(self) -> bool:
        """Whether the lead over random orders is above 0 as a whole."""
        return self.lead_low > 0

    @property
    def beats_centre(self) -> bool:
        """Whether the area is better than that of the centre prior."""
        return self.centre_lead > 0

    @property
    def digits(self) -> int:
        """Decimals that show on which side of 0 the lead is."""
        return digits_for(self.lead_low, self.lead_high, self.centre_lead)

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
        verdict = {name: getattr(self, name) for name in ("above", "below", "beats_chance", "beats_centre", "digits")}
        return asdict(self) | verdict


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


def centre_order(grid: Grid) -> IntArray:
    """(N,) patches by their distance from the middle of the picture, the first of equally near ones first."""
    rows, cols = np.divmod(np.arange(grid.patches), grid.cols)
    away = (2 * rows + 1 - grid.rows) ** 2 + (2 * cols + 1 - grid.cols) ** 2  # whole numbers: equal ones are equal
    return np.argsort(away, kind="stable")


def set_sizes(patches: int, *include: int) -> IntArray:
    """The set sizes of a curve: 1 to N in even steps, the first and the last few, and those that must be among them."""
    even = np.linspace(1, patches, min(POINTS, patches)).round().astype(np.int64)
    wanted = [*FIRST, *(patches - n for n in FIRST), *include]
    return np.unique(np.concatenate([even, [n for n in wanted if 1 <= n <= patches]]).astype(np.int64))


def digits_for(*values: float) -> int:
    """Decimals, three at least, with which each value that is not 0 shows two digits of its own."""
    sizes = [abs(v) for v in values if v and np.isfinite(v)]
    need = max((int(np.ceil(-np.log10(size))) + 1 for size in sizes), default=3)
    return min(MOST_DIGITS, max(3, need))


def measure_removal(
    pooled: Pooled,
    order: IntArray,
    kept: int,
    randoms: IntArray,
    person: BoolArray | None = None,
    progress: Callable[[], None] | None = None,
    *,
    centre: IntArray | None = None,
) -> dict[str, Removal]:
    """Insertion and deletion of one modality, towards each target that is known.

    Args:
        pooled: (R, n) patch sets to the (R, C) vectors that the selector makes of each of them alone.
        order: (N,) patches in descending score.
        kept: K.
        randoms: (R, N) random orders.
        person: (N,) True on the person's patches, where a mask is known.
        progress: called before each of the `len(set_sizes(N, K, N - K))` steps; may raise to stop.
        centre: (N,) the centre prior's order, where it is a baseline, too.

    Returns:
        `whole`, and `person` when the mask marks at least one patch.
    """
    n = len(order)
    targets = {"whole": _feature(pooled, np.arange(n)[None])}
    if person is not None and person.any():
        targets["person"] = _feature(pooled, np.flatnonzero(person)[None])
    # An order builds the insertion curve; read from its end it is what deletion leaves. The others are chance.
    judged = [order] if centre is None else [order, centre]
    orders = np.concatenate([*(o[None, ::step] for o in judged for step in (1, -1)), randoms])
    sizes = set_sizes(n, kept, n - kept)
    cosines: dict[str, list[Values]] = {name: [np.zeros(len(orders))] for name in targets}
    for size in sizes:
        if progress is not None:
            progress()
        features = _feature(pooled, orders[:, :size])
        for name, target in targets.items():
            cosines[name].append(cosine_rows(features, target))
    sizes = np.concatenate([[0], sizes])
    return {name: _removal(np.stack(rows, axis=1), sizes, n, kept, len(judged)) for name, rows in cosines.items()}


def cosine_rows(features: Tensor, target: Tensor) -> Values:
    """(B,) cosine of each row of (B, C) with (1, C), in float64; NaN where a vector is zero."""
    a, b = features.double(), target.double()
    lengths = a.norm(dim=-1) * b.norm(dim=-1)
    cosine = torch.where(lengths > 0, (a * b).sum(-1) / lengths, torch.nan)
    rows: Values = cosine.clamp(-1.0, 1.0).numpy()
    return rows


def compare_curve(
    share: Values, cosine: Values, randoms: Values, centre: Values | None = None, *, higher_is_better: bool = True
) -> Curve:
    """A curve (P,) against random ones (R, P), and against the centre prior's (P,), at the same shares (P,)."""
    low, middle, high = np.quantile(randoms, [BAND[0], 0.5, BAND[1]], axis=0)
    areas: Values = np.asarray(np.trapezoid(randoms, share, axis=1))
    area = float(np.trapezoid(cosine, share))
    area_low, area_middle, area_high = (float(q) for q in np.quantile(areas, [BAND[0], 0.5, BAND[1]]))
    centre_area = NAN if centre is None else float(np.trapezoid(centre, share))
    sign = 1 if higher_is_better else -1
    leads = sorted((sign * (area - area_low), sign * (area - area_high)))
    return Curve(
        share=share,
        cosine=cosine,
        low=low,
        middle=middle,
        high=high,
        area=area,
        area_low=area_low,
        area_high=area_high,
        percentile=percentile(area, areas),
        higher_is_better=higher_is_better,
        lead=sign * (area - area_middle),
        lead_low=leads[0],
        lead_high=leads[1],
        centre=np.zeros(0) if centre is None else centre,
        centre_area=centre_area,
        centre_lead=sign * (area - centre_area),
    )


def percentile(value: float, chance: Values) -> float:
    """Share of `chance` below the value, equal ones counting half; NaN when either is not a number."""
    if np.isnan(value) or np.isnan(chance).any():
        return NAN
    return float((chance < value).mean() + 0.5 * (chance == value).mean())


def _removal(cosines: Values, sizes: IntArray, n: int, kept: int, judged: int) -> Removal:
    """Rows of cosines: per judged order insertion and what deletion leaves, then chance; columns follow `sizes`."""
    insertion, left, randoms = cosines[0], cosines[1], cosines[2 * judged :]
    centre, centre_left = (cosines[2], cosines[3]) if judged > 1 else (None, None)
    share = sizes / n
    at = {int(size): i for i, size in enumerate(sizes)}
    has_dropped = kept < n
    dropped = float(left[at[n - kept]]) if has_dropped else NAN
    return Removal(
        compare_curve(share, insertion, randoms, centre),
        # What is left of n when m are gone: the curve over m runs backwards through the sizes.
        compare_curve(
            1.0 - share[::-1],
            left[::-1],
            randoms[:, ::-1],
            None if centre_left is None else centre_left[::-1],
            higher_is_better=False,
        ),
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
