"""The one table of panels and sliders: what is shown, in which order, from which numbers, by which equation.

Page, figure, comparison and exports read it; the browser receives it with the page. A panel is one entry in `table`
and its words in `web/static/texts` (`column.NAME`, `explain.NAME`), a slider one entry and `setting.NAME`.
"""

from sdtps.panels.panel import Bounds, Kind, Panel, Slider, markup
from sdtps.panels.ranges import Range, maps_of, own_ranges, score_bounds, score_weights, shared_ranges
from sdtps.panels.table import (
    HEAT_PANELS,
    PANELS,
    SDTPS_PANELS,
    SLIDERS,
    add_maps_of,
    panels_of,
    settings_line,
    use_selector_file,
)

__all__ = [
    "HEAT_PANELS",
    "PANELS",
    "SDTPS_PANELS",
    "SLIDERS",
    "Bounds",
    "Kind",
    "Panel",
    "Range",
    "Slider",
    "add_maps_of",
    "maps_of",
    "markup",
    "own_ranges",
    "panels_of",
    "score_bounds",
    "score_weights",
    "settings_line",
    "shared_ranges",
    "use_selector_file",
]
