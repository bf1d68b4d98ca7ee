"""The main layout: rows RGB, NIR, TIR; chosen columns; one numbered colour bar per column or per picture."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from sdtps import panels
from sdtps.export.figure import cells
from sdtps.export.figure.sheet import Sheet
from sdtps.export.figure.style import GREY, INK, WARNING_FILL, WARNING_INK, WARNING_LINE, FigureOptions, short
from sdtps.export.payload import colour_table
from sdtps.images.encode import Pixels
from sdtps.panels import HEAT_PANELS, PANELS, Kind, Panel, maps_of, settings_line
from sdtps.types import MODALITIES, Analysis, FloatArray, Modality, WeightsReport

# Inches.
LABEL, GAP, EDGE = 0.17, 0.045, 0.02
HEAD, BAR, BAR_NUMBERS, CAPTION, LINE, BANNER = 0.27, 0.045, 0.105, 0.14, 0.11, 0.17
HEAD_SIZE, SYMBOL_SIZE, NUMBER_SIZE, LINE_SIZE = 7.5, 6.5, 5.5, 5.5
STEPS = 64  # of a colour bar
GROUP_COLORS = {1: "#f2b701", 2: "#3aa7e0", 3: "#ffffff", 4: "#b07cc6"}  # own modality, another, both, filled up


@dataclass(frozen=True)
class Layout:
    """Where everything goes, in inches.

    Attributes:
        cell: width and height of a picture.
        top: upper edge of the first row.
        pitch: from one row to the next.
        height: of the sheet.
    """

    cell: tuple[float, float]
    top: float
    pitch: float
    height: float

    def place(self, row: int, col: int) -> tuple[float, float]:
        """Upper left corner of a picture."""
        return EDGE + LABEL + col * (self.cell[0] + GAP), self.top + row * self.pitch

    @property
    def bottom(self) -> float:
        """Lower edge of the last row of pictures."""
        return self.top + (len(MODALITIES) - 1) * self.pitch + self.cell[1]


def layout_of(options: FigureOptions, count: int, aspect: float, banner: bool, bars: bool) -> Layout:
    """So many columns of cells that fill the width."""
    width = (options.inches - 2 * EDGE - LABEL - (count - 1) * GAP) / count
    height = width * aspect
    per_map = bars and options.scale == "map"
    pitch = height + GAP + (BAR + BAR_NUMBERS + 0.02 if per_map else 0)
    top = EDGE + HEAD + (BANNER if banner else 0)
    below = (BAR + BAR_NUMBERS + GAP if bars else 0) + (CAPTION if options.captions else 0)
    below += LINE + 0.02 if options.provenance else 0
    return Layout((width, height), top, pitch, top + (len(MODALITIES) - 1) * pitch + height + below + EDGE)


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
    layout = layout_of(options, len(columns), height / width, banner, bars)
    sheet = Sheet(options.inches, layout.height)
    sheet.notes = options.notes()
    words = options.words()
    if banner:
        draw_banner(sheet, analysis.weights, words)
    drawing = Drawing(sheet, layout, analysis, pixels, options, ranges(analysis, options.scale))
    for col, panel in enumerate(columns):
        drawing.head(col, PANELS[panel])
        for row, m in enumerate(MODALITIES):
            drawing.cell(row, col, PANELS[panel], m)
        if options.captions:
            x, _ = layout.place(0, col)
            y = layout.bottom + (BAR + BAR_NUMBERS + GAP if bars else 0) + CAPTION - 0.03
            sheet.text(x + layout.cell[0] / 2, y, f"({chr(ord('a') + col)})", HEAD_SIZE)
    for row, m in enumerate(MODALITIES):
        x, y = layout.place(row, 0)
        row_label(sheet, x, y + layout.cell[1] / 2, m.upper())
    if options.provenance:
        draw_provenance(sheet, analysis, words)
    return sheet


def ranges(analysis: Analysis, scale: str) -> dict[str, dict[str, list[float]]]:
    """The range of each heat map by modality and panel: the same numbers as on the page."""
    if scale == "shared":
        return dict.fromkeys(analysis.traces, panels.shared_ranges(analysis.traces.values(), analysis.settings))
    return {m: panels.own_ranges(maps_of(analysis[m], m)) for m in analysis.traces}


def row_label(sheet: Sheet, x: float, y: float, label: str) -> None:
    """A modality's name, upwards, left of its row."""
    sheet.text(x - 0.055, y, label, HEAD_SIZE, rotation=90, weight="bold")


def draw_banner(sheet: Sheet, weights: WeightsReport, words: Mapping[str, str]) -> None:
    """The warning on weights that were not, or not fully, trained."""
    sheet.box(
        EDGE, EDGE, sheet.width - 2 * EDGE, BANNER - 0.04, facecolor=WARNING_FILL, edgecolor=WARNING_LINE, linewidth=0.4
    )
    key = "banner.partial" if weights.trained else "banner.random"
    text = words[key].format(missing=len(weights.missing))
    y = EDGE + BANNER / 2 + 0.005
    sheet.text(sheet.width / 2, y, text, 6.5, within=sheet.width - 0.1, color=WARNING_INK, weight="bold")


def draw_provenance(sheet: Sheet, analysis: Analysis, words: Mapping[str, str]) -> None:
    """Which weights and settings made the numbers."""
    settings, report = analysis.settings, analysis.weights
    state = words["trained" if report.complete else "partial" if report.trained else "random"]
    weights = words["weights"].format(name=report.name, hash=report.short_hash, state=state)
    variant = words["variant"].format(name=settings.variant)
    line = f"{weights} · {variant} · {settings_line(settings)}"
    y = sheet.height - EDGE - 0.02
    sheet.text(EDGE + LABEL, y, line, LINE_SIZE, within=sheet.width - 2 * EDGE - LABEL, color=GREY, align="left")


def colour_bar(sheet: Sheet, x: float, y: float, width: float, limits: list[float], colormap: str) -> None:
    """A bar with a number at both ends, and in the middle where there is room."""
    axes = sheet.axes(x, y, width, BAR)
    edges = np.linspace(0, 1, STEPS + 1)
    table = colour_table(colormap)[np.linspace(0, 255, STEPS).round().astype(int)] / 255
    cells.add_squares(axes, edges[:-1], np.zeros(STEPS), edges[1:], np.ones(STEPS), table)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
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
        if panel.other is not None:
            tag = {"facecolor": "black", "alpha": 0.62, "edgecolor": "none", "pad": 0.9}
            name = f"← {modality.others[panel.other].upper()}"
            place = (x + 0.03, y + height - 0.035)
            self.sheet.text(*place, name, 5.0, color="white", align="left", bbox=tag, within=width)
        if word := self._lacking(panel, modality, values):
            middle = (x + width / 2, y + height / 2)
            color = GREY if panel.kind is Kind.HEAT else INK
            self.sheet.text(*middle, word, NUMBER_SIZE, color=color, vertical="center", within=width)
        cells.frame(axes, self.analysis.grid)
        if values is not None and (self.options.scale == "map" or row == len(MODALITIES) - 1):
            limits = self.limits[modality][panel.name]
            colour_bar(self.sheet, x, y + height + 0.03, width, limits, self.options.colormap)

    def _picture(self, axes: Axes, panel: Panel, modality: Modality, values: FloatArray | None) -> None:
        grid, trace, pixels = self.analysis.grid, self.analysis[modality], self.pixels[modality]
        if values is not None:
            blended = trace.mask if panel.masked else None
            cells.heat(axes, pixels, values, self.limits[modality][panel.name], self.options, grid, blended)
        else:
            cells.photo(axes, pixels, grid)
        if panel.kind is Kind.HEAT and values is None:
            cells.region(axes, np.ones(grid.patches, bool), grid, facecolor="white", alpha=0.8)
        if panel.masked and (panel.kind is Kind.KEPT or values is not None) and not trace.soft:
            cells.dropped(axes, trace.mask, grid, self.options.dropped)
        if panel.kind is Kind.KEPT and trace.groups is not None:
            for group, color in GROUP_COLORS.items():
                cells.region(axes, trace.groups == group, grid, facecolor="none", edgecolor=color, linewidth=0.6)

    def _lacking(self, panel: Panel, modality: Modality, values: FloatArray | None) -> str:
        """What to say in a picture that cannot be shown."""
        without = panel.kind is Kind.KEPT and self.analysis[modality].soft
        if (panel.kind is Kind.HEAT and values is None) or without:
            return self.options.words()["absent"]
        return self.options.words()["missing"] if panel.kind is Kind.PHOTO and self.pixels[modality] is None else ""
