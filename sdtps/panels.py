"""Analysis → plain values for drawing: arrays, ranges, counts, notes, and the colour tables.

Whatever draws (the page, an exported page) reads this payload and computes nothing itself. Arrays travel as base64 of
their little-endian bytes, so a number on screen is the number of the analysis to the bit. The payload has two halves:
`moving` holds what a slider changes, `still` what it does not.
"""

import base64
import io
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Analysis, FloatArray, Modality, ModalityTrace, Settings, WeightsReport
from sdtps.variants import VARIANTS, Score, get_variant

SCHEMA = 1
PANELS = ("input", "self", "cross1", "cross2", "predictor", "score", "kept", "aggregation", "soft", "frequency")
COLOUR_MAPS = {"viridis": "viridis", "cividis": "cividis", "inferno": "inferno", "jet": "jet", "diverging": "RdBu_r"}

BLANK_URL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="  # one clear pixel

Pixels = NDArray[np.uint8]
Payload = dict[str, Any]
Range = list[float]


@lru_cache
def colour_table(name: str) -> Pixels:
    """(256, 3) colours of a map in `COLOUR_MAPS`."""
    from matplotlib import colormaps  # only here: importing this package must stay cheap

    table: Pixels = colormaps[COLOUR_MAPS[name]](np.arange(256), bytes=True)[:, :3]
    return table


def still(analysis: Analysis, pixels: Mapping[str, Pixels | None]) -> Payload:
    """What no slider changes: photographs, attention maps, predictor, grid, weights.

    Args:
        analysis: the numbers.
        pixels: (H, W, 3) per modality as the model saw them; None for a missing one.
    """
    height, width = next(p.shape[:2] for p in pixels.values() if p is not None)
    return {
        "schema": SCHEMA,
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        "size": [height, width],
        "weights": weights_card(analysis.weights),
        "modalities": {m: _still_modality(analysis[m], m, pixels[m]) for m in MODALITIES},
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
            "kept": first.kept,
            "tokens": None if weights is None else weights.shape[0],
            "draws": analysis.settings.draws,
        },
        "mix": score_mix(analysis.settings, with_predictor=first.predictor is not None),
        "ranges": shared_ranges(traces.values(), analysis.settings),
        "notes": [as_note(n) for n in analysis.notes],
        "modalities": {m: _moving_modality(t, matrix) for m, t in traces.items()},
    }


def merge(*halves: Payload) -> Payload:
    """One payload from its halves."""
    merged: Payload = {}
    for half in halves:
        modalities = merged.get("modalities", {})
        merged |= half
        merged["modalities"] = {m: modalities.get(m, {}) | half["modalities"][m] for m in half["modalities"]}
    return merged


def shown_settings(settings: Settings) -> Payload:
    """The settings a reader can change."""
    return {k: v for k, v in settings.as_dict().items() if k not in ("draws", "seed")}


def score_mix(settings: Settings, *, with_predictor: bool = True) -> Payload:
    """The weight of each part in the score; both cross maps have the same."""
    if get_variant(settings.variant).score is Score.COSINES:
        return {"predictor": 0.0, "self": 1.0, "cross": 1.0, "cosines": True}
    beta = settings.beta
    return {
        "predictor": 1 - 2 * beta if with_predictor else 0.0,
        "self": 2 * beta,
        "cross": beta,
        "cosines": False,
    }


def weights_card(report: WeightsReport) -> Payload:
    """What a caption says about the weights."""
    return {
        "name": report.name,
        "hash": report.short_hash,
        "sha256": report.sha256,
        "trained": report.trained,
        "complete": report.complete,
        "loaded": report.loaded,
        "missing": len(report.missing),
        "unexpected": len(report.unexpected),
        "notes": [as_note(n) for n in report.notes],
    }


def as_note(message: str) -> Payload:
    """A sentence with its code and values, so that a page can say it in another language."""
    if not isinstance(message, Message):
        return {"code": None, "values": {}, "text": str(message)}
    return {"code": message.code, "values": {k: _plain(v) for k, v in message.values.items()}, "text": str(message)}


def variant_cards() -> list[Payload]:
    """Name, label and sentence of each variant."""
    return [{"name": v.name, "label": v.label, "summary": v.summary} for v in VARIANTS.values()]


def photo_url(pixels: Pixels, *, quality: int | None = None) -> str:
    """The pixels as a data URL: lossless WebP, or JPEG when a quality is given (thumbnails)."""
    stream = io.BytesIO()
    image = Image.fromarray(pixels)
    if quality is None:
        # Smaller than PNG in less than half the time; without loss, quality says how hard to try.
        image.save(stream, "WEBP", lossless=True, quality=0, method=0)
    else:
        image.save(stream, "JPEG", quality=quality)
    kind = "webp" if quality is None else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(stream.getvalue()).decode()}"


def pack(array: NDArray[Any]) -> str:
    """Floats as little-endian float32, integers as int32, in base64."""
    kind = "<f4" if np.issubdtype(array.dtype, np.floating) else "<i4"
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


def pack_bytes(array: Pixels) -> str:
    """Bytes in base64."""
    return base64.b64encode(array.tobytes()).decode()


def still_maps(trace: ModalityTrace, modality: str) -> dict[str, FloatArray | None]:
    """(N,) heat maps that no slider changes, by panel; None where the weights lack one."""
    first, second = Modality(modality).others
    return {
        "self": trace.self_attention,
        "cross1": trace.cross_attention[first],
        "cross2": trace.cross_attention[second],
        "predictor": trace.predictor,
    }


def moving_maps(trace: ModalityTrace) -> dict[str, FloatArray | None]:
    """(N,) heat maps that a slider changes, by panel."""
    return {
        "score": trace.score,
        "soft": trace.soft_mask,
        "frequency": trace.selection_frequency,
        "aggregation": trace.aggregation_total,
    }


def map_ranges(maps: Mapping[str, FloatArray | None]) -> dict[str, Range]:
    """Each map's own range; blending weights start at 0."""
    return {
        name: [0.0 if name == "aggregation" else float(values.min()), float(values.max())]
        for name, values in maps.items()
        if values is not None
    }


def _still_modality(trace: ModalityTrace, modality: Modality, pixels: Pixels | None) -> Payload:
    first, second = modality.others
    maps = still_maps(trace, modality)
    return {
        "missing": trace.missing,
        "photo": None if pixels is None else photo_url(pixels),
        "others": [str(first), str(second)],
        "raw_self": pack(trace.raw_self_attention),
        "raw_cross1": pack(trace.raw_cross_attention[first]),
        "raw_cross2": pack(trace.raw_cross_attention[second]),
        "token_norm": pack(trace.token_norm),
        "still_ranges": map_ranges(maps),
        **{name: None if values is None else pack(values) for name, values in maps.items()},
    }


def _moving_modality(trace: ModalityTrace, matrix: bool) -> Payload:
    maps = moving_maps(trace)
    cut = float(trace.score[trace.keep[-1]])
    payload: Payload = {
        **{name: None if values is None else pack(values) for name, values in maps.items()},
        "rank": pack(trace.rank),
        "cut": cut,
        "margin": cut - float(trace.score[trace.drop[0]]) if len(trace.drop) else None,
        "ranges": {"aggregation": [0.0, 0.0]} | map_ranges(maps),
        "matrix": None,
    }
    if matrix:
        payload["matrix"] = _matrix(trace)
    return payload


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


def shared_ranges(traces: Iterable[ModalityTrace], settings: Settings) -> dict[str, Range]:
    """One range per column for the three modalities; where the equation bounds a map, its bounds."""
    traces = list(traces)
    unit = [0.0, 1.0]
    fused = get_variant(settings.variant).score is Score.FUSED
    # Without a predictor its share of the score is 0.
    top = 4 * settings.beta + (0.0 if traces[0].predictor is None else 1 - 2 * settings.beta)
    lows, highs = ([float(f(t.score)) for t in traces] for f in (np.min, np.max))
    totals = [float(t.aggregation_total.max()) for t in traces if t.aggregation_total is not None]
    return {
        **dict.fromkeys(("self", "cross1", "cross2", "predictor", "frequency"), unit),
        "score": [0.0, top] if fused else [min(lows), max(highs)],
        "soft": [0.0, max(float(t.soft_mask.max()) for t in traces)],
        "aggregation": [0.0, max(totals, default=0.0)],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return as_note(value)
    return value if isinstance(value, int | float | str) else str(value)
