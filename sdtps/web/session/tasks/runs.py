"""The tasks of the Training tab: which runs there are, and a recorded epoch as an open image set."""

from typing import TYPE_CHECKING

from sdtps.export import payload
from sdtps.resources import LAB
from sdtps.runs.replay import open_epoch
from sdtps.types import Payload
from sdtps.web.session.requests import Index, Request, WithSettings
from sdtps.web.session.run_registry import lab_lines
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend


RECORDED = "recorded"  # what the page calls the weights of an epoch


class EpochRequest(WithSettings):
    """One epoch of one run on one of its watched image sets."""

    run: Index
    epoch: Index
    probe: Index = 0
    photos: bool = True
    matrix: bool = False


def listing(backend: "PageBackend", _request: Request) -> Payload:
    """Curves, findings and settings of all runs."""
    return backend.runs.cards()


def lab(_backend: "PageBackend", _request: Request) -> Payload:
    """The shipped lab's experiments in words, for the tabs that speak of them."""
    return {"lab": lab_lines(LAB)}


def epoch(backend: "PageBackend", request: EpochRequest) -> Payload:
    """Open a recorded epoch: the same payload as an analysis, and a key for slider moves and comparisons."""
    opened = open_epoch(backend.runs.find(request.run), request.epoch, request.probe)
    analysis = opened.analyse(request.settings_over(opened.model.settings))
    moving = payload.moving(analysis, matrix=request.matrix)
    still = payload.still(analysis, opened.prepared.pixels, photos=request.photos)
    card = payload.model_card(opened.model, RECORDED)
    return payload.merge(still, moving) | {"key": backend.hold_recorded(opened), "model": card}


TASKS = {
    "runs.list": Task(Request, listing),
    "runs.lab": Task(Request, lab),
    "runs.epoch": Task(EpochRequest, epoch),
}
