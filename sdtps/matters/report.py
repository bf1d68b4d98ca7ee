"""Does the selection matter? The whole report on one data set."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.datasets import UNKNOWN, Apart, Dataset
from sdtps.matters.dead import Sign, dead_parts, vital_signs
from sdtps.matters.interval import Interval, identity_weights, interval, plain
from sdtps.matters.judged import METRICS, Labelled, judge
from sdtps.matters.measure import BATCH, Measured, labelled, measure
from sdtps.matters.replacements import Kind, Plan, Replacement
from sdtps.matters.verdict import COSINE, choosing, retained, verdict, what
from sdtps.models.reid import LoadedModel
from sdtps.retrieval.engine import LOCAL, Engine
from sdtps.retrieval.ranking import apart_labels
from sdtps.support.messages import Message, as_note
from sdtps.support.progress import Progress
from sdtps.types import Settings, WeightsReport
from sdtps.variants import get_variant

Values = NDArray[np.float64]
TINY = 1e-12


@dataclass(frozen=True)
class Row:
    """One way to choose, at one ratio.

    Attributes:
        name: `as it is`, `all`, `random`, ... or a variant's name.
        kind: of the replacement.
        sparse_ratio: of the settings.
        kept: patches that take part, the nearest whole number to their mean.
        draws: random draws that the numbers are the mean of; 1 elsewhere.
        scores: metric → its value with the 95 % interval.
        gain: metric → as it is at the same ratio minus this; for "as it is" at another ratio, the settings' own ratio
            minus this; empty for the row of the settings, and for all patches where only the cosine with them is known.
        says: one sentence on the gain; None for the row of the settings.
    """

    name: str
    kind: Kind
    sparse_ratio: float
    kept: int
    draws: int
    scores: Mapping[str, Interval]
    gain: Mapping[str, Interval] = field(default_factory=dict)
    says: Message | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = ("name", "sparse_ratio", "kept", "draws")
        return {n: getattr(self, n) for n in names} | {
            "kind": str(self.kind),
            "scores": plain(dict(self.scores)),
            "gain": plain(dict(self.gain)),
            "says": None if self.says is None else as_note(self.says),
        }


@dataclass(frozen=True)
class Matters:
    """The report.

    Attributes:
        settings: of "as it is".
        weights: report on the weights.
        data: what the data set is called.
        sets, queries: how many.
        identities: that intervals rest on, those of queries with a match; without labels every image set is one.
        labelled: identities are known, and mAP and Rank-k are judged; the retained cosine is told in any case.
        patches: N.
        rows: the table.
        signs: vital signs, beside an untrained selector's.
        dead: a sentence for each part that does nothing.
        feature_share, variance_share: how much of the feature's squared length, and of its variance over the data set,
            passes through the selection.
        moved: how far weights are from where they began, by part, see `vital.movement`.
        broken: image sets that could not be read.
    """

    settings: Settings
    weights: WeightsReport
    data: str
    sets: int
    queries: int
    identities: int
    labelled: bool
    patches: int
    rows: tuple[Row, ...]
    signs: tuple[Sign, ...]
    dead: tuple[Message, ...]
    feature_share: float
    variance_share: float
    moved: Mapping[str, float]
    broken: tuple[str, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is judged, the first being what verdicts are about."""
        return (*METRICS, COSINE) if self.labelled else (COSINE,)

    def as_dict(self) -> dict[str, Any]:
        """Plain values; no path of this machine is in it."""
        same = ("data", "sets", "queries", "identities", "labelled", "patches", "feature_share", "variance_share")
        return {name: getattr(self, name) for name in same} | {
            "settings": self.settings.as_dict(),
            "weights": {"name": self.weights.name, "sha256": self.weights.sha256},
            "metrics": list(self.metrics),
            "rows": [row.as_dict() for row in self.rows],
            "signs": [sign.as_dict() for sign in self.signs],
            "dead": [as_note(text) for text in self.dead],
            "moved": dict(self.moved),
            "broken": list(self.broken),
        }


def does_it_matter(
    model: LoadedModel,
    dataset: Dataset,
    plan: Plan,
    *,
    initial: LoadedModel | None = None,
    batch: int = BATCH,
    cache: str | None = None,
    engine: Engine = LOCAL,
    progress: Progress | None = None,
) -> Matters:
    """Measure, judge and say it.

    Args:
        model: loaded weights.
        dataset: the data set; its query and gallery splits are compared.
        plan: what is tried.
        initial: the same weights before they were trained, where they are known.
        batch, cache, engine, progress: see `measure`.
    """
    options: dict[str, Any] = {"batch": batch, "cache": cache, "engine": engine}
    splits = tuple(dict.fromkeys((dataset.query, dataset.gallery)))
    sizes = [len(dataset.listing(split).records) for split in splits]
    measured = []
    for i, split in enumerate(splits):
        told = None if progress is None else _onward(progress, sum(sizes[:i]), sum(sizes))
        measured.append(measure(model, dataset, split, plan, **options, progress=told))
    query, gallery = measured[0], measured[-1]
    known = labelled(dataset)
    tables = _Tables(query, gallery, dataset.layout.apart, known)
    own = next(i for i, one in enumerate(plan.replacements()) if one.kind is Kind.AS_IS)
    signs = vital_signs(query, model, initial)
    share, variance = _shares(query, own)
    rows = _rows(plan, tables, model.net.backbone.grid.patches)  # judges, and so counts queries and identities
    return Matters(
        settings=plan.settings,
        weights=model.weights,
        data=dataset.name,
        sets=sum(len(side.records) for side in measured),
        queries=tables.queries,
        identities=tables.identities,
        labelled=known,
        patches=model.net.backbone.grid.patches,
        rows=rows,
        signs=signs.rows,
        dead=dead_parts(signs, share, model),
        feature_share=share,
        variance_share=variance,
        moved=signs.moved,
        broken=tuple(b.name for side in measured for b in side.broken),
    )


def _onward(progress: Progress, before: int, total: int) -> Progress:
    """One bar over both splits."""
    return lambda done, _: progress(before + done, total)


class _Tables:
    """Every metric of every replacement under every draw of identities."""

    def __init__(self, query: Measured, gallery: Measured, apart: Apart, known: bool) -> None:
        self.query, self.gallery, self.apart, self.known = query, gallery, apart, known
        pid = np.array([r.pid for r in query.records], np.int64)
        # Without labels every image set stands for itself.
        pid = pid if known else np.arange(len(pid))
        other = np.array([r.pid for r in gallery.records], np.int64) if known else pid
        everyone = np.unique(np.concatenate([pid, other]))
        self.everyone = everyone[everyone != UNKNOWN] if known else everyone
        self.told = pid != UNKNOWN
        self.owner = np.searchsorted(self.everyone, pid[self.told])
        self.identities = len(np.unique(pid[self.told]))
        self.weights = identity_weights(len(self.everyone))
        self.queries = len(query.records)
        self.sets = np.bincount(self.owner, minlength=len(self.everyone)).astype(np.float64)
        self.counts = self.sets  # of the queries that have a match, as soon as they are judged

    def metrics(self, number: int, whole: int) -> dict[str, Values]:
        """(1 + B, I) each metric summed over the identities' queries; `whole` is the replacement that keeps all."""
        found: dict[str, Values] = {}
        if self.known:
            sides = [
                Labelled(side.features(number), _pids(side), apart_labels(side.records, self.apart))
                for side in (self.query, self.gallery)
            ]
            judged = judge(*sides)
            self.queries, self.counts = len(judged.query), judged.counts
            self.identities = int((judged.counts > 0).sum())
            assert np.array_equal(judged.identities, self.everyone)
            found = dict(zip(METRICS, judged.sums(self.weights).transpose(1, 0, 2), strict=True))
        cosine = _cosines(self.query.moved[number], self.query.moved[whole])[self.told]
        sums = np.bincount(self.owner, cosine, minlength=len(self.everyone))
        return found | {COSINE: np.broadcast_to(sums, self.weights.shape)}

    def interval(self, metric: str, sums: Values) -> Interval:
        """The interval of a metric, or of a difference of two."""
        return interval(sums, self.sets if metric == COSINE else self.counts, self.weights)


def _pids(side: Measured) -> NDArray[np.int64]:
    return np.array([r.pid for r in side.records], np.int64)


def _cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> Values:
    """(n,) cosine of the parts that the selection can change; 1 where there are none."""
    if not a.shape[1]:
        return np.ones(len(a))
    x, y = a.astype(np.float64), b.astype(np.float64)
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.einsum("nd,nd->n", x, y) / np.maximum(lengths, TINY)


def _shares(query: Measured, own: int) -> tuple[float, float]:
    """Shares of squared length and of variance that the selected parts have in the feature."""
    moved, still = query.moved[own].astype(np.float64), query.still.astype(np.float64)
    length = [(part**2).sum() for part in (moved, still)]
    spread = [((part - part.mean(0)) ** 2).sum() for part in (moved, still)]
    return tuple(float(a / max(a + b, TINY)) for a, b in (length, spread))  # type: ignore[return-value]


@dataclass(frozen=True)
class _Group:
    """The draws of one row: what they are, patches that take part in them, and their mean sums by metric."""

    one: Replacement
    draws: int
    kept: int
    sums: Mapping[str, Values]


def _rows(plan: Plan, tables: _Tables, patches: int) -> tuple[Row, ...]:
    replacements = plan.replacements()
    places: dict[tuple[str, float], list[int]] = {}
    for i, one in enumerate(replacements):
        places.setdefault(one.row, []).append(i)
    whole = next(i for i, one in enumerate(replacements) if one.kind is Kind.ALL)
    groups = {}
    for place, numbers in places.items():
        each = [tables.metrics(i, whole) for i in numbers]
        sums = {name: np.mean([one[name] for one in each], axis=0) for name in each[0]}
        kept = round(float(tables.query.kept[numbers[0]].mean()))
        groups[place] = _Group(replacements[numbers[0]], len(numbers), kept, sums)
    own = (str(Kind.AS_IS), plan.settings.sparse_ratio)
    rows = [_row(group, groups, own, tables, patches) for group in groups.values()]
    return tuple(sorted(rows, key=lambda row: (row.sparse_ratio != own[1], row.sparse_ratio, row.name != own[0])))


def _row(
    mine: _Group,
    groups: Mapping[tuple[str, float], _Group],
    own: tuple[str, float],
    tables: _Tables,
    patches: int,
) -> Row:
    one, kept = mine.one, mine.kept
    lowest = {COSINE: -1.0}
    scores = {name: tables.interval(name, sums).within(lowest.get(name, 0.0)) for name, sums in mine.sums.items()}
    row = Row(one.row[0], one.kind, one.sparse_ratio, kept, mine.draws, scores)
    if one.row == own:
        return row
    base = groups[own] if one.kind is Kind.AS_IS else groups[own[0], one.sparse_ratio]
    choice = choosing(base.kept, get_variant(base.one.variant).soft)
    if one.kind is Kind.ALL and not tables.known:  # the others are measured by it
        says = retained(tables.interval(COSINE, base.sums[COSINE]).within(-1.0), choice, patches)
        return replace(row, says=says)
    gain = {name: tables.interval(name, base.sums[name] - sums) for name, sums in mine.sums.items()}
    against = (
        Message("matters.what.fewer", "{k} chosen ones", k=kept)
        if one.kind is Kind.AS_IS
        else what(one.kind, kept, patches, one.variant)
    )
    metric = next(iter(gain))
    says = verdict(metric, gain[metric], against, choice, tables.identities, tables.known)
    return replace(row, gain=gain, says=says)
