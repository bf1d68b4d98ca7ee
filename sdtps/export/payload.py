"""An analysis as what a page draws: arrays, ranges, counts, notes, and the colour tables.

Whatever draws (the page, an exported page) reads this payload and computes nothing itself. Arrays travel as base64 of
their little-endian bytes, so a number on screen is the number of the analysis to the bit. The payload has two halves:
`moving` holds what a slider changes, `still` what it does not.
"""

import base64
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps import panels
from sdtps.export.combinations import looks_of
from sdtps.export.rendering import COLOUR_MAPS, OPACITY, OVER, brightness, colour_table
from sdtps.images.edges import layer_url, line_drawing, relief
from sdtps.images.encode import Pixels, photo_url
from sdtps.metrics.flatness import flat_maps
from sdtps.models.reid import LoadedModel
from sdtps.support.messages import as_note
from sdtps.types import MODALITIES, Analysis, Grid, Modality, ModalityTrace, Payload, Settings, WeightsReport
from sdtps.variants import VARIANTS, Score, get_variant
from sdtps.web import static

SCHEMA = 2
NAMES_SHOWN = 5  # tensors that a report names
JOINED = ("maps", "ranges", "flat")  # by panel: a part in each half
MOST_NUMBERS = 64  # of a fusion that travel with every analysis


def still(analysis: Analysis, pixels: Mapping[str, Pixels | None], *, photos: bool = True) -> Payload:
    """What no slider changes: photographs and their lines, attention maps, predictor, grid, weights.

    Args:
        analysis: the numbers.
        pixels: (H, W, 3) per modality as the model saw them; None for a missing one.
        photos: False leaves out the pictures, where the page has them already.
    """
    height, width = next(p.shape[:2] for p in pixels.values() if p is not None)
    return {
        "schema": SCHEMA,
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        "size": [height, width],
        "weights": weights_card(analysis.weights),
        "modalities": {m: _still_modality(analysis, m, pixels[m] if photos else None) for m in MODALITIES},
        "combinations": [combination_card(name, looks) for name, looks in looks_of(analysis).items()],
    }


def combination_card(name: str, looks: Mapping[str, NDArray[np.float32]]) -> Payload:
    """Where one of HDM's combinations looks: maps of its modalities, their shares, and that of the global vectors."""
    return {
        "name": name.upper(),
        "maps": {m: pack(part[1:]) for m, part in looks.items()},
        "shares": {m: float(part.sum()) for m, part in looks.items()},
        "globals": float(sum(part[0] for part in looks.values())),
        "max": float(max(part[1:].max() for part in looks.values())),
    }


def moving(analysis: Analysis, *, matrix: bool = False) -> Payload:
    """What a slider changes: score, ranks, aggregation, soft decision, ranges, counts, notes.

    Args:
        analysis: the numbers.
        matrix: with the (N_c, K) aggregation weights, which are large.
    """
    traces = {m: analysis[m] for m in MODALITIES}
    first = traces[Modality.RGB]
    weights = first.aggregation_weights
    return {
        "settings": shown_settings(analysis.settings),
        "counts": {
            "patches": analysis.grid.patches,
            "kept": first.kept,  # of the first modality; each has its own below
            "tokens": None if weights is None else weights.shape[0],
            "draws": analysis.settings.draws,
        },
        "mix": score_mix(analysis.settings, with_predictor=first.predictor is not None),
        "fusion": {name: values.tolist() for name, values in analysis.fusion.items() if values.size <= MOST_NUMBERS},
        "ranges": panels.shared_ranges(traces.values(), analysis.settings),
        "notes": [as_note(n) for n in analysis.notes],
        "modalities": {m: _moving_modality(analysis, m, matrix) for m in traces},
    }


def merge(still_half: Payload, moving_half: Payload) -> Payload:
    """One payload from its halves."""
    modalities = {}
    for m, first in still_half["modalities"].items():
        second = moving_half["modalities"][m]
        joined = {name: first[name] | second[name] for name in JOINED}
        modalities[m] = first | second | joined
    return still_half | moving_half | {"modalities": modalities}


def shown_settings(settings: Settings) -> Payload:
    """The settings a reader can change."""
    return {k: v for k, v in settings.as_dict().items() if k not in ("draws", "seed")}


def score_mix(settings: Settings, *, with_predictor: bool = True) -> Payload:
    """The weight of each part in the score; both cross maps have the same."""
    weights = panels.score_weights(settings)
    return {
        "predictor": weights.predictor if with_predictor else 0.0,
        "self": weights.self_attention,
        "cross": weights.cross_attention,
        "cosines": get_variant(settings.variant).score is Score.COSINES,
    }


def weights_card(report: WeightsReport) -> Payload:
    """What a caption says about the weights."""
    return {
        "name": report.name,
        "family": report.family,
        "hash": report.short_hash,
        "sha256": report.sha256,
        "trained": report.trained,
        "complete": report.complete,
        "loaded": report.loaded,
        "missing": len(report.missing),
        "unexpected": len(report.unexpected),
        "notes": [as_note(n) for n in report.notes],
        "about": {language: dict(parts) for language, parts in report.about.items()},
    }


def model_card(model: LoadedModel, key: str) -> Payload:
    """Everything a page knows about loaded weights."""
    net, grid = model.net, model.net.backbone.grid
    lacking = {name: net.supports(variant) for name, variant in VARIANTS.items()}
    return {
        "id": key,
        "grid": {"rows": grid.rows, "cols": grid.cols},
        "size": list(net.backbone.input_size),
        "device": model.device.type,
        "variant": net.config.variant,
        "lacking": {name: why and as_note(why) for name, why in lacking.items()},
        "weights": weights_card(model.weights),
        "report": report_card(model.weights),
    }


def report_card(report: WeightsReport) -> Payload:
    """What the dialog about weights shows."""
    return {
        "family": report.family,
        "facts": dict(report.facts),
        "settings": dict(report.settings),
        "absent": list(report.absent),
        "assumed": [as_note(n) for n in report.assumed],
        "notes": [as_note(n) for n in report.notes],
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


def tables() -> Payload:
    """What does not depend on any analysis: panels, sliders, variants, colours."""
    return {
        "panels": [panel.as_dict() for panel in panels.PANELS.values()],
        "sliders": [slider.as_dict() for slider in panels.SLIDERS.values()],
        "variants": variant_cards(),
        "over": {"choices": list(OVER), "opacity": OPACITY},
        "colour_tables": {name: pack_bytes(colour_table(name)) for name in COLOUR_MAPS},
    }


def page_texts() -> dict[str, dict[str, str]]:
    """The page's texts; panels and knobs of a selector of one's own bring their words with them."""
    own = {f"column.{name}": panel.title or name for name, panel in panels.PANELS.items()}
    own |= {f"explain.{name}": panel.title or name for name, panel in panels.PANELS.items()}
    own |= {f"setting.{knob.name}": knob.name for v in VARIANTS.values() for knob in v.knobs}
    own |= {f"variant.{v.name}": v.summary for v in VARIANTS.values()}
    own |= {f"variant.title.{v.name}": v.title or v.name for v in VARIANTS.values()}
    return {language: own | texts for language, texts in static.texts().items()}


def variant_cards() -> list[Payload]:
    """Name, label and sentence of each variant."""
    return [
        {
            "name": v.name,
            "label": v.label,
            "summary": v.summary,
            "selector": v.selector,
            "soft": v.soft,
            "panels": list(panels.panels_of(v.name)),
            "reads": list(v.reads),
            "knobs": [asdict(knob) | {"log": False} for knob in v.knobs],
        }
        for v in VARIANTS.values()
    ]


def pack(array: NDArray[Any]) -> str:
    """Floats as little-endian float32, integers as int32, in base64."""
    kind = "<f4" if np.issubdtype(array.dtype, np.floating) else "<i4"
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def pack_bytes(array: Pixels) -> str:
    """Bytes in base64."""
    return base64.b64encode(array.tobytes()).decode()


def picture_card(pixels: Pixels | None, grid: Grid) -> Payload:
    """A photograph, what of it is drawn over maps, and how bright its patches are."""
    if pixels is None:
        return {"photo": None, "layers": None, "brightness": None}
    return {
        "photo": photo_url(pixels),
        "layers": {"lines": layer_url(line_drawing(pixels)), "relief": layer_url(relief(pixels))},
        "brightness": pack(brightness(pixels, grid)),
    }


def _still_modality(analysis: Analysis, modality: Modality, pixels: Pixels | None) -> Payload:
    trace = analysis[modality]
    raw = {name: panel.raw(trace, modality) for name, panel in panels.PANELS.items() if panel.raw is not None}
    return {
        "missing": trace.missing,
        **picture_card(pixels, analysis.grid),
        "others": [str(other) for other in modality.others],
        "raw": {name: pack(values) for name, values in raw.items()},
        "token_norm": pack(trace.token_norm),
        **_maps(analysis, modality, moving=False),
    }


def _moving_modality(analysis: Analysis, modality: Modality, matrix: bool) -> Payload:
    trace = analysis[modality]
    cut = trace.threshold
    return {
        **_maps(analysis, modality, moving=True),
        "rank": pack(trace.rank),
        "kept": trace.kept,
        "cut": cut,
        "margin": cut - float(trace.score[trace.drop[0]]) if cut is not None and len(trace.drop) else None,
        "matrix": _matrix(trace) if matrix else None,
        "groups": None if trace.groups is None else pack(trace.groups),
        "weight_range": None if trace.weights is None else [float(trace.weights.min()), float(trace.weights.max())],
        "effective": trace.effective,
        "numbers": {name: values.tolist() for name, values in trace.numbers.items()},
    }


def _maps(analysis: Analysis, modality: Modality, *, moving: bool) -> Payload:
    """The maps that the variant has, the range of each, and whether it is flat."""
    there = panels.panels_of(analysis.settings.variant)
    found = panels.maps_of(analysis[modality], modality, moving=moving)
    maps = {name: values for name, values in found.items() if name in there}
    packed = {name: None if values is None else pack(values) for name, values in maps.items()}
    flat = flat_maps(analysis[modality], modality, analysis.settings, moving=moving)
    return {
        "maps": packed,
        "ranges": panels.own_ranges(maps),
        "flat": {name: yes for name, yes in flat.items() if name in maps},
    }


def _matrix(trace: ModalityTrace) -> Payload | None:
    """The weights of each branch, and the largest weight of a patch in each aggregated token over all branches."""
    by_patch = trace.aggregation_by_patch  # (N_c, N)
    if trace.aggregation_weights is None or by_patch is None or not len(by_patch):
        return None
    branches = [(trace.keep, trace.aggregation_weights)]
    if trace.dense_keep is not None and trace.dense_aggregation_weights is not None:
        branches.append((trace.dense_keep, trace.dense_aggregation_weights))
    return {
        "rows": len(by_patch),
        "token_max": pack(by_patch.max(1)),
        "max": float(by_patch.max()),
        "branches": [
            {"keep": pack(keep), "weights": pack(weights), "max": float(weights.max())} for keep, weights in branches
        ],
    }
