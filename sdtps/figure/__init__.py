"""Figures for papers: vector PDF and SVG with real text, PNG at any dpi. Matplotlib's object interface, no display.

Three layouts, each a function that returns a `Sheet`: `grid_figure` (one analysis), `compare_figure` (A against B) and
`rank_figure` (queries and what was found). `Sheet.save` writes any format.
"""

from sdtps.figure.compare import compare_figure
from sdtps.figure.grid import FIGURE_PANELS, grid_figure
from sdtps.figure.ranks import RankedItem, RankedQuery, rank_figure
from sdtps.figure.sheet import FORMATS, Sheet
from sdtps.figure.style import PRESETS, FigureOptions

__all__ = [
    "FIGURE_PANELS",
    "FORMATS",
    "PRESETS",
    "FigureOptions",
    "RankedItem",
    "RankedQuery",
    "Sheet",
    "compare_figure",
    "grid_figure",
    "rank_figure",
]
