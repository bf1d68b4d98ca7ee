"""What the page takes home: figure, bundle, supplement, each a job. Files travel inside answers, never as paths."""

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sdtps.export import figure
from sdtps.export.bundle import write_bundle
from sdtps.export.figure.style import DPI, FORMATS, PRESETS, FigureOptions
from sdtps.support.messages import as_note
from sdtps.support.progress import Progress
from sdtps.types import Payload
from sdtps.web.session.jobs import Lane
from sdtps.web.session.requests import Number, OpenRequest, Refusal, Request
from sdtps.web.session.tasks import ranks
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend

MIN_DPI, MAX_DPI = 30, 1200
TYPES = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "png": "image/png",
    "zip": "application/zip",
    "html": "text/html",
}


class Look(Request):
    """How a figure looks; what is left out is as `FigureOptions` has it."""

    columns: Annotated[list[str], Field(max_length=64)] | None = None
    width: Number | str = FigureOptions.width
    colormap: str = FigureOptions.colormap
    scale: str = FigureOptions.scale
    over: str | None = FigureOptions.over
    opacity: Number | None = FigureOptions.opacity
    dropped: str = FigureOptions.dropped
    captions: bool = FigureOptions.captions
    provenance: bool = FigureOptions.provenance
    language: str = FigureOptions.language

    def options(self) -> FigureOptions:
        """The same, checked value by value."""
        columns = None if self.columns is None else tuple(self.columns)
        return FigureOptions(**{**self.model_dump(exclude={"columns"}), "columns": columns})


class FileFormat(Request):
    """Which kind of file, and how fine its pixels are."""

    format: Literal["pdf", "svg", "png"] = "pdf"
    dpi: Number = DPI

    @property
    def dots(self) -> int:
        """Pixels per inch within bounds."""
        return int(min(max(self.dpi, MIN_DPI), MAX_DPI))


class BundleRequest(OpenRequest):
    """An open set, and how its figure looks."""

    look: Look = Look()


class FigureRequest(BundleRequest, FileFormat):
    """The figure of an open set."""


class SupplementRequest(OpenRequest):
    """An open set, and what its author says above it."""

    title: Annotated[str, Field(max_length=200)] = ""
    introduction: Annotated[str, Field(max_length=6000)] = ""


class CompareFigureRequest(FigureRequest):
    """The open set as B, and what it is compared with."""

    against: OpenRequest


class RankFigureRequest(ranks.RankRequest, FigureRequest):
    """The rank list on screen."""


def file_answer(stem: str, kind: str, content: bytes) -> Payload:
    """A file for the browser to save."""
    return {"name": f"{stem}.{kind}", "type": TYPES[kind], "data": base64.b64encode(content).decode()}


def export_choices() -> Payload:
    """What the export dialog offers."""
    return {"widths": dict(PRESETS), "formats": list(FORMATS), "dpi": DPI}


def _figure(backend: "PageBackend", request: FigureRequest) -> Payload:
    opened, settings = backend.opened(request)
    look = request.look.options()

    def draw() -> "figure.Sheet":
        return figure.grid_figure(opened.analyse(settings), opened.prepared.pixels, look)

    return _job(backend, "sdtps-figure", draw, request)


def _compare(backend: "PageBackend", request: CompareFigureRequest) -> Payload:
    """B, which is on screen, against A, which was pinned."""
    before, opened = backend.held(request.against.key), backend.held(request.key)
    look = request.look.options()
    if before.prepared.sha256 != opened.prepared.sha256:
        text = "A and B show different image sets, and the strip has one photograph for both; compare one set."
        raise Refusal("figure.triplets", text)

    def draw() -> "figure.Sheet":
        a, b = backend.analysed(request.against), backend.analysed(request)
        return figure.compare_figure(a, b, opened.prepared.pixels, look)

    return _job(backend, "sdtps-comparison", draw, request)


def _ranks(backend: "PageBackend", request: RankFigureRequest) -> Payload:
    """The rank list on screen."""
    look = request.look.options()
    backend.held(request.key)  # what is gone is said at once

    def draw() -> "figure.Sheet":
        found = ranks.listed(backend, request)
        pairs = zip(found.pixels, found.ranking.matches, strict=True)
        items = [figure.RankedItem(p, m.same, m.distance) for p, m in pairs]
        query = figure.RankedQuery(found.held.prepared.pixels, items)
        return figure.rank_figure([query], look, len(items))

    return _job(backend, "sdtps-ranks", draw, request)


def _job(backend: "PageBackend", stem: str, draw: Callable[[], "figure.Sheet"], wanted: FileFormat) -> Payload:
    """Start drawing a figure; the job's result holds the file."""

    def work(progress: Progress, _cancelled: Callable[[], bool]) -> Payload:
        progress(0, 2)
        sheet = draw()
        progress(1, 2)
        content = sheet.render(wanted.format, wanted.dots)
        size = [round(sheet.width, 3), round(sheet.height, 3)]
        notes = [as_note(n) for n in sheet.notes]
        return {"file": file_answer(stem, wanted.format, content), "notes": notes, "inches": size}

    return backend.jobs.start(work, Lane.QUICK)


def _bundle(backend: "PageBackend", request: BundleRequest) -> Payload:
    opened, settings = backend.opened(request)
    look = request.look.options()

    def work(progress: Progress, _cancelled: Callable[[], bool]) -> Payload:
        content = write_bundle(opened.analyse(settings), opened.prepared.pixels, look, progress=progress)
        return {"file": file_answer("sdtps-bundle", "zip", content)}

    return backend.jobs.start(work, Lane.QUICK)


def _supplement(backend: "PageBackend", request: SupplementRequest) -> Payload:
    from sdtps.export.supplement import write_supplement

    opened, settings = backend.opened_whole(request)

    def work(progress: Progress, _cancelled: Callable[[], bool]) -> Payload:
        analysis = opened.analyse(settings)
        page = write_supplement(opened, analysis, progress, title=request.title, introduction=request.introduction)
        return {"file": file_answer("sdtps-supplement", "html", page.encode())}

    return backend.jobs.start(work)


TASKS = {
    "export.figure": Task(FigureRequest, _figure),
    "export.compare": Task(CompareFigureRequest, _compare),
    "export.ranks": Task(RankFigureRequest, _ranks),
    "export.bundle": Task(BundleRequest, _bundle),
    "export.supplement": Task(SupplementRequest, _supplement),
}
