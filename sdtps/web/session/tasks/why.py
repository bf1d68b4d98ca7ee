"""The tasks behind *why this patch* and *does it beat chance*: metrics of an open triplet, as plain values."""

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sdtps import metrics, panels
from sdtps.images.masks import HALF
from sdtps.pipeline import Encoding, decide, encode
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Analysis, BoolArray, Settings
from sdtps.variants import get_variant
from sdtps.web.session.requests import RANGES, Refusal, malformed, parse_settings

if TYPE_CHECKING:
    from sdtps.web.session.jobs import Progress
    from sdtps.web.session.session import Open, Workbench

Payload = dict[str, Any]
Fields = Mapping[str, Any]
TAU_STOPS = tuple(float(f"{10 ** (k / 20):.3g}") for k in range(-26, 21))  # 0.0501 to 10, and exactly 1


def plain(value: Any) -> Any:
    """Metrics as JSON can hold them: arrays become lists, sentences notes, and what is not a number becomes None."""
    if isinstance(value, Message):
        return panels.as_note(value)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def patch(workbench: "Workbench", fields: Fields) -> Payload:
    """Why one patch was kept or dropped."""
    analysis = _analysis(*_open(workbench, fields))
    found = metrics.patch_provenance(analysis, _modality(fields), _index(fields.get("patch"), analysis.grid.patches))
    return plain(found.as_dict()) | {"top": _score_range(analysis)}


def token(workbench: "Workbench", fields: Fields) -> Payload:
    """The patches behind one aggregated token, in every modality."""
    opened, settings = _open(workbench, fields)
    analysis = _analysis(opened, settings)
    weights = analysis[MODALITIES[0]].aggregation_weights
    if weights is None or not len(weights):
        raise Refusal(Message("why.no_tokens", "These settings make no aggregated token."))
    index = _index(fields.get("token"), len(weights))
    found = {str(m): metrics.token_provenance(analysis, m, index) for m in MODALITIES}
    return {
        "token": index,
        "tokens": len(weights),
        "modalities": {m: plain(f.as_dict()) | {"missing": analysis[m].missing} for m, f in found.items()},
    }


def compare(workbench: "Workbench", fields: Fields) -> Payload:
    """B against A: two open triplets, each with its settings."""
    a, b = (_analysis(*_open(workbench, _mapping(fields.get(side)))) for side in ("a", "b"))
    found = metrics.compare(a, b)
    ranges: dict[str, float] = {}
    for change in found.modalities.values():
        for name, values in change.differences.items():
            ranges[name] = max(ranges.get(name, 0.0), float(np.abs(values).max()))
    return plain(found.as_dict()) | {"ranges": ranges}


def sweep(workbench: "Workbench", fields: Fields) -> Payload:
    """One slider over its range."""
    opened, settings = _open(workbench, fields)
    name = fields.get("name")
    if not isinstance(name, str) or name not in RANGES:
        raise malformed()
    low, high = (round(end * 100) for end in RANGES[name])
    values = TAU_STOPS if name == "tau" else [k / 100 for k in range(low, high + 1)]
    person = person_of(opened)
    found = metrics.sweep(
        opened.model, _encoding(opened), settings, name, values, person=person, missing=opened.missing
    ).as_dict()
    del found["masks"]  # the page draws curves; an export has the sets
    return plain(found) | {"log": name == "tau"}


def variants(workbench: "Workbench", fields: Fields) -> Payload:
    """Every variant on the same triplet and weights."""
    opened, settings = _open(workbench, fields)
    found = metrics.across_variants(opened.model, _encoding(opened), settings, opened.missing)
    return {"now": settings.variant, "variants": [_variant_card(r) for r in found]}


def gradients(workbench: "Workbench", fields: Fields) -> Payload:
    """Start a job: the gradients of this triplet, and those of the seeded batch."""
    opened, settings = _open(workbench, fields)

    def work(progress: "Progress", _cancelled: Any) -> Payload:
        progress(0, 2)
        seeded = _seeded_gradients()
        progress(1, 2)
        return {"triplet": _gradient_card(opened, settings), "reference": seeded}

    return workbench.jobs.start(work)


def faithfulness(workbench: "Workbench", fields: Fields) -> Payload:
    """Start a job: the report on this triplet."""
    opened, settings = _open(workbench, fields)
    person = person_of(opened)

    def work(progress: "Progress", _cancelled: Any) -> Payload:
        report = metrics.measure_faithfulness(
            opened.model, opened.prepared, settings, person=person, camera=opened.camera, progress=progress
        )
        return plain(report.as_dict()) | {"settings": panels.shown_settings(settings)}

    return workbench.jobs.start(work)


def person_of(opened: "Open") -> BoolArray | None:
    """(N,) the person's patches of an open triplet, where a mask is known."""
    if opened.person is None:
        return None
    person: BoolArray = opened.person >= HALF
    return person


@lru_cache(maxsize=1)
def _seeded_gradients() -> Payload:
    """Independent of triplet and weights, so once is enough; the maps of its batch are not drawn."""
    found: Payload = plain(metrics.reference_gradients().as_dict())
    for flow in found["flows"]:
        del flow["score"]
    return found


def _gradient_card(opened: "Open", settings: Settings) -> Payload:
    found: Payload = plain(metrics.triplet_gradients(opened.model, _encoding(opened), settings).as_dict())
    for flow in found["flows"]:
        flow["score"] = {m: rows[0] for m, rows in flow["score"].items()}
    return found | {"settings": panels.shown_settings(settings)}


def _variant_card(result: metrics.VariantResult) -> Payload:
    card: Payload = {"name": result.name, "lacking": result.lacking and panels.as_note(result.lacking)}
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
                "mask": result.analysis[m].mask.astype(int).tolist(),
                "entered": changes[m].entered.tolist(),
                "left": changes[m].left.tolist(),
                "overlap": plain(changes[m].overlap.as_dict()),
                "pooled_cosine": plain(changes[m].pooled_cosine),
                "missing": result.analysis[m].missing,
            }
            for m in MODALITIES
        },
    }


def _open(workbench: "Workbench", fields: Fields) -> tuple["Open", Settings]:
    """The triplet and settings that a request names; refused when the weights cannot run the variant."""
    opened, settings = workbench.opened(fields.get("key")), parse_settings(fields.get("settings"))
    if lacking := opened.model.net.sdtps.supports(get_variant(settings.variant)):
        raise Refusal(lacking)
    return opened, settings


def _encoding(opened: "Open") -> Encoding:
    """The tokens that are on show."""
    return encode(opened.model, opened.prepared, opened.camera)


def _analysis(opened: "Open", settings: Settings) -> Analysis:
    return decide(opened.model, _encoding(opened), settings, opened.notes, opened.missing)


def _score_range(analysis: Analysis) -> list[float]:
    """Where a bar of score parts begins and ends: the bounds of equation 3, or the range of the cosine sums."""
    if panels.score_mix(analysis.settings)["cosines"]:
        scores = np.concatenate([analysis[m].score for m in MODALITIES])
        return [min(0.0, float(scores.min())), max(0.0, float(scores.max()))]
    return [0.0, 1.0 + 2.0 * analysis.settings.beta]


def _modality(fields: Fields) -> str:
    modality = fields.get("modality")
    if modality not in list(MODALITIES):
        raise malformed()
    return str(modality)


def _index(value: object, size: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise malformed()
    return value


def _mapping(value: object) -> Fields:
    if not isinstance(value, Mapping):
        raise malformed()
    return value


TASKS = {
    "why.patch": patch,
    "why.token": token,
    "why.compare": compare,
    "why.sweep": sweep,
    "why.variants": variants,
    "why.gradients": gradients,
    "why.faithfulness": faithfulness,
}
