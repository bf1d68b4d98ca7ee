"""What the page asks about weights: their card and report, another reading of them, a new file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sdtps.export.payload import model_card
from sdtps.types import Payload
from sdtps.web.session.model_registry import UPLOAD_BYTES, ModelRegistry
from sdtps.web.session.requests import Name, Request, malformed
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend


class WeightsRequest(Request):
    """Which weights are meant."""

    id: Name


def listing(models: ModelRegistry) -> list[Payload]:
    """Cards of what is loaded, and the names of the rest; uploads belong to the page that sent them."""
    first = next(iter(models))
    return [
        card(models, key) if key == first or key in models.loaded else {"id": key, "weights": {"name": entry.name}}
        for key, entry in models.entries.items()
        if not entry.uploaded
    ]


def upload_options(models: ModelRegistry) -> Payload:
    """What the page needs to know about sending files."""
    return {"allowed": models.uploads, "max_bytes": UPLOAD_BYTES}


def card(models: ModelRegistry, key: str) -> Payload:
    """Everything the page knows about loaded weights."""
    return model_card(models.model(key), key)


def upload(backend: "PageBackend", name: object, content: object, fields: Mapping[str, Any]) -> Payload:
    """Bytes of a checkpoint from the browser to a card."""
    if not isinstance(name, str) or not isinstance(content, bytes):
        raise malformed()
    key = backend.models.upload(name, content, force=fields.get("force") == "yes")
    return {"model": card(backend.models, key)}


def _card(backend: "PageBackend", request: WeightsRequest) -> Payload:
    return {"model": card(backend.models, request.id)}


def _turn(backend: "PageBackend", request: WeightsRequest) -> Payload:
    return {"model": card(backend.models, backend.models.turned(request.id))}


TASKS = {"weights.card": Task(WeightsRequest, _card), "weights.turn": Task(WeightsRequest, _turn)}
