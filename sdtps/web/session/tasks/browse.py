"""Leafing through the data folders: tasks of the page's folder browser."""

from typing import TYPE_CHECKING, Any

import numpy as np

from sdtps import panels
from sdtps.datasets import Broken, Record
from sdtps.images.read import Fit, Triplet
from sdtps.web.session.data_registry import Filter, Library, Located, Shelf
from sdtps.web.session.requests import MAX_NAME, malformed, name_field, number_field

if TYPE_CHECKING:
    from sdtps.web.session.session import Workbench
    from sdtps.web.session.tasks import Fields, Payload

MAX_ROWS = 200
MAX_IDENTITIES = 2000  # more would make a slow menu; the search finds them, too
THUMB_HEIGHT = 72


def shelf_cards(library: Library) -> list[dict[str, Any]]:
    """What the page says about each data set before anyone opens it; no path of this machine is in it."""
    return [
        {"name": s.label, "layout": s.dataset.layout.name, "splits": list(s.dataset.folders), "first": s.dataset.query}
        for s in library.shelves
    ]


def find(workbench: "Workbench", fields: "Fields") -> "Payload":
    """One page of the records that pass a filter, from `start` or around the record `at`."""
    shelf, split = _shelf_and_split(workbench.library, fields)
    search = fields.get("search", "")
    if not isinstance(search, str) or len(search) > MAX_NAME:
        raise malformed()
    pid, cam = (None if fields.get(name) is None else number_field(fields, name) for name in ("pid", "cam"))
    wanted = Filter(pid, None if cam is None else cam - shelf.dataset.layout.first_camera, search.strip().lower())
    found = shelf.select(split, wanted)
    count = min(number_field(fields, "count", 0), MAX_ROWS)
    start = max(0, min(number_field(fields, "start", 0), len(found) - count))
    position = None
    if (at := name_field(fields.get("at"))) is not None:
        ids = shelf.ids(split)
        position = next((p for p, number in enumerate(found) if ids[number] == at), None)
        if position is not None:
            start = max(0, min(position - count // 2, len(found) - count))
    rows = [record_card(shelf.at(split, number)) for number in found[start : start + count]]
    answer = {"total": len(found), "start": start, "rows": rows, "position": position}
    if fields.get("facets") is True:
        identities = shelf.identities(split)
        answer |= {
            "identities": identities if len(identities) <= MAX_IDENTITIES else [],
            "cameras": shelf.cameras(split),
            "broken": len(shelf.broken(split)),
        }
    return answer


def show(workbench: "Workbench", fields: "Fields") -> "Payload":
    """One record: where it is, what its name tells, and a small picture."""
    located = _located(workbench, fields)
    library = workbench.library
    triplet = library.read(located, Fit.STRETCH)
    shelf = located.shelf
    return record_card(located) | {
        "root": library.shelves.index(shelf) if shelf in library.shelves else None,
        "split": located.split,
        "mask": located.record.mask is not None,
        "thumbnail": thumbnail(triplet),
    }


def broken(workbench: "Workbench", fields: "Fields") -> "Payload":
    """One page of what is no triplet, and why."""
    shelf, split = _shelf_and_split(workbench.library, fields)
    listed = shelf.broken(split)
    start = number_field(fields, "start", 0)
    return {"total": len(listed), "rows": [_broken_card(b) for b in listed[start : start + MAX_ROWS]]}


def record_card(located: Located) -> dict[str, Any]:
    """What the page shows of a record."""
    record: Record = located.record
    return {
        "id": located.id,
        "name": record.name,
        "pid": record.pid if record.pid >= 0 else None,
        "cam": record.cam + located.shelf.dataset.layout.first_camera if record.cam >= 0 else None,
        "scene": record.scene,
    }


def thumbnail(triplet: Triplet) -> str:
    """The three pictures side by side, small, as a data URL."""
    height, width = next(p.size for p in triplet.pictures.values() if p is not None)
    size = (THUMB_HEIGHT, max(1, round(THUMB_HEIGHT * width / height)))
    blank = np.full((*size, 3), 128, np.uint8)
    parts = [p if p is not None else blank for p in triplet.fitted(size).values()]
    return panels.photo_url(np.concatenate(parts, axis=1), quality=82)


def _shelf_and_split(library: Library, fields: "Fields") -> tuple[Shelf, str]:
    root, split = number_field(fields, "root"), name_field(fields.get("split"))
    if root >= len(library.shelves) or split is None or split not in library.shelves[root].dataset.folders:
        raise malformed()
    return library.shelves[root], split


def _located(workbench: "Workbench", fields: "Fields") -> Located:
    identifier = name_field(fields.get("id"))
    if identifier is None:
        raise malformed()
    return workbench.library.find(identifier)


def _broken_card(item: Broken) -> dict[str, Any]:
    return {"name": item.name, "note": panels.as_note(item.why)}


TASKS = {"data.find": find, "data.show": show, "data.broken": broken}
