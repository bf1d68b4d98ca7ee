"""Figures for papers: vector PDF and SVG with real text, PNG at any dpi. Matplotlib's object interface, no display.

Layouts, each a function that returns a `Sheet`: `grid_figure` (one analysis), `collection_figure` (several),
`compare_figure` (A against B) and `rank_figure` (queries and what was found). `Sheet.save` writes any format.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sdtps.export.figure.style import FORMATS, PRESETS, FigureOptions

if TYPE_CHECKING:
    from sdtps.export.figure.collection import Collected, collection_figure
    from sdtps.export.figure.compare import compare_figure
    from sdtps.export.figure.grid import grid_figure
    from sdtps.export.figure.ranks import RankedItem, RankedQuery, rank_figure
    from sdtps.export.figure.sheet import Sheet

# What draws is imported when it is asked for: Matplotlib and fontTools would make every start slower.
_HOMES = {
    "Collected": "collection",
    "collection_figure": "collection",
    "compare_figure": "compare",
    "grid_figure": "grid",
    "RankedItem": "ranks",
    "RankedQuery": "ranks",
    "rank_figure": "ranks",
    "Sheet": "sheet",
}

__all__ = [
    "FORMATS",
    "PRESETS",
    "Collected",
    "FigureOptions",
    "RankedItem",
    "RankedQuery",
    "Sheet",
    "collection_figure",
    "compare_figure",
    "grid_figure",
    "rank_figure",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
