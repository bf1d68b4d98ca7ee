"""The main layout: rows RGB, NIR, TIR; chosen columns; one numbered colour bar per column or per picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes

from sdtps import panels
from sdtps.export.figure import cells
from sdtps.export.figure.sheet import Sheet
from sdtps.export.figure.style import (
    GREY,
    INK,
    WARNING_FILL,
    WARNING_INK,
    WARNING_LINE,
    FigureOptions,
    about_line,
    on_a_page,
    short,
)
from sdtps.export.rendering import colour_table
from sdtps.images.encode import Pixels
from sdtps.metrics.flatness import flat_maps
from sdtps.panels import HEAT_PANELS, PANELS, Kind, Panel, maps_of, settings_line
from sdtps.types import MODALITIES, Analysis, FloatArray, Modality, ModalityTrace, WeightsReport
from sdtps.variants import get_variant

# Inches.
LABEL, GAP, EDGE = 0.17, 0.045, 0.02
HEAD, BAR, BAR_NUMBERS, CAPTION, LINE, BANNER, STRIP = 0.27, 0.055, 0.105, 0.14, 0.11, 0.17, 0.17
HEAD_SIZE, SYMBOL_SIZE, NUMBER_SIZE, LINE_SIZE = 7.5, 6.5, 5.5, 5.5
STEPS = 128  # of a colour bar
GROUP_COLORS = {1: "#f2b701", 2: "#3aa7e0", 3: "#ffffff", 4: "#b07cc6"}  # own modality, another, both, filled up


@dataclass(frozen=True)
class Layout:
    """Where everything goes, in inches.

    Attributes:
        cell: width and height of a picture.
        tops: upper edge of each row.
        bottom: lower edge of the last row of pictures.
        height: of the sheet.
        margin: left of the rows' names, where cells are narrower than the sheet would allow.
    """

    cell: tuple[float, float]
    tops: tuple[float, ...]
    bottom: float
    height: float
    margin: float = 0.0

    def place(self, row: int, col: int) -> tuple[float, float]:
        """Upper left corner of a picture."""
        return EDGE + self.margin + LABEL + col * (self.cell[0] + GAP), self.tops[row]


def layout_of(
    options: FigureOptions, columns: Sequence[str], aspect: float, banner: bool, missing: Sequence[bool]
) -> Layout:
    """Cells that fill the width unless the page is too short; the row of a missing modality is a strip."""
    width = (options.inches - 2 * EDGE - LABEL - (len(columns) - 1) * GAP) / len(columns)
    whole = _stacked(options, columns, (width, width * aspect), banner, missing)
    cell = on_a_page(options.inches, whole.cell, missing.count(False), whole.height)
    margin = len(columns) * (width - cell[0]) / 2
    return replace(_stacked(options, columns, cell, banner, missing), margin=margin)


def _stacked(
    options: FigureOptions, columns: Sequence[str], cell: tuple[float, float], banner: bool, missing: Sequence[bool]
) -> Layout:
    """Cells of a size, row below row."""
    bars = any(c in HEAT_PANELS for c in columns)
    per_map = bars and options.scale == "map"
    own_bar = BAR + BAR_NUMBERS + 0.02 if per_map else 0
    y = EDGE + HEAD + (BANNER if banner else 0)
    tops, bottom = [], y
    for gone in missing:
        tops.append(y)
        bottom = y + (STRIP if gone else cell[1])
        y = bottom + GAP + (0 if gone else own_bar)
    below = (BAR + BAR_NUMBERS + GAP if bars else 0) + (CAPTION if options.captions else 0)
    below += 2 * LINE + 0.02 if options.provenance else 0
    return Layout(cell, tuple(tops), bottom, bottom + below + EDGE)


def grid_figure(analysis: Analysis, pixels: Mapping[str, Pixels | None], options: FigureOptions | None = None) -> Sheet:
    """One analysis as a figure.

    Args:
        analysis: the numbers.
        pixels: (H, W, 3) per modality as the model saw them; None for a missing one.
        options: columns, width, colours, language.
    """
    options = options or FigureOptions()
    height, width = next(p.shape[:2] for p in pixels.values() if p is not None)
    columns = options.panels(analysis.settings.variant)
    bars = any(c in HEAT_PANELS for c in columns)
    banner = not analysis.weights.complete
    missing = [analysis[m].missing for m in MODALITIES]
    layout = layout_of(options, columns, height / width, banner, missing)
    sheet = Sheet(options.inches, layout.height)
    words = options.words()
    sheet.notes = options.notes()
    if banner:
        draw_banner(sheet, analysis.weights, words)
    drawing = Drawing(sheet, layout, analysis, pixels, options, ranges(analysis, options.scale))
    for col, panel in enumerate(columns):
        drawing.head(col, PANELS[panel])
        for row, m in enumerate(MODALITIES):
            if not missing[row]:
                drawing.cell(row, col, PANELS[panel], m)
        if options.scale == "shared" and panel in HEAT_PANELS:
            drawing.shared_bar(col, PANELS[panel])
        if options.captions:
            x, _ = layout.place(0, col)
            y = layout.bottom + (BAR + BAR_NUMBERS + GAP if bars else 0) + CAPTION - 0.03
            sheet.text(x + layout.cell[0] / 2, y, f"({chr(ord('a') + col)})", HEAD_SIZE)
    for row, m in enumerate(MODALITIES):
        x, y = layout.place(row, 0)
        high = STRIP if missing[row] else layout.cell[1]
        row_label(sheet, x, y + high / 2, m.upper(), high)
        if missing[row]:
            draw_strip(sheet, x, y, words["missing"])
    if options.provenance:
        draw_provenance(sheet, analysis, options)
    return sheet


def ranges(analysis: Analysis, scale: str) -> dict[str, dict[str, list[float]]]:
    """The range of each heat map by modality and panel: the same numbers as on the page."""
    if scale == "shared":
        return dict.fromkeys(analysis.traces, panels.shared_ranges(analysis.traces.values(), analysis.settings))
    return {m: panels.own_ranges(maps_of(analysis[m], m)) for m in analysis.traces}


def row_label(sheet: Sheet, x: float, y: float, label: str, room: float | None = None) -> None:
    """A modality's name, upwards, left of its row."""
    sheet.text(x - 0.055, y, label, HEAD_SIZE, rotation=90, weight="bold", within=room)


def draw_strip(sheet: Sheet, x: float, y: float, text: str) -> None:
    """The row of a missing modality, collapsed and hatched: its maps would look as if something had been seen."""
    width = sheet.width - EDGE - x
    sheet.box(x, y, width, STRIP, **cells.HATCH)
    white = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    sheet.text(x + width / 2, y + STRIP / 2, text, 6.0, vertical="center", within=width - 0.2, bbox=white)


def draw_banner(sheet: Sheet, weights: WeightsReport, words: Mapping[str, str]) -> None:
    """The warning on weights that were not, or not fully, trained."""
    sheet.box(
        EDGE, EDGE, sheet.width - 2 * EDGE, BANNER - 0.04, facecolor=WARNING_FILL, edgecolor=WARNING_LINE, linewidth=0.4
    )
    key = "banner.partial" if weights.trained else "banner.random"
    text = words[key].format(missing=len(weights.missing))
    y = EDGE + BANNER / 2 + 0.005
    sheet.text(sheet.width / 2, y, text, 6.5, within=sheet.width - 0.1, color=WARNING_INK, weight="bold")


def draw_provenance(sheet: Sheet, analysis: Analysis, options: FigureOptions) -> None:
    """Which weights and settings made the numbers, and whether colours are those of the bars."""
    settings, report, words = analysis.settings, analysis.weights, options.words()
    state = words["trained" if report.complete else "partial" if report.trained else "random"]
    weights = words["weights"].format(name=report.name, hash=report.short_hash, state=state)
    variant = words["variant"].format(name=get_variant(settings.variant).plain_name)
    line = f"{weights} · {variant} · {settings_line(settings)}"
    if options.rendering.blended and any(panel in HEAT_PANELS for panel in options.panels(settings.variant)):
        line += f" · {words['mixed']}"
    y = sheet.height - EDGE - 0.02
    for i, text in enumerate((line, about_line(report, options))):
        place = y - (1 - i) * LINE
        sheet.text(
            EDGE + LABEL, place, text, LINE_SIZE, within=sheet.width - 2 * EDGE - LABEL, color=GREY, align="left"
        )


def colour_bar(
    sheet: Sheet, x: float, y: float, width: float, limits: list[float], colormap: str, cuts: Sequence[float] = ()
) -> None:
    """A bar with a number at both ends, and in the middle where there is room; a mark at each threshold."""
    axes = sheet.axes(x, y, width, BAR)
    edges = np.linspace(0, 1, STEPS + 1)
    table = colour_table(colormap)[np.linspace(0, 255, STEPS).round().astype(int)] / 255
    cells.add_squares(axes, edges[:-1], np.zeros(STEPS), edges[1:], np.ones(STEPS), table)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    for cut in cuts:
        at = x + width * (cut - limits[0]) / (limits[1] - limits[0]) if limits[1] > limits[0] else x
        sheet.line((at, at), (y - 0.022, y + BAR + 0.012), "white", 1.6)
        sheet.line((at, at), (y - 0.022, y + BAR + 0.012), INK, 0.7)
    marks = [(x, limits[0], "left"), (x + width, limits[1], "right")]
    if width > 0.75 and limits[1] > limits[0]:
        marks.insert(1, (x + width / 2, (limits[0] + limits[1]) / 2, "center"))
    for place, value, align in marks:
        sheet.line((place, place), (y + BAR, y + BAR + 0.018))
        sheet.text(place, y + BAR + 0.095, short(value), NUMBER_SIZE, color=INK, align=align, within=width * 0.48)


@dataclass(frozen=True)
class Drawing:
    """Column heads and pictures of one analysis on its sheet; `limits` are ranges by modality and panel."""

    sheet: Sheet
    layout: Layout
    analysis: Analysis
    pixels: Mapping[str, Pixels | None]
    options: FigureOptions
    limits: Mapping[str, Mapping[str, list[float]]]

    def head(self, col: int, panel: Panel) -> None:
        """The panel's name, and its symbol or its number."""
        words, analysis = self.options.words(), self.analysis
        trace = analysis[MODALITIES[0]]
        weights, n = trace.aggregation_weights, analysis.grid.patches
        sizes = ", ".join(str(analysis[m].kept) for m in MODALITIES)
        effective = ", ".join(f"{analysis[m].effective:.0f}" for m in MODALITIES)
        lines = {
            "input": rf"${analysis.grid.rows}\times{analysis.grid.cols}$",
            "kept": rf"$K/N$ = {trace.kept}/{n}" if trace.groups is None else f"{sizes} / {n}",
            "weight": rf"$n_{{eff}}$ = {effective}" if trace.soft else "",
            "aggregation": "" if weights is None else rf"$N_c$ = {len(weights)}",
            "soft": rf"$\tau$ = {analysis.settings.tau:g}",
            "frequency": words["draws"].format(n=analysis.settings.draws),
        }
        x, y = self.layout.place(0, col)
        middle, room = x + self.layout.cell[0] / 2, self.layout.cell[0] + 0.6 * GAP
        second = lines.get(panel.name, f"${panel.symbols.get(analysis.settings.variant, panel.symbol)}$")
        self.sheet.text(middle, y - (0.15 if second else 0.045), words[panel.name], HEAD_SIZE, within=room)
        if second:
            self.sheet.text(middle, y - 0.045, second, SYMBOL_SIZE, within=room, color=INK)

    def cell(self, row: int, col: int, panel: Panel, modality: Modality) -> None:
        """One picture with its colour bar."""
        x, y = self.layout.place(row, col)
        width, height = self.layout.cell
        axes = self.sheet.axes(x, y, width, height)
        values = maps_of(self.analysis[modality], modality).get(panel.name)
        self._picture(axes, panel, modality, values)
        if tag := self._tag(panel, modality):
            look = {"facecolor": "black", "alpha": 0.62, "edgecolor": "none", "pad": 0.9}
            place = (x + 0.03, y + height - 0.035)
            self.sheet.text(*place, tag, 5.0, color="white", align="left", bbox=look, within=width - 0.05)
        if word := self._lacking(panel, modality, values):
            self.sheet.text(
                x + width / 2, y + height / 2, word, NUMBER_SIZE, color=GREY, vertical="center", within=width
            )
        cells.frame(axes, self.analysis.grid)
        if values is None:
            return
        limits, flat = self.limits[modality][panel.name], self._is_flat(panel, modality)
        if flat:
            words = self.options.words()["flat"].format(value=short(float(values[self.analysis[modality].keep[0]])))
            look = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.9}
            self.sheet.text(
                x + width / 2, y + height / 2, words, NUMBER_SIZE, vertical="center", within=width - 0.06, bbox=look
            )
        elif self.options.scale == "map":
            cuts = self._thresholds(panel, [self.analysis[modality]])
            colour_bar(self.sheet, x, y + height + 0.03, width, limits, self.options.colormap, cuts)

    def shared_bar(self, col: int, panel: Panel, *, marks: bool = True) -> None:
        """One colour bar below a column, with the threshold of each modality on the score's unless `marks` is off."""
        given = [m for m in MODALITIES if not self.analysis[m].missing]
        x, _ = self.layout.place(0, col)
        if maps_of(self.analysis[given[0]], given[0])[panel.name] is None:
            return
        limits = self.limits[MODALITIES[0]][panel.name]
        cuts = self._thresholds(panel, [self.analysis[m] for m in given]) if marks else []
        y = self.layout.bottom + 0.03
        colour_bar(self.sheet, x, y, self.layout.cell[0], limits, self.options.colormap, cuts)

    def _thresholds(self, panel: Panel, traces: Sequence[ModalityTrace]) -> list[float]:
        """The thresholds on the bar of the score."""
        cuts = [trace.threshold for trace in traces] if panel.name == "score" else []
        return [cut for cut in cuts if cut is not None]

    def _is_flat(self, panel: Panel, modality: Modality) -> bool:
        return flat_maps(self.analysis[modality], modality, self.analysis.settings).get(panel.name, False)

    def _tag(self, panel: Panel, modality: Modality) -> str:
        """What stands in the corner of a picture."""
        if cuts := self._thresholds(panel, [self.analysis[modality]]):
            return self.options.words()["threshold"].format(value=short(cuts[0]))
        if panel.other is None:
            return ""
        other = modality.others[panel.other]
        gone = self.analysis[other].missing
        return self.options.words()["no.picture" if gone else "to"].format(name=other.upper())

    def _picture(self, axes: Axes, panel: Panel, modality: Modality, values: FloatArray | None) -> None:
        grid, trace, pixels = self.analysis.grid, self.analysis[modality], self.pixels[modality]
        mask = trace.mask if panel.masked and values is not None and not trace.soft else None
        if values is not None:
            limits = self.limits[modality][panel.name]
            flat = self.options.scale == "map" and self._is_flat(panel, modality)
            cells.heat(axes, pixels, values, limits, self.options, grid, mask, flat=flat)
            if panel.other is not None and self.analysis[modality.others[panel.other]].missing:
                cells.hatch(axes, grid)
        else:
            cells.photo(axes, pixels, grid)
        if panel.kind is Kind.HEAT and values is None:
            cells.region(axes, np.ones(grid.patches, bool), grid, facecolor="white", alpha=0.8)
        if panel.kind is Kind.KEPT and not trace.soft:
            cells.dropped(axes, trace.mask, grid, self.options.dropped, pixels)
        elif mask is not None and self.options.rendering.blended:
            cells.dropped(axes, mask, grid, self.options.dropped, pixels)
        elif mask is not None:
            cells.contour(axes, mask, grid)
        if panel.kind is Kind.KEPT and trace.groups is not None:
            for group, color in GROUP_COLORS.items():
                cells.region(axes, trace.groups == group, grid, facecolor="none", edgecolor=color, linewidth=0.6)

    def _lacking(self, panel: Panel, modality: Modality, values: FloatArray | None) -> str:
        """What to say in a picture that cannot be shown."""
        without = panel.kind is Kind.KEPT and self.analysis[modality].soft
        return self.options.words()["absent"] if (panel.kind is Kind.HEAT and values is None) or without else ""
