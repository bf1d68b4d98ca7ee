"""Leafing through the data folders: tasks of the page's folder browser."""

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sdtps.datasets import Broken, Record
from sdtps.images.encode import strip_url
from sdtps.images.read import Fit, Triplet
from sdtps.matters.cases import COLUMNS
from sdtps.support.messages import as_note
from sdtps.types import Payload
from sdtps.web.session import surveys
from sdtps.web.session.data_registry import DataRegistry, Filter, Located, NamedDataset
from sdtps.web.session.requests import MAX_NAME, Index, Name, Number, Request, malformed
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend

MAX_ROWS = 200
MAX_IDENTITIES = 2000  # more would make a slow menu; the search finds them, too
THUMB_HEIGHT = 72


class SplitRequest(Request):
    """One split of one data set, from a place in its list."""

    root: Index
    split: Name
    start: Index = 0


class FindRequest(SplitRequest):
    """A page of the records that pass a filter, from `start` or around the record `at`.

    With a `survey` of this split they are sorted by one of its numbers, and filtered by it, too.
    """

    count: Index = 0
    search: Annotated[str, Field(max_length=MAX_NAME)] = ""
    pid: Index | None = None
    cam: Index | None = None
    at: Name | None = None
    facets: bool = False
    survey: Name | None = None
    column: Literal[COLUMNS] = "ap"  # type: ignore[valid-type]  # the table is the list
    descending: bool = False
    low: Number | None = None
    high: Number | None = None


class RecordRequest(Request):
    """Which record is meant."""

    id: Name


def dataset_cards(data: DataRegistry) -> list[Payload]:
    """What the page says about each data set before anyone opens it; no path of this machine is in it."""
    return [
        {
            "name": s.label,
            "layout": s.dataset.layout.name,
            "splits": list(s.splits),
            "first": s.shown_split(s.dataset.query),
        }
        for s in data.browsed
    ]


def find(backend: "PageBackend", request: FindRequest) -> Payload:
    """One page of the records that pass a filter, from `start` or around the record `at`."""
    source, split = _source(backend.data, request)
    cam = None if request.cam is None else request.cam - source.dataset.layout.first_camera
    found = source.select(split, Filter(request.pid, cam, request.search.strip().lower()))
    values: dict[int, float] | None = None
    if request.survey is not None and (held := surveys.find(request.survey)).holds(source, split):
        values = surveys.values_of(held, request.column)
        wanted = surveys.Arrangement(request.column, request.descending, request.low, request.high)
        found = surveys.arranged(found, values, wanted)
    count = min(request.count, MAX_ROWS)
    start = max(0, min(request.start, len(found) - count))
    position = None
    if request.at is not None:
        ids = source.ids(split)
        position = next((p for p, number in enumerate(found) if ids[number] == request.at), None)
        if position is not None:
            start = max(0, min(position - count // 2, len(found) - count))
    rows = [record_card(source.at(split, n)) | _value(values, n) for n in found[start : start + count]]
    answer = {"total": len(found), "start": start, "rows": rows, "position": position}
    return answer | _facets(source, split) if request.facets else answer


def show(backend: "PageBackend", request: RecordRequest) -> Payload:
    """One record: where it is, what its name tells, and a small picture."""
    located = backend.data.find(request.id)
    browsed = backend.data.browsed
    return record_card(located) | {
        "root": browsed.index(located.source) if located.source in browsed else None,
        "split": located.source.shown_split(located.split),
        "mask": located.record.mask is not None,
        "thumbnail": thumbnail(backend.data.read(located, Fit.STRETCH)),
    }


def broken(backend: "PageBackend", request: SplitRequest) -> Payload:
    """One page of what is no image set, and why."""
    source, split = _source(backend.data, request)
    listed = source.broken(split)
    return {"total": len(listed), "rows": [_broken_card(b) for b in listed[request.start : request.start + MAX_ROWS]]}


def record_card(located: Located) -> Payload:
    """What the page shows of a record."""
    record: Record = located.record
    return {
        "id": located.id,
        "name": located.source.shown_name(located.number, record),
        "pid": record.pid if record.pid >= 0 else None,
        "cam": record.cam + located.source.dataset.layout.first_camera if record.cam >= 0 else None,
        "scene": record.scene,
    }


def _value(values: dict[int, float] | None, number: int) -> Payload:
    """The number that a record is sorted by; None where it cannot be told."""
    if values is None:
        return {}
    value = values.get(number, math.nan)
    return {"value": None if math.isnan(value) else value}


def thumbnail(triplet: Triplet) -> str:
    """The three pictures side by side, small, as a data URL."""
    height, width = next(p.size for p in triplet.pictures.values() if p is not None)
    size = (THUMB_HEIGHT, max(1, round(THUMB_HEIGHT * width / height)))
    return strip_url(triplet.fitted(size).values(), size)


def _facets(source: NamedDataset, split: str) -> Payload:
    identities = source.identities(split)
    return {
        "identities": identities if len(identities) <= MAX_IDENTITIES else [],
        "cameras": source.cameras(split),
        "broken": len(source.broken(split)),
    }


def _source(data: DataRegistry, request: SplitRequest) -> tuple[NamedDataset, str]:
    """The data set that is meant, and the split by its own name."""
    if request.root >= len(data.browsed) or request.split not in data.browsed[request.root].splits:
        raise malformed()
    source = data.browsed[request.root]
    return source, source.splits[request.split]


def _broken_card(item: Broken) -> Payload:
    return {"name": item.name, "note": as_note(item.why)}


TASKS = {
    "data.find": Task(FindRequest, find),
    "data.show": Task(RecordRequest, show),
    "data.broken": Task(SplitRequest, broken),
}
