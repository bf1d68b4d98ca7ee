"""Fifth layout: several image sets below one another, with chosen rows and one colour bar per column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sdtps.export.figure.grid import (
    BANNER,
    BAR,
    BAR_NUMBERS,
    EDGE,
    GAP,
    HEAD,
    LABEL,
    LINE,
    Drawing,
    Layout,
    draw_banner,
    draw_provenance,
    ranges,
    row_label,
)
from sdtps.export.figure.sheet import Sheet
from sdtps.export.figure.style import FigureOptions
from sdtps.images.encode import Pixels
from sdtps.panels import HEAT_PANELS, PANELS
from sdtps.types import MODALITIES, Analysis

BETWEEN = 0.09  # inches between two sets
Limits = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Collected:
    """One image set of a collection: its numbers and its pictures."""

    analysis: Analysis
    pixels: Mapping[str, Pixels | None]


def collection_figure(
    sets: Sequence[Collected], options: FigureOptions | None = None, rows: Sequence[str] = MODALITIES
) -> Sheet:
    """Several image sets as one figure.

    Args:
        sets: by one model, from top to bottom.
        options: columns, width, colours, language; every column has one colour bar for all sets.
        rows: the modalities to draw of each set.
    """
    if not sets or not rows:
        raise ValueError("There is nothing to draw; collect at least one image set and one row.")
    options = replace(options or FigureOptions(), scale="shared")
    first = sets[0].analysis
    columns = options.panels(first.settings.variant)
    bars = any(c in HEAT_PANELS for c in columns)
    shape = next(p.shape for one in sets for p in one.pixels.values() if p is not None)
    width = (options.inches - 2 * EDGE - LABEL - (len(columns) - 1) * GAP) / len(columns)
    height = width * shape[0] / shape[1]
    banner = not first.weights.complete
    top = EDGE + HEAD + (BANNER if banner else 0)
    block = len(rows) * (height + GAP) - GAP
    bottom = top + len(sets) * (block + BETWEEN) - BETWEEN
    total = bottom + (BAR + BAR_NUMBERS + GAP if bars else 0) + (2 * LINE + 0.02 if options.provenance else 0) + EDGE
    sheet = Sheet(options.inches, total)
    sheet.notes = options.notes()
    if banner:
        draw_banner(sheet, first.weights, options.words())
    limits = _common([ranges(one.analysis, "shared") for one in sets])
    for number, one in enumerate(sets):
        start = top + number * (block + BETWEEN)
        tops = tuple(start + max(0, _row(rows, m)) * (height + GAP) for m in MODALITIES)
        drawing = Drawing(
            sheet, Layout((width, height), tops, bottom, total), one.analysis, one.pixels, options, limits
        )
        _draw(drawing, columns, rows, heads=number == 0, last=number == len(sets) - 1)
    if options.provenance:
        draw_provenance(sheet, first, options)
    return sheet


def _draw(drawing: Drawing, columns: Sequence[str], rows: Sequence[str], *, heads: bool, last: bool) -> None:
    high = drawing.layout.cell[1]
    for col, panel in enumerate(columns):
        if heads:
            upper = replace(drawing, layout=replace(drawing.layout, tops=(min(drawing.layout.tops),) * 3))
            upper.head(col, PANELS[panel])
        for i, m in enumerate(MODALITIES):
            if m in rows and not drawing.analysis[m].missing:
                drawing.cell(i, col, PANELS[panel], m)
        if last and panel in HEAT_PANELS:
            drawing.shared_bar(col, PANELS[panel], marks=False)  # a threshold is one set's, the bar is all sets'
    for i, m in enumerate(MODALITIES):
        if m in rows:
            x, y = drawing.layout.place(i, 0)
            row_label(drawing.sheet, x, y + high / 2, m.upper(), high)


def _row(rows: Sequence[str], modality: str) -> int:
    return list(rows).index(modality) if modality in rows else -1


def _common(each: Sequence[Mapping[str, Mapping[str, list[float]]]]) -> Limits:
    """One range per modality and panel that holds those of all sets."""
    return {
        m: {
            panel: [min(one[m][panel][0] for one in each), max(one[m][panel][1] for one in each)]
            for panel in each[0][m]
        }
        for m in each[0]
    }
