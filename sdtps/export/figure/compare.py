"""Second layout, A against B: what two settings, two weights or two variants keep of the same triplet."""

from collections.abc import Mapping

from matplotlib.axes import Axes

from sdtps.export.figure import cells
from sdtps.export.figure.grid import EDGE, GAP, HEAD_SIZE, LABEL, LINE, LINE_SIZE, NUMBER_SIZE, draw_banner, row_label
from sdtps.export.figure.sheet import Sheet
from sdtps.export.figure.style import ENTERED, GREY, LEFT, FigureOptions, on_a_page
from sdtps.images.encode import Pixels
from sdtps.metrics.overlap import overlap
from sdtps.panels import SLIDERS, settings_line
from sdtps.support.errors import InputError
from sdtps.types import MODALITIES, Analysis, BoolArray

HEAD, BANNER, FOOT, LEGEND = 0.27, 0.17, 0.115, 0.14
COLUMNS = ("input", "a", "b", "change")


def compare_figure(
    a: Analysis,
    b: Analysis,
    pixels: Mapping[str, Pixels | None],
    options: FigureOptions | None = None,
    labels: tuple[str, str] = ("A", "B"),
) -> Sheet:
    """A strip per modality: photograph, kept by A, kept by B, what changed and by how much.

    The modalities stand side by side where the width allows, else below each other.

    Args:
        a: one analysis.
        b: another one of the same triplet and grid.
        pixels: (H, W, 3) per modality as the model saw them.
        options: width, language, how dropped patches look.
        labels: heads of the two columns.
    """
    if a.grid != b.grid:
        text = "A and B have different grids and cannot be compared patch by patch."
        raise InputError("figure.grids", text)
    options = options or FigureOptions()
    words, grid = options.words(), a.grid
    picture = next(p.shape for p in pixels.values() if p is not None)
    aside = len(MODALITIES) if options.inches >= 5 else 1  # blocks in a row
    rows = len(MODALITIES) // aside
    block = (options.inches - 2 * EDGE) / aside
    width = (block - LABEL - GAP * len(COLUMNS)) / len(COLUMNS)
    height = width * picture[0] / picture[1]
    weak = next((x.weights for x in (a, b) if not x.weights.complete), None)
    top = EDGE + (BANNER if weak else 0)
    head = HEAD if aside == 1 else 0
    between = (HEAD if aside > 1 else 0) + FOOT + GAP
    besides = top + head + rows * between + LEGEND + (2 * LINE + 0.02) * options.provenance + EDGE
    full = width
    width, height = on_a_page(options.inches, (width, height), rows, besides + rows * height)
    margin, pitch = len(COLUMNS) * (full - width) / 2, between + height
    sheet = Sheet(options.inches, besides + rows * height)
    sheet.notes = options.notes()
    if weak:
        draw_banner(sheet, weak, words)
    heads = {name: ("", words[name]) for name in COLUMNS if name not in ("a", "b")}
    heads |= {"a": (labels[0], _difference(a, b)), "b": (labels[1], _difference(b, a))}
    for i, m in enumerate(MODALITIES):
        x = EDGE + margin + (i % aside) * block
        y = top + HEAD + (i // aside) * pitch
        row_label(sheet, x + LABEL, y + height / 2, m.upper())
        kept_a, kept_b = a[m].mask, b[m].mask
        for j, name in enumerate(COLUMNS):
            left = x + LABEL + j * (width + GAP)
            axes = sheet.axes(left, y, width, height)
            cells.photo(axes, pixels[m], grid)
            if name in ("a", "b"):
                cells.dropped(axes, kept_a if name == "a" else kept_b, grid, options.dropped, pixels[m])
            elif name == "change":
                _change(axes, kept_a, kept_b, a, options.dropped, pixels[m])
            cells.frame(axes, grid)
            middle = left + width / 2
            if i < aside or aside > 1:
                _head(sheet, middle, y, *heads[name], width)
            foot = y + height + 0.085
            if name in ("a", "b"):
                trace = (a if name == "a" else b)[m]
                sheet.text(middle, foot, f"{trace.kept}/{grid.patches}", NUMBER_SIZE, within=width)
            elif name == "change":
                agreement = overlap(a[m].keep, b[m].keep, grid.patches).jaccard
                counts = f"+{int((kept_b & ~kept_a).sum())} −{int((kept_a & ~kept_b).sum())}, Jaccard {agreement:.2f}"
                sheet.text(middle, foot, counts, NUMBER_SIZE, within=width + GAP)
    _legend(sheet, top + head + rows * pitch + 0.09, words)
    if options.provenance:
        for n, (label, analysis) in enumerate(zip(labels, (a, b), strict=True)):
            y = sheet.height - EDGE - 0.02 - (1 - n) * LINE
            _provenance(sheet, f"{label}: ", analysis, y)
    return sheet


def _change(axes: Axes, a: BoolArray, b: BoolArray, analysis: Analysis, how: str, pixels: Pixels | None) -> None:
    """Both kept: as it is; neither: dropped; the rest in two colours."""
    cells.dropped(axes, a | b, analysis.grid, how, pixels)
    for mask, color in ((b & ~a, ENTERED), (a & ~b, LEFT)):
        cells.region(axes, mask, analysis.grid, facecolor=color, alpha=0.75)
        cells.region(axes, mask, analysis.grid, facecolor="none", edgecolor="white", linewidth=0.5)


def _head(sheet: Sheet, x: float, y: float, label: str, text: str, width: float) -> None:
    """One line, or a label and what sets it apart."""
    if label:
        sheet.text(x, y - 0.15, label, HEAD_SIZE, within=width, weight="bold")
    sheet.text(x, y - 0.045, text, NUMBER_SIZE + 0.5 if label else HEAD_SIZE, within=width)


def _difference(ours: Analysis, theirs: Analysis) -> str:
    """What sets one side apart: the settings that differ, else the weights."""
    mine, others = ours.settings.as_dict(), theirs.settings.as_dict()
    parts = [f"{s.symbol}={mine[k]:g}" for k, s in SLIDERS.items() if mine[k] != others[k]]
    knobs, their_knobs = ours.settings.knobs, theirs.settings.knobs
    parts += [f"{k}={v:g}" for k, v in knobs.items() if their_knobs.get(k) != v]
    if mine["variant"] != others["variant"]:
        parts.append(str(mine["variant"]))
    if ours.weights.sha256 != theirs.weights.sha256:
        parts.append(ours.weights.short_hash)
    return ", ".join(parts)


def _legend(sheet: Sheet, y: float, words: Mapping[str, str]) -> None:
    x = EDGE + LABEL
    for color, word in ((ENTERED, "entered"), (LEFT, "left")):
        sheet.box(x, y - 0.06, 0.07, 0.07, facecolor=color, edgecolor="none")
        text = sheet.text(x + 0.1, y, words[word], NUMBER_SIZE + 0.5, align="left")
        x += 0.2 + 0.055 * max(4, 2 * len(text.get_text()) if not text.get_text().isascii() else len(text.get_text()))


def _provenance(sheet: Sheet, label: str, analysis: Analysis, y: float) -> None:
    s, w = analysis.settings, analysis.weights
    line = f"{label}{w.name} ({w.short_hash}) · {s.variant} · {settings_line(s)}"
    sheet.text(EDGE + LABEL, y, line, LINE_SIZE, within=sheet.width - 2 * EDGE - LABEL, color=GREY, align="left")
