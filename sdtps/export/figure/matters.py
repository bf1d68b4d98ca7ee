"""Fourth layout: what the choice of patches is worth, one line per replacement with its 95 % interval."""

import math

from sdtps.export.figure.grid import EDGE, HEAD_SIZE, NUMBER_SIZE
from sdtps.export.figure.sheet import Sheet
from sdtps.export.figure.style import GREY, INK, RIGHT, WRONG, FigureOptions
from sdtps.matters.interval import Interval
from sdtps.matters.replacements import Kind
from sdtps.matters.report import Matters, Row
from sdtps.matters.verdict import shown, signed
from sdtps.web.static import texts

LINE, HEAD, FOOT, BETWEEN = 0.17, 0.30, 0.34, 0.10
NAMES, NUMBERS = 0.33, 0.26  # shares of the width
WIDEST_NAMES, WIDEST_NUMBERS = 1.6, 1.1  # inches; a wide figure has a wider axis, not more white
STEPS = tuple(step * 10**power for power in range(-4, 2) for step in (1, 1.5, 2, 3, 5))


def matters_figure(report: Matters, options: FigureOptions | None = None) -> Sheet:
    """The gains of one report as a figure.

    Args:
        report: what was measured.
        options: width and language.
    """
    options = options or FigureOptions()
    words = texts()[options.drawn_language]
    metric = report.metrics[0]
    rows = [row for row in report.rows if metric in row.gain]
    gains = [shown(metric, row.gain[metric]) for row in rows]
    groups = len({row.sparse_ratio for row in rows})
    width = options.inches
    height = 2 * EDGE + HEAD + len(rows) * LINE + groups * (LINE + BETWEEN) + FOOT
    sheet = Sheet(width, height)
    sheet.notes = options.notes()
    left = EDGE + min(NAMES * width, WIDEST_NAMES)
    right = width - EDGE - min(NUMBERS * width, WIDEST_NUMBERS)
    # The worst-scored patches may leave the axis: their gain would flatten all the others.
    near = [gain for row, gain in zip(rows, gains, strict=True) if row.kind is not Kind.INVERTED]
    reach = _reach(near or gains)
    sheet.text(EDGE, EDGE + 0.12, words["matters.figure.title"].format(metric=_metric(metric, words)), HEAD_SIZE,
               align="left", within=width - 2 * EDGE, weight="bold")  # fmt: skip
    y, ratio = EDGE + HEAD, None
    top = y
    for row, gain in zip(rows, gains, strict=True):
        if row.sparse_ratio != ratio:
            y += BETWEEN if ratio is not None else 0.0
            ratio = row.sparse_ratio
            share = words["matters.figure.kept"].format(ratio=f"{ratio:g}")
            sheet.text(EDGE, y + LINE * 0.65, share, NUMBER_SIZE, align="left", color=GREY)
            y += LINE
        _line(sheet, row, gain, metric, options.drawn_language, (left, right), reach, y + LINE / 2)
        y += LINE
    zero = left + (right - left) / 2
    sheet.line((zero, zero), (top, y), GREY, 0.5)
    _axis(sheet, (left, right), reach, y + 0.04, metric)
    unit = words["matters.unit.identities" if report.labelled else "matters.unit.sets"]
    facts = words["matters.figure.facts"].format(
        data=report.data, sets=report.sets, n=report.identities, unit=unit, weights=report.weights.name
    )
    if options.provenance:
        sheet.text(EDGE, height - EDGE, facts, NUMBER_SIZE, align="left", color=GREY, within=width - 2 * EDGE)
    return sheet


def _metric(metric: str, words: dict[str, str]) -> str:
    return words.get(f"matters.metric.{metric}", metric)


def _reach(gains: list[Interval]) -> float:
    """Half of the axis: the farthest end that is finite, rounded up to a step."""
    ends = [abs(v) for g in gains for v in (g.low, g.high, g.value) if math.isfinite(v)]
    far = max(ends, default=1.0) or 1.0
    return next((step for step in STEPS if step >= far), far)


def _line(
    sheet: Sheet,
    row: Row,
    gain: Interval,
    metric: str,
    language: str,
    span: tuple[float, float],
    reach: float,
    y: float,
) -> None:
    from sdtps.export.matters import row_title

    left, right = span
    colour = RIGHT if gain.low > 0 else WRONG if gain.high < 0 else INK
    sheet.text(EDGE + 0.1, y + 0.03, row_title(row, language), NUMBER_SIZE, align="left", within=left - EDGE - 0.2)

    def place(value: float) -> float:
        return left + (min(max(value, -reach), reach) / reach + 1) / 2 * (right - left)

    sheet.line((place(gain.low), place(gain.high)), (y, y), colour, 1.0)
    for end, way in ((gain.low, -1), (gain.high, 1)):
        x = place(end)
        if abs(end) <= reach:
            sheet.line((x, x), (y - 0.03, y + 0.03), colour, 0.8)
        elif end * way > 0:  # an arrow where the axis ends before the interval does
            for side in (-0.03, 0.03):
                sheet.line((x - way * 0.04, x), (y + side, y), colour, 0.8)
    if abs(gain.value) <= reach:
        sheet.box(place(gain.value) - 0.025, y - 0.025, 0.05, 0.05, facecolor=colour, edgecolor=colour, linewidth=0)
    value, low, high = (signed(v, metric) for v in (gain.value, gain.low, gain.high))
    text = f"{value}  [{low}, {high}]"
    sheet.text(sheet.width - EDGE, y + 0.03, text, NUMBER_SIZE, align="right", color=colour)


def _axis(sheet: Sheet, span: tuple[float, float], reach: float, y: float, metric: str) -> None:
    left, right = span
    sheet.line(span, (y, y), GREY, 0.5)
    for value in (-reach, 0.0, reach):
        x = left + (value / reach + 1) / 2 * (right - left)
        sheet.line((x, x), (y, y + 0.03), GREY, 0.5)
        label = "0" if value == 0 else signed(value, metric).rstrip("0").rstrip(".")
        sheet.text(x, y + 0.13, label, NUMBER_SIZE, color=GREY)
