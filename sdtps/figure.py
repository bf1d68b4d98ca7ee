"""`sdtps.export.figure` under its name of the first edition, for programs that import it."""

from sdtps.export.figure import FigureOptions, Sheet, compare_figure, grid_figure, rank_figure

__all__ = ["FigureOptions", "Sheet", "compare_figure", "grid_figure", "rank_figure"]
