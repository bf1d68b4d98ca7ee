"""Third layout, rank lists: three rows per query, what was found in order, green for right and red for wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdtps.export.figure import cells
from sdtps.export.figure.grid import EDGE, HEAD_SIZE, LABEL, NUMBER_SIZE, row_label
from sdtps.export.figure.sheet import Sheet
from sdtps.export.figure.style import GREY, RIGHT, WRONG, FigureOptions, on_a_page
from sdtps.images.encode import Pixels
from sdtps.types import MODALITIES, Grid

HEAD, GAP, QUERY_GAP, FOOT, BETWEEN = 0.16, 0.05, 0.08, 0.11, 0.05
BORDER = 1.1  # points
VERDICTS = {True: (RIGHT, "✓"), False: (WRONG, "×"), None: (GREY, "")}  # not by colour alone


@dataclass(frozen=True)
class RankedItem:
    """One gallery entry: its pictures, whether it is the query's person (None: not known), and its distance."""

    pixels: Mapping[str, Pixels | None]
    match: bool | None
    distance: float


@dataclass(frozen=True)
class RankedQuery:
    """A query and what was found for it, nearest first."""

    pixels: Mapping[str, Pixels | None]
    found: Sequence[RankedItem]
    label: str = ""


def rank_figure(queries: Sequence[RankedQuery], options: FigureOptions | None = None, depth: int = 10) -> Sheet:
    """Rank lists as a figure.

    Args:
        queries: one block of three rows each.
        options: width and language.
        depth: gallery entries per query.
    """
    options = options or FigureOptions()
    if not queries:
        raise ValueError("There is no query to draw.")
    depth = min(depth, max(len(q.found) for q in queries))
    words = options.words()
    shape = next(p.shape for q in queries for p in q.pixels.values() if p is not None)
    width = (options.inches - 2 * EDGE - LABEL - QUERY_GAP - depth * GAP) / (depth + 1)
    height = width * shape[0] / shape[1]
    rows, besides = len(MODALITIES) * len(queries), (len(MODALITIES) - 1) * GAP / 2 + FOOT
    around = EDGE + HEAD + len(queries) * besides + (len(queries) - 1) * BETWEEN + EDGE
    full = width
    width, height = on_a_page(options.inches, (width, height), rows, around + rows * height)
    block = len(MODALITIES) * height + besides
    sheet = Sheet(options.inches, around + rows * height)
    sheet.notes = options.notes()
    first = EDGE + LABEL + (depth + 1) * (full - width) / 2

    def left(rank: int) -> float:
        return first + width + QUERY_GAP + GAP + rank * (width + GAP)

    y = EDGE + HEAD - 0.045
    sheet.text(first + width / 2, y, words["query"], HEAD_SIZE, within=width + GAP)
    for rank in range(depth):
        label = words["rank"].format(n=rank + 1) if width > 0.42 else str(rank + 1)
        sheet.text(left(rank) + width / 2, y, label, HEAD_SIZE, within=width + GAP)
    for i, query in enumerate(queries):
        top = EDGE + HEAD + i * (block + BETWEEN)
        for j, m in enumerate(MODALITIES):
            y = top + j * (height + GAP / 2)
            row_label(sheet, first, y + height / 2, m.upper())
            _picture(sheet, first, y, width, height, query.pixels[m], None)
            for rank, item in enumerate(query.found[:depth]):
                _picture(sheet, left(rank), y, width, height, item.pixels[m], item.match)
        foot = top + block - 0.03
        if query.label:
            sheet.text(first + width / 2, foot, query.label, NUMBER_SIZE, within=width + GAP)
        for rank, item in enumerate(query.found[:depth]):
            color, mark = VERDICTS[item.match]
            text = f"{mark} {item.distance:.2f}".strip()
            sheet.text(left(rank) + width / 2, foot, text, NUMBER_SIZE, color=color, within=width + GAP)
    return sheet


def _picture(
    sheet: Sheet, x: float, y: float, width: float, height: float, pixels: Pixels | None, match: bool | None
) -> None:
    grid = Grid(1, 1)
    axes = sheet.axes(x, y, width, height)
    cells.photo(axes, pixels, grid)
    if match is None:
        cells.frame(axes, grid)
    else:
        cells.frame(axes, grid, RIGHT if match else WRONG, BORDER)
