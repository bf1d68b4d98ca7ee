"""The tasks behind *why this patch* and *does it beat chance*: metrics of an open image set, as plain values."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sdtps import metrics, panels
from sdtps.export.payload import shown_settings
from sdtps.images.masks import HALF
from sdtps.metrics.flatness import FLAT_SHARE, span_of
from sdtps.pipeline import OpenSet
from sdtps.support.messages import Message, as_note
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Analysis, BoolArray, Payload, Settings
from sdtps.web.session.requests import Index, ModalityName, OpenRequest, Refusal, Request, malformed
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import HeldSet, PageBackend


RANKS = "ranks"  # the map of places gained and lost, beside the panels' maps


class PatchRequest(OpenRequest):
    """One patch of one modality."""

    modality: ModalityName
    patch: Index


class TokenRequest(OpenRequest):
    """One aggregated token."""

    token: Index


class CompareRequest(Request):
    """Two open sets, each with its settings."""

    a: OpenRequest
    b: OpenRequest


class SweepRequest(OpenRequest):
    """One slider, by name."""

    name: Literal["sparse_ratio", "aggr_ratio", "beta", "tau"]


def plain(value: Any) -> Any:
    """Metrics as JSON can hold them: arrays become lists, sentences notes, and what is not a number becomes None."""
    if isinstance(value, Message):
        return as_note(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def patch(backend: "PageBackend", request: PatchRequest) -> Payload:
    """Why one patch was kept or dropped."""
    analysis = backend.analysed(request)
    if request.patch >= analysis.grid.patches:
        raise malformed()
    found = metrics.patch_provenance(analysis, request.modality, request.patch)
    return plain(found.as_dict()) | {"top": _score_range(analysis)}


def token(backend: "PageBackend", request: TokenRequest) -> Payload:
    """The patches behind one aggregated token, in every modality."""
    analysis = backend.analysed(request)
    weights = analysis[MODALITIES[0]].aggregation_weights
    if weights is None or not len(weights):
        raise Refusal("why.no_tokens", "These settings make no aggregated token.")
    if request.token >= len(weights):
        raise malformed()
    found = {str(m): metrics.token_provenance(analysis, m, request.token) for m in MODALITIES}
    return {
        "token": request.token,
        "tokens": len(weights),
        "modalities": {m: plain(f.as_dict()) | {"missing": analysis[m].missing} for m, f in found.items()},
    }


def compare(backend: "PageBackend", request: CompareRequest) -> Payload:
    """B against A: two open sets, each with its settings."""
    a, b = backend.analysed(request.a), backend.analysed(request.b)
    found = metrics.compare(a, b)
    return plain(found.as_dict()) | {"maps": _difference_maps(found, a, b)}


def _difference_maps(found: metrics.Comparison, a: Analysis, b: Analysis) -> Payload:
    """By map, and of the ranks: the largest difference, and whether it is too small to be stretched into colours."""
    cards: Payload = {}
    for name, panel in panels.HEAT_PANELS.items():
        each = [change.differences[name] for change in found.modalities.values() if name in change.differences]
        if each:
            most = max(float(np.abs(values).max()) for values in each)
            shown = [panels.maps_of(x[m], m)[name] for x in (a, b) for m in MODALITIES]
            largest = max(float(values.max()) for values in shown if values is not None)
            cards[name] = {"most": most, "flat": most <= FLAT_SHARE * span_of(panel, largest, b.settings)}
    if found.modalities:
        most = max(int(np.abs(change.climbed).max()) for change in found.modalities.values())
        cards[RANKS] = {"most": most, "flat": most == 0}
    return cards


def sweep(backend: "PageBackend", request: SweepRequest) -> Payload:
    """One slider over its range."""
    opened, settings = backend.opened(request)
    slider = panels.SLIDERS[request.name]
    person = person_of(backend.held(request.key))
    found = metrics.sweep(opened, settings, slider.name, slider.stops(), person=person).as_dict()
    del found["masks"]  # the page draws curves; an export has the sets
    return plain(found) | {"log": slider.log}


def variants(backend: "PageBackend", request: OpenRequest) -> Payload:
    """Every variant on the same image set and weights."""
    opened, settings = backend.opened(request)
    found = metrics.across_variants(opened, settings)
    return {"now": settings.variant, "variants": [_variant_card(r) for r in found]}


def gradients(backend: "PageBackend", request: OpenRequest) -> Payload:
    """Start a job: the gradients of this image set, and those of the seeded batch."""
    opened, settings = backend.opened_whole(request)

    def work(progress: Progress, _cancelled: Any) -> Payload:
        progress(0, 2)
        seeded = _seeded_gradients()
        progress(1, 2)
        return {"triplet": _gradient_card(opened, settings), "reference": seeded}

    return backend.jobs.start(work)


def faithfulness(backend: "PageBackend", request: OpenRequest) -> Payload:
    """Start a job: the report on this image set."""
    opened, settings = backend.opened_whole(request)
    person = person_of(backend.held(request.key))

    def work(progress: Progress, _cancelled: Any) -> Payload:
        report = metrics.measure_faithfulness(opened, settings, person=person, progress=progress)
        return plain(report.as_dict()) | {"settings": shown_settings(settings)}

    return backend.jobs.start(work)


def person_of(held: "HeldSet") -> BoolArray | None:
    """(N,) the person's patches of an open set, where a mask is known."""
    if held.person is None:
        return None
    person: BoolArray = held.person >= HALF
    return person


@lru_cache(maxsize=1)
def _seeded_gradients() -> Payload:
    """Independent of image set and weights, so once is enough; the maps of its batch are not drawn."""
    found: Payload = plain(metrics.reference_gradients().as_dict())
    for flow in found["flows"]:
        del flow["score"]
    return found


def _gradient_card(opened: OpenSet, settings: Settings) -> Payload:
    found: Payload = plain(metrics.triplet_gradients(opened, settings).as_dict())
    for flow in found["flows"]:
        flow["score"] = {m: rows[0] for m, rows in flow["score"].items()}
    return found | {"settings": shown_settings(settings)}


def _variant_card(result: metrics.VariantResult) -> Payload:
    card: Payload = {"name": result.name, "lacking": result.lacking and as_note(result.lacking)}
    if result.analysis is None or result.change is None:
        return card
    weights = result.analysis[MODALITIES[0]].aggregation_weights
    changes = result.change.modalities
    return card | {
        "tokens": None if weights is None else len(weights),
        "kept": result.analysis[MODALITIES[0]].kept,
        "sdtps_cosine": plain(result.change.sdtps_cosine),
        "modalities": {
            str(m): {
                "mask": None if result.analysis[m].soft else result.analysis[m].mask.astype(int).tolist(),
                "weights": plain(result.analysis[m].weights),
                "entered": changes[m].entered.tolist(),
                "left": changes[m].left.tolist(),
                "overlap": plain(changes[m].overlap.as_dict()),
                "pooled_cosine": plain(changes[m].pooled_cosine),
                "missing": result.analysis[m].missing,
            }
            for m in MODALITIES
        },
    }


def _score_range(analysis: Analysis) -> list[float]:
    """Where a bar of score parts begins and ends: the bounds of equation 3, or the range of the cosine sums and 0."""
    low, high = panels.score_bounds(analysis.settings, [analysis[m].score for m in MODALITIES])
    return [min(0.0, low), max(0.0, high)]


TASKS = {
    "why.patch": Task(PatchRequest, patch),
    "why.token": Task(TokenRequest, token),
    "why.compare": Task(CompareRequest, compare),
    "why.sweep": Task(SweepRequest, sweep),
    "why.variants": Task(OpenRequest, variants),
    "why.gradients": Task(OpenRequest, gradients),
    "why.faithfulness": Task(OpenRequest, faithfulness),
}
