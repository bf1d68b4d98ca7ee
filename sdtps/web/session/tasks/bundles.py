"""What the page brings back: a bundle's numbers as they were written; sliders move where its weights are loaded."""

from typing import TYPE_CHECKING

from sdtps.checkpoints.anonymise import made_by
from sdtps.export import payload
from sdtps.export.bundle import Bundle, read_bundle
from sdtps.images import confined
from sdtps.images.read import Picture
from sdtps.pipeline import OpenSet
from sdtps.support.messages import Message, as_note
from sdtps.types import Payload
from sdtps.variants import VARIANTS
from sdtps.web.session.requests import malformed
from sdtps.web.session.tasks.weights import card

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend

FOREIGN = "bundle"  # the key of weights that only a bundle knows


def open_bundle(backend: "PageBackend", content: object) -> Payload:
    """A bundle from bytes to everything the page draws."""
    if not isinstance(content, bytes):
        raise malformed()
    bundle = read_bundle(content, confined.read_picture)
    analysis = bundle.analysis
    weights = _weights_of(backend, bundle)
    notes = list(analysis.notes)
    if weights is None:
        key = None
        text = "These numbers come from a bundle whose weights are not loaded here, so the sliders cannot move them."
        notes.append(Message("bundle.still", text))
    else:
        opened = OpenSet.again(backend.models.model(weights), analysis, bundle.prepared)
        key = backend.hold(opened, weights)
    shown = payload.merge(payload.still(analysis, bundle.pixels), payload.moving(analysis))
    return {
        "analysis": shown | {"key": key, "notes": [as_note(n) for n in notes]},
        "model": foreign_card(bundle) if weights is None else card(backend.models, weights),
        "pictures": {m: backend.keep(Picture(p)) for m, p in bundle.pixels.items() if p is not None},
    }


def foreign_card(bundle: Bundle) -> Payload:
    """The card of weights that only a bundle knows: nothing can be computed with them."""
    analysis = bundle.analysis
    lacking = as_note(Message("weights.unknown", "These weights are not loaded; choose others."))
    variant = analysis.settings.variant
    size = next(p.shape[:2] for p in bundle.pixels.values() if p is not None)
    return {
        "id": FOREIGN,
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        "size": list(size),
        "device": "",
        "variant": variant,
        "lacking": {name: None if name == variant else lacking for name in VARIANTS},
        "weights": payload.weights_card(analysis.weights),
        "report": payload.report_card(analysis.weights),
    }


def _weights_of(backend: "PageBackend", bundle: Bundle) -> str | None:
    """The key of the weights that made a bundle, where they are here; only likely ones are loaded to find out."""
    report = bundle.analysis.weights
    sizes = {p.shape[:2] for p in bundle.pixels.values() if p is not None}
    likely = (k for k in backend.models if k in backend.models.loaded or k.startswith(report.short_hash))
    for key in likely:
        model = backend.models.model(key)
        if made_by(model, report) and sizes == {tuple(model.net.backbone.input_size)}:
            return key
    return None
