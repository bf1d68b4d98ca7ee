"""Tasks of the tab "Find cases": numbers and a map of a gallery, thumbnails, several sets in one figure."""

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from sdtps.export import figure, payload
from sdtps.export.rendering import brightness, dimmed_to
from sdtps.images.encode import Pixels, strip_url
from sdtps.images.read import Fit, prepare
from sdtps.matters.cases import COLUMNS, survey
from sdtps.pipeline import OpenSet
from sdtps.support.errors import InputError
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, BoolArray, Grid, Payload
from sdtps.web.session import surveys
from sdtps.web.session.jobs import Lane
from sdtps.web.session.requests import Index, ModalityName, Name, Request
from sdtps.web.session.tasks.exports import FileFormat, Look, file_answer
from sdtps.web.session.tasks.ranks import BATCH, GalleryRequest, gallery_of
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend

MOST_THUMBS, MOST_SETS = 60, 12
THUMB_HEIGHT = 96


class ThumbsRequest(Request):
    """Some sets of a survey."""

    survey: Name
    numbers: Annotated[list[Index], Field(max_length=MOST_THUMBS)]


class CollectionRequest(FileFormat):
    """Several sets of a survey for one figure."""

    survey: Name
    numbers: Annotated[list[Index], Field(min_length=1, max_length=MOST_SETS)]
    rows: Annotated[list[ModalityName], Field(min_length=1, max_length=3)]
    look: Look = Look()


def run(backend: "PageBackend", request: GalleryRequest) -> Payload:
    """Look a gallery over; a job."""
    opened, settings = backend.opened_whole(request)
    model, source = opened.model, gallery_of(backend, request)
    split = source.dataset.gallery

    def work(progress: Progress, _cancelled: Callable[[], bool]) -> Payload:
        cache = str(backend.data.store.folder)
        found = survey(model, source.dataset, split, settings, batch=BATCH, cache=cache, progress=progress)
        key = secrets.token_urlsafe(12)
        held = surveys.Held(found, source, split, model, settings)
        surveys.hold(key, held)
        located = [held.located(i) for i in range(len(found.records))]
        return {
            "key": key,
            "ids": [one.id for one in located],
            "names": [source.shown_name(one.number, one.record) for one in located],
            "pids": [one.record.pid for one in located],
            "columns": {name: payload.pack(found.table[:, i]) for i, name in enumerate(COLUMNS)},
            "places": payload.pack(found.places.ravel()),
        }

    return backend.jobs.start(work, Lane.GALLERY)


def thumbs(backend: "PageBackend", request: ThumbsRequest) -> Payload:
    """Small pictures with the kept patches, as data URLs; None for a set that is gone."""
    held = surveys.find(request.survey, request.numbers)
    grid = held.model.net.backbone.grid
    return {"thumbs": [_thumb(backend, held, number, grid) for number in request.numbers]}


def draw(backend: "PageBackend", request: CollectionRequest) -> Payload:
    """The collected sets as one figure; a job."""
    held = surveys.find(request.survey, request.numbers)
    look = request.look.options()

    def work(progress: Progress, _cancelled: Callable[[], bool]) -> Payload:
        sets = []
        for i, number in enumerate(request.numbers):
            progress(i, len(request.numbers) + 1)
            located = held.located(number)
            opened = OpenSet.of(held.model, backend.data.read(located, Fit.STRETCH), located.record.cam, asked=False)
            sets.append(figure.Collected(opened.analyse(held.settings), opened.prepared.pixels))
        rows = [str(m) for m in MODALITIES if m in request.rows]
        sheet = figure.collection_figure(sets, look, rows)
        content = sheet.render(request.format, request.dots)
        return {"file": file_answer("sdtps-cases", request.format, content), "notes": []}

    return backend.jobs.start(work)


def _thumb(backend: "PageBackend", held: surveys.Held, number: int, grid: Grid) -> str | None:
    try:
        triplet = backend.data.read(held.located(number), Fit.STRETCH)
    except InputError:
        return None
    rows, cols = held.model.net.backbone.input_size
    size = (THUMB_HEIGHT // grid.rows * grid.rows or grid.rows, 0)
    scale = size[0] / rows
    size = (size[0], max(1, round(cols * scale / grid.cols)) * grid.cols)
    pictures = prepare(triplet, size).pixels
    masks = held.survey.masks[number]
    return strip_url([_dimmed(pictures[m], masks[i], grid) for i, m in enumerate(MODALITIES)], size)


def _dimmed(pixels: Pixels | None, mask: BoolArray, grid: Grid) -> Pixels | None:
    """The picture with dropped patches darker than kept ones."""
    if pixels is None:
        return None
    left = np.where(mask, 1.0, dimmed_to(mask, brightness(pixels, grid)))
    height, width = pixels.shape[0] // grid.rows, pixels.shape[1] // grid.cols
    factor = left.reshape(grid.rows, grid.cols).repeat(height, 0).repeat(width, 1)
    return (pixels * factor[..., None]).astype(np.uint8)


TASKS = {
    "cases.run": Task(GalleryRequest, run),
    "cases.thumbs": Task(ThumbsRequest, thumbs),
    "cases.figure": Task(CollectionRequest, draw),
}
