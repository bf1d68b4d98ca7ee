"""The numbers of each panel, and the range that its colour bar has."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from sdtps.panels.panel import Bounds, Panel
from sdtps.panels.table import HEAT_PANELS, PANELS
from sdtps.types import MODALITIES, FloatArray, Modality, ModalityTrace, Settings
from sdtps.variants import Score, get_variant

if TYPE_CHECKING:
    from sdtps.algorithm.scoring import ScoreWeights

Range = list[float]


def maps_of(trace: ModalityTrace, modality: str, *, moving: bool | None = None) -> dict[str, FloatArray | None]:
    """(N,) heat maps of a trace by panel, None where the weights lack one.

    Args:
        trace: the numbers.
        modality: of the trace.
        moving: only those that a slider changes, or only those that none does; all by default.
    """
    return {
        name: panel.values(trace, Modality(modality))
        for name, panel in HEAT_PANELS.items()
        if panel.values is not None and moving in (None, bool(panel.sliders))
    }


def own_ranges(maps: Mapping[str, FloatArray | None]) -> dict[str, Range]:
    """Each map's own range."""
    return {
        name: [0.0 if PANELS[name].own_zero else float(values.min()), float(values.max())]
        for name, values in maps.items()
        if values is not None
    }


def shared_ranges(traces: Iterable[ModalityTrace], settings: Settings) -> dict[str, Range]:
    """One range per panel for the three modalities; where the equation bounds a map, its bounds."""
    each = [maps_of(trace, m) for trace, m in zip(traces, MODALITIES, strict=True)]
    return {name: _shared(panel, [maps[name] for maps in each], each, settings) for name, panel in HEAT_PANELS.items()}


def _shared(
    panel: Panel, maps: list[FloatArray | None], each: list[dict[str, FloatArray | None]], settings: Settings
) -> Range:
    there = [values for values in maps if values is not None]
    bounds = panel.bounds_of.get(settings.variant, panel.bounds)
    if bounds is Bounds.UNIT:
        return [0.0, 1.0]
    if bounds is Bounds.FREE:
        lows, highs = ([float(f(values)) for values in there] for f in (np.min, np.max))
        return [min(lows, default=0.0), max(highs, default=0.0)]
    if bounds is Bounds.FROM_ZERO:
        return [0.0, max((float(values.max()) for values in there), default=0.0)]
    return score_bounds(settings, there, each[0]["predictor"] is not None)


def score_weights(settings: Settings) -> "ScoreWeights":
    """The weight of each part in the score."""
    from sdtps.algorithm.scoring import ScoreWeights  # brings torch, which the table itself does without

    if get_variant(settings.variant).score is Score.COSINES:
        return ScoreWeights(0.0, 1.0, 1.0)
    return ScoreWeights.fused(settings.beta)


def score_bounds(settings: Settings, scores: list[FloatArray], with_predictor: bool = True) -> Range:
    """The bounds of equation 3; for the plain sum of cosines, which it does not bound, what there is."""
    variant = get_variant(settings.variant)
    if variant.score is Score.COSINES or variant.selector != "sdtps":
        return [min(float(s.min()) for s in scores), max(float(s.max()) for s in scores)]
    weights = score_weights(settings)
    # Without a predictor its share of the score is 0.
    return [0.0, weights.self_attention + 2 * weights.cross_attention + (weights.predictor if with_predictor else 0.0)]
