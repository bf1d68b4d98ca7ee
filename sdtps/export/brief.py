"""An analysis in a few kilobytes, for readers who want to know what was kept and why rather than every number."""

from math import isfinite
from typing import Any

from sdtps.metrics.overlap import cross_modal_overlap
from sdtps.types import Analysis, ModalityTrace

BEST = 5
DIGITS = 4


def brief(analysis: Analysis) -> dict[str, Any]:
    """What is kept per modality, by which scores, how the modalities agree, and by which weights and settings."""
    report = analysis.weights
    return {
        "weights": {"name": report.name, "id": report.short_hash, "trained": report.complete},
        "settings": {name: _plain(value) for name, value in analysis.settings.as_dict().items()},
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        "camera": analysis.camera,
        "notes": [str(note) for note in analysis.notes],
        "modalities": {m: _modality(analysis, trace) for m, trace in analysis.traces.items()},
        "overlap": {
            pair: {"jaccard": _plain(found.jaccard), "corrected_for_chance": _plain(found.corrected)}
            for pair, found in cross_modal_overlap(analysis).items()
        },
    }


def _modality(analysis: Analysis, trace: ModalityTrace) -> dict[str, Any]:
    if trace.missing:
        return {"missing": True}
    columns = {"self": trace.self_attention, "predictor": trace.predictor, "score": trace.score}
    columns |= {f"cross_{other}": values for other, values in trace.cross_attention.items()}
    best = [
        {"patch": int(i), "row": int(i) // analysis.grid.cols, "col": int(i) % analysis.grid.cols}
        | {column: _plain(values[i]) for column, values in columns.items() if values is not None}
        for i in trace.keep[:BEST]
    ]
    blend = trace.aggregation_weights
    return {
        "missing": False,
        "kept": trace.kept,
        "of": analysis.grid.patches,
        "soft": trace.soft,  # then nothing is dropped, and `patches` is only a guide
        "patches": [int(i) for i in trace.keep],
        "lowest_kept_score": _plain(trace.score[trace.keep[-1]]),
        "best": best,
        "aggregated_tokens": None if blend is None else len(blend),
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "dtype") or isinstance(value, float):
        return round(float(value), DIGITS) if isfinite(value) else None
    return value
