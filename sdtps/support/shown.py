"""How an analysis shows itself: a few lines of text here, and everything drawn by a module that is named from outside.

What draws stands to the right of the records, so `sdtps` says where it is when the package is imported, and it is
imported when it is first needed.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol


class Views(Protocol):
    """What draws an analysis; `sdtps.export.notebook` is it."""

    def page(self, analysis: Any) -> str | None:
        """The interactive grid as HTML for a notebook."""

    def show(self, analysis: Any, height: int) -> None:
        """Display it."""

    def figure(self, analysis: Any, **options: Any) -> Any:
        """A figure as a `Sheet`."""

    def save(self, analysis: Any, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write it to a file."""


_views: list[Callable[[], Views]] = []


def drawn_by(find: Callable[[], Views]) -> None:
    """Name what draws; `find` is called when it is needed."""
    _views[:] = [find]


class Shown:
    """The methods by which an analysis shows itself."""

    def _repr_html_(self) -> str | None:
        return _views[0]().page(self)

    def show(self, height: int = 860) -> None:
        """Show the interactive grid: in the cell of a notebook, else in a browser, from a file without a server.

        Args:
            height: of the frame in a notebook, in pixels.
        """
        _views[0]().show(self, height)

    def figure(self, **options: Any) -> Any:
        """A figure for a paper, as a `Sheet`; `sheet.save("figure.pdf")` writes it, a notebook shows it.

        Args:
            options: fields of `sdtps.figure.FigureOptions`, such as `width="cvpr-column"` or
                `columns=("input", "score", "kept")`.
        """
        return _views[0]().figure(self, **options)

    def save(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write it to a file.

        Args:
            path: its ending says what: `.zip` a bundle, `.html` a supplement, `.pdf`, `.svg` or `.png` a figure.
            options: fields of `sdtps.figure.FigureOptions`, for the figure, also of a bundle.
        """
        return _views[0]().save(self, path, **options)


def describe_analysis(analysis: Any) -> str:
    """A few lines: pictures, weights, settings, what each modality keeps, notes."""
    grid, settings, weights = analysis.grid, analysis.settings, analysis.weights
    knobs = "".join(f", {name} {value:g}" for name, value in settings.knobs.items())
    lines = [
        f"Analysis of {grid.rows}x{grid.cols} patches by {weights.name} ({weights.short_hash})",
        f"  {settings.variant}: sparse ratio {settings.sparse_ratio:g}, aggregation ratio {settings.aggr_ratio:g}, "
        f"beta {settings.beta:g}, tau {settings.tau:g}{knobs}",
        *(f"  {m}: {describe_trace(trace)}" for m, trace in analysis.traces.items()),
        *(f"  note: {note}" for note in analysis.notes),
    ]
    return "\n".join(lines)


def describe_trace(trace: Any) -> str:
    """One line on what a modality keeps."""
    if trace.soft:
        what = f"nothing dropped, effective number {trace.effective:.1f} of {len(trace.score)}"
    else:
        what = f"{trace.kept} of {len(trace.score)} patches kept"
    if trace.threshold is not None:
        what += f", threshold {trace.threshold:.4f}"
    if trace.aggregation_weights is not None:
        what += f", {len(trace.aggregation_weights)} aggregated tokens"
    return what + (" (no picture: the model got zeros)" if trace.missing else "")
