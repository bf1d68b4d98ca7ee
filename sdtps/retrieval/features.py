"""Test features of many triplets in batches, with and without some modalities, and how well their maps find people."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sdtps.algorithm.trace import Trace
from sdtps.datasets import Apart, Broken, Record
from sdtps.images.foreground import auc, best_precision, correlation, precision
from sdtps.images.masks import people_patches
from sdtps.images.read import Triplet
from sdtps.models.reid import Encoded, LoadedModel
from sdtps.pipeline import OpenSet, concatenate, decide_batch, encode_batch, forward, runnable
from sdtps.retrieval.engine import LOCAL, Engine
from sdtps.retrieval.ranking import Gallery, apart_labels
from sdtps.support.errors import InputError, full_sentence
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Settings

Missing = frozenset[str]
NOTHING: Missing = frozenset()
PRECISION, BEST, AUC, CORRELATION = "precision", "best precision", "auc:", "correlation:"


@dataclass(frozen=True)
class MapQuality:
    """How well one modality's maps find people, averaged over the triplets of a folder that have masks.

    Attributes:
        precision: share of the kept patches that people cover at least half.
        best_precision: what a perfect ranking would have: people may cover fewer patches than are kept.
        auc: per map (score, predictor, self, cross1, cross2), AUC of those patches against the rest.
        correlation: per pair of maps, Pearson correlation over the patches.
    """

    precision: float
    best_precision: float
    auc: dict[str, float]
    correlation: dict[str, float]


@dataclass(frozen=True)
class FolderFeatures:
    """Features of the readable triplets of a folder.

    Attributes:
        features: (n, D).
        records: the n triplets.
        broken: those that could not be read.
        table: (n, M, Q) quality numbers of each triplet and modality, NaN without a mask.
        columns: (Q,) what the numbers are.
    """

    features: NDArray[np.float32]
    records: tuple[Record, ...]
    broken: tuple[Broken, ...]
    table: NDArray[np.float32]
    columns: tuple[str, ...]

    @cached_property
    def gallery(self) -> Gallery:
        """To search among them."""
        return Gallery(self.features, self.records)

    @property
    def pid(self) -> NDArray[np.int64]:
        """(n,) identities."""
        return np.array([r.pid for r in self.records], np.int64)

    def apart(self, rule: Apart) -> NDArray[np.int64]:
        """(n,) cameras or scenes."""
        return apart_labels(self.records, rule)

    @property
    def quality(self) -> dict[str, MapQuality]:
        """Per modality; empty without masks."""
        if not len(self.table) or np.isnan(self.table).all():
            return {}
        means = {
            str(m): dict(zip(self.columns, _means(self.table[:, i]), strict=True)) for i, m in enumerate(MODALITIES)
        }
        return {
            m: MapQuality(
                row[PRECISION],
                row[BEST],
                {c.removeprefix(AUC): v for c, v in row.items() if c.startswith(AUC)},
                {c.removeprefix(CORRELATION): v for c, v in row.items() if c.startswith(CORRELATION)},
            )
            for m, row in means.items()
        }


@dataclass
class Rows:
    """Features as they come in; `done` counts unreadable triplets, too."""

    records: list[Record] = field(default_factory=list)
    features: list[NDArray[np.float32]] = field(default_factory=list)
    table: list[NDArray[np.float32]] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)
    columns: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        """Triplets that were looked at."""
        return len(self.records) + len(self.broken)

    def add(self, more: "Rows") -> None:
        """Put further rows behind these."""
        self.records += more.records
        self.features += more.features
        self.table += more.table
        self.broken += more.broken
        self.columns = more.columns or self.columns

    def finish(self) -> FolderFeatures:
        """As arrays."""
        if not self.features:
            raise ValueError("None of the image sets could be read.")
        return FolderFeatures(
            np.concatenate(self.features),
            tuple(self.records),
            tuple(self.broken),
            np.concatenate(self.table),
            self.columns,
        )


def extract(
    model: LoadedModel,
    records: Sequence[Record],
    settings: Settings | None = None,
    *,
    batch: int = 16,
    missing: Sequence[str] = (),
    progress: Progress | None = None,
) -> FolderFeatures:
    """Test features of a folder, in batches.

    Args:
        model: loaded weights.
        records: the triplets.
        settings: ratios and beta at test time; those of the training by default.
        batch: triplets per forward pass.
        missing: modalities to leave out.
        progress: called with (done, total).
    """
    rows = {frozenset(missing): Rows()}
    for _ in extend(model, records, settings or model.settings, rows, batch, progress):
        pass
    return rows[frozenset(missing)].finish()


def extend(
    model: LoadedModel,
    records: Sequence[Record],
    settings: Settings,
    rows: dict[Missing, Rows],
    batch: int = 16,
    progress: Progress | None = None,
    read: Callable[[Record], Triplet] = Record.read,
    engine: Engine = LOCAL,
) -> Iterator[int]:
    """Add to each set of rows what it lacks of the records; yields the number done after each batch.

    The backbone runs once for all sets: a missing modality is zeros after normalisation, the same for every triplet,
    and the backbone sees each modality alone.

    Args:
        model: loaded weights.
        records: the triplets, in a fixed order.
        settings: ratios and beta at test time.
        rows: by missing modalities; all must have got equally far.
        batch: triplets per forward pass.
        progress: called with (done, total); may raise to stop.
        read: decodes a record.
        engine: where it is computed.
    """
    runnable(model, settings.variant)  # before anything is computed
    done = next(iter(rows.values())).done
    chunks = [records[start : start + batch] for start in range(done, len(records), batch)]
    for found in engine.run(model, _Extraction(settings, tuple(rows), read), chunks):
        for missing, mine in rows.items():
            mine.add(found[missing])
        done = next(iter(rows.values())).done
        if progress is not None:
            progress(done, len(records))
        yield done


@dataclass(frozen=True)
class _Extraction:
    """What is done with one batch of records; the tokens of absent pictures are computed once per process."""

    settings: Settings
    conditions: tuple[Missing, ...]
    read: Callable[[Record], Triplet]
    blank: dict[int | None, Encoded] = field(default_factory=dict)

    def __call__(self, model: LoadedModel, chunk: Sequence[Record]) -> dict[Missing, Rows]:
        """The rows of one batch by missing modalities."""
        readable, sets, broken = open_sets(chunk, model, self.read)
        rows = {missing: Rows(broken=list(broken)) for missing in self.conditions}
        if sets:
            encoded = encode_batch(sets)
            labels = [s.camera for s in sets]
            for label in {*labels} - {*self.blank} if any(self.conditions) else ():
                self.blank[label] = _encode_blank(model, label)
            blanks = concatenate([self.blank[label] for label in labels]) if self.blank else encoded
            for missing, found in rows.items():
                _add(model, found, readable, _without(encoded, blanks, missing), self.settings, missing)
        return rows


def open_sets(
    chunk: Sequence[Record], model: LoadedModel, read: Callable[[Record], Triplet]
) -> tuple[list[Record], list[OpenSet], list[Broken]]:
    """Those of the records that can be read, in front of the model, and why the others cannot."""
    readable, sets, broken = [], [], []
    for record in chunk:
        try:
            sets.append(OpenSet.of(model, read(record), record.cam, asked=False))
            readable.append(record)
        except InputError as error:
            broken.append(Broken(record.name, full_sentence(error)))
    return readable, sets, broken


def _encode_blank(model: LoadedModel, label: int | None) -> Encoded:
    images = torch.zeros(len(MODALITIES), 1, 3, *model.net.backbone.input_size)
    with model.lock:
        return forward(model, images, None if label is None else torch.tensor([label]))


def _without(encoded: Encoded, blanks: Encoded, missing: Missing) -> Encoded:
    return Encoded(
        *({m: (b if m in missing else e)[m] for m in e} for e, b in zip(encoded, blanks, strict=True)),
    )


def _add(
    model: LoadedModel, rows: Rows, records: list[Record], encoded: Encoded, settings: Settings, missing: Missing
) -> None:
    traces, features = decide_batch(model, encoded, settings)
    backbone = model.net.backbone
    rows.records += records
    rows.features.append(features.numpy())
    if missing:  # how the maps find people is asked of whole sets only
        rows.table.append(np.zeros((len(records), len(MODALITIES), 0), np.float32))
        return
    rows.columns = _columns(next(iter(traces.values())))
    table = np.full((len(records), len(MODALITIES), len(rows.columns)), np.nan, np.float32)
    for i, record in enumerate(records):
        if record.mask is not None:
            people = people_patches(record.mask, backbone.input_size, backbone.grid)
            table[i] = [_quality(traces[m], i, people) for m in MODALITIES]
    rows.table.append(table)


def _maps(trace: Trace) -> dict[str, Tensor]:
    cross1, cross2 = trace.cross_attention.values()
    maps = {"score": trace.score, "self": trace.self_attention, "cross1": cross1, "cross2": cross2}
    return maps if trace.predictor is None else maps | {"predictor": trace.predictor}


def _pairs(maps: Sequence[str]) -> list[tuple[str, str]]:
    return list(combinations([name for name in maps if name != "score"], 2))


def _columns(trace: Trace) -> tuple[str, ...]:
    maps = list(_maps(trace))
    return (PRECISION, BEST, *(AUC + name for name in maps), *(f"{CORRELATION}{a}-{b}" for a, b in _pairs(maps)))


def _quality(trace: Trace, sample: int, people: NDArray[np.bool_]) -> list[float]:
    maps = {name: t[sample].cpu().numpy() for name, t in _maps(trace).items()}
    keep = trace.sample(sample).keep[0].cpu().numpy()
    return [
        precision(people, keep),
        best_precision(people, len(keep)),
        *(auc(people, values) for values in maps.values()),
        *(correlation(maps[a], maps[b]) for a, b in _pairs(list(maps))),
    ]


def _means(table: NDArray[np.float32]) -> list[float]:
    """Means over the triplets that have a number."""
    columns = [column[~np.isnan(column)].astype(np.float64) for column in table.T]
    return [float(column.mean()) if len(column) else float("nan") for column in columns]
