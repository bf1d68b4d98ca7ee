"""What is done with one triplet of a batch: read it, run it, turn it into files. The same for every engine."""

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sdtps.datasets import Record
from sdtps.export import serialise
from sdtps.export.batch.overlay import overlay
from sdtps.export.rendering import Over
from sdtps.images.masks import people_patches
from sdtps.images.read import Fit
from sdtps.metrics.overlap import chance_jaccard, overlap
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet, encode_together, runnable
from sdtps.support.errors import LensError, full_sentence
from sdtps.types import Analysis, BoolArray, Settings

QUALITY = 90
LONGEST_NAME = 200  # bytes
DEFAULT_OVER = Over()
Row = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """One triplet: a name that is unique in the batch, and its record."""

    name: str
    record: Record


@dataclass(frozen=True)
class Task:
    """What a batch computes.

    Attributes:
        settings: ratios, beta, tau, variant.
        fit: how pictures of another shape get the model's.
        together: triplets per forward pass. 1 gives the bits of a single analysis; more is for GPUs.
        over: what lies over the score maps of the contact sheet.
    """

    settings: Settings
    fit: Fit = Fit.STRETCH
    together: int = 1
    over: Over = DEFAULT_OVER


@dataclass(frozen=True)
class Loaded:
    """An image set ready for the backbone, or the sentence why it is not."""

    item: Item
    opened: OpenSet | None = None
    people: BoolArray | None = None
    error: str = ""


@dataclass(frozen=True)
class Result:
    """The files of one triplet, by their path in the result folder; the row last."""

    item: Item
    files: dict[str, bytes]
    error: str = ""


def items_of(found: Sequence[Record]) -> list[Item]:
    """Names for the triplets: the file's stem, with a number where two are the same."""
    seen: dict[str, int] = {}
    items = []
    for record in found:
        stem = _short(Path(record.name).stem)
        seen[stem] = seen.get(stem, 0) + 1
        items.append(Item(stem if seen[stem] == 1 else f"{stem}-{seen[stem]}", record))
    return items


def _short(stem: str) -> str:
    """A stem that leaves room for the endings of the files that are named after it; file systems count bytes."""
    content = stem.encode()
    if len(content) <= LONGEST_NAME:
        return stem
    return f"{content[:LONGEST_NAME].decode(errors='ignore')}-{hashlib.sha256(content).hexdigest()[:8]}"


def load(model: LoadedModel, items: Sequence[Item], task: Task) -> list[Loaded]:
    """Decode and fit; a triplet that cannot be used becomes its sentence."""
    size, grid = model.net.backbone.input_size, model.net.backbone.grid
    loaded = []
    for item in items:
        try:
            triplet = item.record.read(task.fit)
            people = people_patches(item.record.mask, size, grid, task.fit) if item.record.mask else None
            opened = OpenSet.of(model, triplet, item.record.cam, asked=False)
            loaded.append(Loaded(item, opened, people))
        except (ValueError, OSError) as error:
            loaded.append(Loaded(item, error=full_sentence(error) if isinstance(error, LensError) else str(error)))
    return loaded


def compute(model: LoadedModel, loaded: Sequence[Loaded], task: Task) -> list[tuple[Loaded, Analysis | None]]:
    """One forward pass for the sets that are sound, then the numbers of each."""
    runnable(model, task.settings.variant)
    sound = [one.opened for one in loaded if one.opened is not None]
    encoded = iter(encode_together(sound) if sound else ())
    return [(one, next(encoded).analyse(task.settings) if one.opened else None) for one in loaded]


def pack(found: Sequence[tuple[Loaded, Analysis | None]], task: Task) -> list[Result]:
    """The files of each triplet as bytes."""
    return [_failed(one) if analysis is None else _packed(one, analysis, task) for one, analysis in found]


def process(model: LoadedModel, items: Sequence[Item], task: Task) -> list[Result]:
    """All three steps, one after the other."""
    return pack(compute(model, load(model, items, task), task), task)


def row_path(name: str) -> str:
    """Where a triplet's row is in the result folder."""
    return f"rows/{name}.json"


def _packed(one: Loaded, analysis: Analysis, task: Task) -> Result:
    assert one.opened is not None
    name = one.item.name
    stream = io.BytesIO()
    picture = overlay(analysis, one.opened.prepared.pixels, over=task.over)
    Image.fromarray(picture).save(stream, "JPEG", quality=QUALITY, subsampling=0)
    files = {
        f"maps/{name}.npz": serialise.pack_npz(serialise.arrays_of(analysis)),
        f"overlays/{name}.jpg": stream.getvalue(),
    }
    row = _row(one, analysis) | {"files": list(files)}
    return Result(one.item, files | {row_path(name): _json(row)})


def _failed(one: Loaded) -> Result:
    row = {"name": one.item.name, "error": one.error, "files": []}
    return Result(one.item, {row_path(one.item.name): _json(row)}, one.error)


def _row(one: Loaded, analysis: Analysis) -> Row:
    first = next(iter(analysis.traces.values()))
    row: Row = {
        "name": one.item.name,
        "error": "",
        "pid": one.item.record.pid,
        "cam": one.item.record.cam,
        "missing": " ".join(sorted(m for m, trace in analysis.traces.items() if trace.missing)),
        "kept": first.kept,
        "patches": analysis.grid.patches,
    }
    for a, b in combinations(analysis.traces, 2):
        row[f"overlap_{a}_{b}"] = overlap(analysis[a].keep, analysis[b].keep, analysis.grid.patches).jaccard
    row["overlap_by_chance"] = chance_jaccard(analysis.grid.patches, first.kept, first.kept)
    for m, trace in analysis.traces.items():
        row[f"cut_{m}"] = float(trace.score[trace.keep[-1]])
        if one.people is not None:
            row[f"foreground_{m}"] = float(one.people[trace.keep].mean())
    row["notes"] = " ".join(str(n) for n in analysis.notes)
    return row


def _json(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, indent=1, default=_plain).encode()


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else str(value)
