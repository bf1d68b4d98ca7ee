"""Which maps are flat: stretched over a whole colour bar they would show noise as if it were structure."""

from sdtps.panels import PANELS, Bounds, Panel, maps_of, score_bounds
from sdtps.types import FloatArray, ModalityTrace, Settings
from sdtps.variants import Score, get_variant

FLAT_SHARE = 0.01  # of what a map can have: a map that varies less is flat
COSINES_SPAN = 6.0  # of the sum of three cosines


def flat_maps(
    trace: ModalityTrace, modality: str, settings: Settings, *, moving: bool | None = None
) -> dict[str, bool]:
    """Which maps are flat: they vary by less than 1 % of what they can have, so stretching them would show noise.

    A panel that darkens dropped patches is judged by the kept ones.
    """
    maps = maps_of(trace, modality, moving=moving)
    predictor = trace.predictor is not None
    return {
        name: is_flat(values[trace.mask] if PANELS[name].masked else values, PANELS[name], settings, predictor)
        for name, values in maps.items()
        if values is not None
    }


def is_flat(values: FloatArray, panel: Panel, settings: Settings, with_predictor: bool = True) -> bool:
    """Whether the values vary by less than 1 % of what this panel's can."""
    varies = float(values.max()) - float(values.min())
    return varies <= 0 or varies < FLAT_SHARE * span_of(panel, float(values.max()), settings, with_predictor)


def span_of(panel: Panel, largest: float, settings: Settings, with_predictor: bool = True) -> float:
    """The widest range that a panel's values can have; what nothing bounds above is measured by its largest value."""
    bounds = panel.bounds_of.get(settings.variant, panel.bounds)
    if bounds is Bounds.UNIT:
        return 1.0
    variant = get_variant(settings.variant)
    if bounds is not Bounds.SCORE or variant.selector != "sdtps":
        return abs(largest)
    if variant.score is Score.COSINES:
        return COSINES_SPAN
    low, high = score_bounds(settings, [], with_predictor)
    return high - low
