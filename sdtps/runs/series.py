"""A run's curves: what was recorded, and what follows from the watched maps."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sdtps.algorithm.scoring import NORM_EPS
from sdtps.metrics.overlap import overlap
from sdtps.runs.reader import read_maps
from sdtps.runs.schema import GRADIENT, MAPS, ROUTES, Run, Values, Watched
from sdtps.runs.taps import SATURATED
from sdtps.support.errors import InputError
from sdtps.types import MODALITIES
from sdtps.variants import DEFAULT_VARIANT, VARIANTS

SCORES = ("loss", "loss_ori", "loss_sdtps", "ori", "sdtps", "acc", "acc_ori", "acc_sdtps", "mAP", "mAP_ori",
          "mAP_sdtps", "mAP_moe", "rank1", "lr")  # fmt: skip


@dataclass(frozen=True)
class Series:
    """One curve: `values` at `epochs`; `log` asks for a logarithmic axis."""

    name: str
    epochs: Values
    values: Values
    log: bool = False


@dataclass(frozen=True)
class Settling:
    """How the selection settles, by epoch with maps (E,); means over image sets and modalities.

    Attributes:
        epochs: numbers of the epochs.
        drift: Jaccard index with the epoch before, corrected for chance: 1 is the same set; NaN for the first.
        since_first: the same with the first epoch.
        saturation: share of the predictor's values within 0.01 of 0 or 1.
        effective_kept: effective number of kept patches that the soft decision at tau 1 spreads over; K at most.
        effective_aggregated: effective number of patches that the aggregated tokens are made of.
    """

    epochs: Values
    drift: Values
    since_first: Values
    saturation: Values
    effective_kept: Values
    effective_aggregated: Values

    def series(self) -> list[Series]:
        """Its curves, without those that have no number."""
        names = ("drift", "since_first", "saturation", "effective_kept", "effective_aggregated")
        found = [Series(name, self.epochs, getattr(self, name)) for name in names]
        return [s for s in found if np.isfinite(s.values).any()]


def curves(run: Run) -> list[Series]:
    """Every curve of a run by epoch."""
    found = []
    for name in SCORES:
        epochs, values = run.by_epoch(name)
        if len(values):
            found.append(Series(name, epochs, values))
    for name, (epochs, values) in (("accuracy", accuracy(run)), ("loss_heads", head_losses(run))):
        if len(values):
            found.append(Series(name, epochs, values))
    for route in ROUTES:
        epochs, values = gradient_by_epoch(run, route)
        if len(values):
            found.append(Series(GRADIENT + route, epochs, values, log=True))
    return found + (settling(run).series() if run.watched_epochs and run.probes else [])


def accuracy(run: Run) -> tuple[Values, Values]:
    """Epochs and the accuracy of the selection's head, or of `ori` where the selection is not in the loss."""
    trained = (run.settings.get("heads") or {}).get("sdtps", 1.0)
    names = ("acc_sdtps", "acc", "acc_ori") if trained else ("acc_ori", "acc")
    return next((found for name in names if len((found := run.by_epoch(name))[1])), (np.empty(0), np.empty(0)))


def head_losses(run: Run) -> tuple[Values, Values]:
    """Epochs and the losses of both heads added, whether they count or not, so that all runs can be compared."""
    by_head = [[run.by_epoch(name) for name in names] for names in (("loss_ori", "ori"), ("loss_sdtps", "sdtps"))]
    (epochs, ori), (_, selected) = (first if len(first[1]) else second for first, second in by_head)
    return (epochs, ori + selected) if len(ori) == len(selected) else (np.empty(0), np.empty(0))


def gradient_by_epoch(run: Run, route: str) -> tuple[Values, Values]:
    """Epochs and the median gradient norm of a route in each: one wild step must not speak for an epoch."""
    values, of = run.scalar(GRADIENT + route), run.scalar("epoch")
    if not len(values) or np.isnan(values).all():
        return np.empty(0), np.empty(0)
    numbers = np.unique(of)
    return numbers, np.array([float(np.median(values[of == n])) for n in numbers])


def settling(run: Run) -> Settling:
    """How the selection settles on the watched image sets."""
    assert run.folder is not None
    variant = VARIANTS.get(str(run.settings.get("variant", DEFAULT_VARIANT)))
    beta = float(run.settings.get("beta", 0.25)) if variant is None or variant.selector == "sdtps" else None
    written = tuple((run.folder / MAPS / f"{e:06d}.npz").stat().st_mtime_ns for e in run.watched_epochs)
    return _settling(run.folder, run.watched_epochs, written, len(run.probes), beta)


@lru_cache(maxsize=64)
def _settling(
    folder: Path, epochs: tuple[int, ...], _written: tuple[int, ...], probes: int, beta: float | None
) -> Settling:
    read: dict[int, list[Watched]] = {}
    for e in epochs:
        with suppress(InputError):  # maps that are damaged are no reason to lose the others
            read[e] = [w for p in range(probes) for w in _ordered(read_maps(folder, e, p))]
    maps = list(read.values())
    nothing = [float("nan")]
    return Settling(
        np.array(list(read), float),
        np.array(nothing[: len(maps)] + [_agreement(a, b) for a, b in pairwise(maps)]),
        np.array(nothing[: len(maps)] + [_agreement(maps[0], now) for now in maps[1:]]),
        np.array([_mean(saturation(w) for w in now) for now in maps]),
        np.array([_mean(_effective_kept(w, beta) for w in now) for now in maps]),
        np.array([_mean(_effective_aggregated(w) for w in now) for now in maps]),
    )


def _ordered(found: dict[str, Watched]) -> list[Watched]:
    return [found[m] for m in MODALITIES]


def _agreement(a: list[Watched], b: list[Watched]) -> float:
    return _mean(kept_overlap(x.kept, y.kept) for x, y in zip(a, b, strict=True))


def kept_overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> float:
    """Jaccard index of two kept sets, corrected for chance."""
    return overlap(np.flatnonzero(a), np.flatnonzero(b), len(a)).corrected


def saturation(watched: Watched) -> float:
    """Share of the predictor's values that are nearly 0 or 1."""
    p = watched.predictor
    return float("nan") if p is None else float(((p < SATURATED) | (p > 1 - SATURATED)).mean())


def score_of(watched: Watched, beta: float) -> Values:
    """(N,) the fused score, equation 3."""
    self_norm, *cross = (_norm(v) for v in (watched.raw_self, *watched.raw_cross))
    attention: Values = beta * (2 * self_norm + sum(cross))
    return attention if watched.predictor is None else (1 - 2 * beta) * watched.predictor + attention


def _norm(values: NDArray[np.float32]) -> Values:
    wide = values.astype(np.float64)
    scaled: Values = (wide - wide.min()) / (wide.max() - wide.min() + NORM_EPS)
    return scaled


def _effective_kept(watched: Watched, beta: float | None) -> float:
    """How many of the kept patches the soft decision at tau 1 spreads over; K when their scores are alike."""
    if beta is None:
        return float("nan")  # another selector has another score
    score = score_of(watched, beta)[watched.kept]
    return _effective(np.exp(score - score.max()))


def _effective_aggregated(watched: Watched) -> float:
    return float("nan") if watched.aggregation is None else _effective(watched.aggregation)


def _effective(weights: NDArray[np.floating]) -> float:
    wide = weights.astype(np.float64)
    square = float((wide**2).sum())
    return float(wide.sum() ** 2 / square) if square > 0 else float("nan")


def _mean(values: Iterable[float]) -> float:
    finite = [v for v in values if np.isfinite(v)]
    return float(np.mean(finite)) if finite else float("nan")
