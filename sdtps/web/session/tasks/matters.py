"""Tasks of the tab "Does it matter?": measure a gallery with the selection replaced, and take the report home."""

import base64
import logging
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sdtps.checkpoints.anonymise import is_hidden
from sdtps.export import matters as files
from sdtps.export.figure.style import FigureOptions
from sdtps.matters.defaults import RATIOS
from sdtps.matters.measure import plan_for
from sdtps.matters.report import Matters, does_it_matter
from sdtps.models.reid import LoadedModel
from sdtps.support.byte_lru import ByteLru
from sdtps.support.progress import Progress
from sdtps.types import Payload, Settings
from sdtps.variants import VARIANTS
from sdtps.web.session.jobs import Lane
from sdtps.web.session.requests import Name, Number, Refusal, Request
from sdtps.web.session.tasks.ranks import BATCH, GalleryRequest, gallery_of
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend

KEPT = 32  # reports that can still be taken home
TYPES = {
    "pdf": "application/pdf",
    "svg": "image/svg+xml",
    "csv": "text/csv",
    "tex": "text/plain",
    "json": "application/json",
}

log = logging.getLogger(__name__)
_reports: ByteLru[Matters] = ByteLru(KEPT, lambda _: 1)


Ratio = Annotated[float, Field(gt=0.0, le=1.0)]


class MattersRequest(GalleryRequest):
    """A gallery, and what is tried on it."""

    ratios: Annotated[list[Ratio], Field(max_length=8, default_factory=lambda: list(RATIOS))]
    draws: Annotated[int, Field(ge=1, le=100)] = 10
    variants: Annotated[list[Name], Field(max_length=4, default_factory=list)]


class FileRequest(Request):
    """One file of a report."""

    report: Name
    format: Literal["pdf", "svg", "csv", "tex", "json"] = "pdf"
    language: Literal["en", "zh"] = "en"
    width: Number | str = FigureOptions.width


def run(backend: "PageBackend", request: MattersRequest) -> Payload:
    """Start measuring; a job whose result is the report."""
    opened, settings = backend.opened_whole(request)
    model, dataset = opened.model, gallery_of(backend, request).dataset
    plan = plan_for(dataset, settings, request.ratios, request.draws, _possible(model, settings, request.variants))

    def work(progress: Progress, _cancelled: Callable[[], bool]) -> Payload:
        cache = str(backend.data.store.folder)
        report = does_it_matter(model, dataset, plan, batch=BATCH, cache=cache, progress=progress)
        if is_hidden(model.weights):
            report = files.anonymous(report)
        key = secrets.token_urlsafe(12)
        _reports.put(key, report)
        titles = {language: [files.row_title(row, language) for row in report.rows] for language in ("en", "zh")}
        return report.as_dict() | {"key": key, "titles": titles}

    return backend.jobs.start(work, Lane.GALLERY)


def take_home(backend: "PageBackend", request: FileRequest) -> Payload:
    """One file of a report; a job."""
    report = _reports.get(request.report)
    if report is None:
        raise Refusal("matters.gone", "The server no longer holds this report; measure again.")
    look = FigureOptions(width=request.width, language=request.language)

    def work(progress: Progress, _cancelled: Callable[[], bool]) -> Payload:
        progress(0, 1)
        content = base64.b64encode(files.render(report, request.format, look)).decode()
        file = {"name": f"sdtps-matters.{request.format}", "type": TYPES[request.format], "data": content}
        return {"file": file, "notes": []}

    return backend.jobs.start(work, Lane.QUICK)


def _possible(model: LoadedModel, settings: Settings, asked: list[str]) -> list[str]:
    """Those of the variants that these weights can run."""
    known = [name for name in asked if name in VARIANTS and name != settings.variant]
    return [name for name in known if model.net.supports(VARIANTS[name]) is None]


TASKS = {
    "matters.run": Task(MattersRequest, run),
    "matters.file": Task(FileRequest, take_home),
}
