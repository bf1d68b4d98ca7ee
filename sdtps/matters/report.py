"""Does the selection matter? The whole report on one data set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.algorithm.selection import kept_count
from sdtps.datasets import UNKNOWN, Apart, Dataset
from sdtps.matters.dead import Sign, dead_parts, vital_signs
from sdtps.matters.interval import Interval, identity_weights, interval, plain
from sdtps.matters.judged import METRICS, Labelled, judge
from sdtps.matters.measure import BATCH, Measured, labelled, measure
from sdtps.matters.replacements import Kind, Plan, Replacement
from sdtps.matters.verdict import COSINE, verdict, what
from sdtps.models.reid import LoadedModel
from sdtps.retrieval.engine import LOCAL, Engine
from sdtps.retrieval.ranking import apart_labels
from sdtps.support.messages import Message, as_note
from sdtps.support.progress import Progress
from sdtps.types import Settings, WeightsReport

Values = NDArray[np.float64]
TINY = 1e-12


@dataclass(frozen=True)
class Row:
    """One way to choose, at one ratio.

    Attributes:
        name: `as it is`, `all`, `random`, ... or a variant's name.
        kind: of the replacement.
        sparse_ratio, kept: share and number of patches that take part.
        draws: random draws that the numbers are the mean of; 1 elsewhere.
        scores: metric → its value with the 95 % interval.
        gain: metric → as it is at the same ratio minus this; for "as it is" at another ratio, the settings' own ratio
            minus this; empty for the row of the settings.
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
        sets, queries, identities: how many; without labels every image set counts as an identity.
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
    options: dict[str, Any] = {"batch": batch, "cache": cache, "engine": engine, "progress": progress}
    query = measure(model, dataset, dataset.query, plan, **options)
    gallery = query if dataset.gallery == dataset.query else measure(model, dataset, dataset.gallery, plan, **options)
    known = labelled(dataset)
    tables = _Tables(query, gallery, dataset.layout.apart, known)
    own = next(i for i, one in enumerate(plan.replacements()) if one.kind is Kind.AS_IS)
    signs = vital_signs(query, model, initial)
    share, variance = _shares(query, own)
    return Matters(
        settings=plan.settings,
        weights=model.weights,
        data=dataset.name,
        sets=len(query.records),
        queries=tables.queries,
        identities=tables.identities,
        labelled=known,
        patches=model.net.backbone.grid.patches,
        rows=_rows(plan, tables, model),
        signs=signs.rows,
        dead=dead_parts(signs, share, model),
        feature_share=share,
        variance_share=variance,
        moved=signs.moved,
        broken=tuple(b.name for b in query.broken),
    )


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


def _rows(plan: Plan, tables: _Tables, model: LoadedModel) -> tuple[Row, ...]:
    groups: dict[tuple[str, float], list[int]] = {}
    replacements = plan.replacements()
    for i, one in enumerate(replacements):
        groups.setdefault(one.row, []).append(i)
    whole = next(i for i, one in enumerate(replacements) if one.kind is Kind.ALL)
    means: dict[tuple[str, float], dict[str, Values]] = {}
    for place, numbers in groups.items():
        each = [tables.metrics(i, whole) for i in numbers]
        means[place] = {name: np.mean([one[name] for one in each], axis=0) for name in each[0]}
    own = (str(Kind.AS_IS), plan.settings.sparse_ratio)
    rows = [
        _row(replacements[numbers[0]], len(numbers), means, own, tables, model.net.backbone.grid.patches)
        for place, numbers in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (row.sparse_ratio != own[1], row.sparse_ratio, row.name != own[0])))


def _row(
    one: Replacement,
    draws: int,
    means: Mapping[tuple[str, float], Mapping[str, Values]],
    own: tuple[str, float],
    tables: _Tables,
    patches: int,
) -> Row:
    mine = means[one.row]
    kept = patches if one.kind is Kind.ALL else kept_count(patches, one.sparse_ratio)
    lowest = {COSINE: -1.0}
    scores = {name: tables.interval(name, sums).within(lowest.get(name, 0.0)) for name, sums in mine.items()}
    name = one.row[0]
    if one.row == own:
        return Row(name, one.kind, one.sparse_ratio, kept, draws, scores)
    base = means[own] if one.kind is Kind.AS_IS else means[own[0], one.sparse_ratio]
    gain = {name: tables.interval(name, base[name] - sums) for name, sums in mine.items()}
    chosen = kept_count(patches, own[1] if one.kind is Kind.AS_IS else one.sparse_ratio)
    against = (
        Message("matters.what.fewer", "{k} chosen ones", k=kept)
        if one.kind is Kind.AS_IS
        else what(one.kind, kept, patches, one.variant)
    )
    metric = next(iter(mine))
    says = verdict(metric, gain[metric], against, chosen, tables.identities, tables.known)
    return Row(name, one.kind, one.sparse_ratio, kept, draws, scores, gain, says)
