"""What the page asks about weights: their card and report, another reading of them, a new file."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sdtps import panels
from sdtps.types import WeightsReport
from sdtps.variants import VARIANTS
from sdtps.web.session.model_registry import UPLOAD_BYTES, Shelf
from sdtps.web.session.requests import malformed

if TYPE_CHECKING:
    from sdtps.web.session.session import Workbench

Payload = dict[str, Any]
NAMES_SHOWN = 5


def listing(shelf: Shelf) -> list[Payload]:
    """Cards of what is loaded, and the names of the rest; uploads belong to the page that sent them."""
    first = next(iter(shelf))
    return [
        card(shelf, key) if key == first or key in shelf.loaded else {"id": key, "weights": {"name": entry.name}}
        for key, entry in shelf.entries.items()
        if not entry.uploaded
    ]


def upload_options(shelf: Shelf) -> Payload:
    """What the page needs to know about sending files."""
    return {"allowed": shelf.uploads, "max_bytes": UPLOAD_BYTES}


def card(shelf: Shelf, key: str) -> Payload:
    """Everything the page knows about loaded weights."""
    model = shelf.model(key)
    net, grid = model.net, model.net.backbone.grid
    lacking = {name: net.sdtps.supports(variant) for name, variant in VARIANTS.items()}
    return {
        "id": key,
        "grid": {"rows": grid.rows, "cols": grid.cols},
        "size": list(net.backbone.input_size),
        "device": model.device.type,
        "variant": net.config.variant,
        "lacking": {name: why and panels.as_note(why) for name, why in lacking.items()},
        "weights": panels.weights_card(model.weights),
        "report": report_card(model.weights),
    }


def report_card(report: WeightsReport) -> Payload:
    """What the dialog about weights shows."""
    return {
        "family": report.family,
        "facts": dict(report.facts),
        "settings": dict(report.settings),
        "absent": list(report.absent),
        "assumed": [panels.as_note(n) for n in report.assumed],
        "notes": [panels.as_note(n) for n in report.notes],
        "groups": [
            {
                "name": g.name,
                "loaded": g.loaded,
                "missing": len(g.missing),
                "unexpected": len(g.unexpected),
                "unused": len(g.unused),
            }
            for g in report.groups
        ],
        "missing": {"count": len(report.missing), "first": list(report.missing[:NAMES_SHOWN])},
        "unexpected": {"count": len(report.unexpected), "first": list(report.unexpected[:NAMES_SHOWN])},
        "can_turn": any(getattr(n, "code", None) == "weights.assumed.grid" for n in report.assumed),
    }


def upload(workbench: "Workbench", name: object, content: object, fields: Mapping[str, Any]) -> Payload:
    """Bytes of a checkpoint from the browser to a card."""
    if not isinstance(name, str) or not isinstance(content, bytes):
        raise malformed()
    key = workbench.models.upload(name, content, insist=fields.get("insist") == "yes")
    return {"model": card(workbench.models, key)}


def _card(workbench: "Workbench", fields: Mapping[str, Any]) -> Payload:
    return {"model": card(workbench.models, _key(fields))}


def _turn(workbench: "Workbench", fields: Mapping[str, Any]) -> Payload:
    return {"model": card(workbench.models, workbench.models.turned(_key(fields)))}


def _key(fields: Mapping[str, Any]) -> str:
    key = fields.get("id")
    if not isinstance(key, str):
        raise malformed()
    return key


TASKS = {"weights.card": _card, "weights.turn": _turn}
