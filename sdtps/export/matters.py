"""The report on whether the selection matters as files: figure, table as CSV, rows for LaTeX, all numbers as JSON."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

from sdtps.checkpoints.anonymise import hide
from sdtps.export.figure.style import FigureOptions
from sdtps.matters.report import Matters, Row
from sdtps.matters.verdict import COSINE, shown, signed
from sdtps.support.files import write_whole
from sdtps.web.static import texts

STEM = "matters"
KINDS = ("pdf", "svg", "csv", "tex", "json")


def anonymous(report: Matters) -> Matters:
    """The report without names of the author's files."""
    hidden = tuple(f"image set {i}" for i, _ in enumerate(report.broken, 1))
    return replace(report, weights=hide(report.weights), data="anonymous data", broken=hidden)


def render(report: Matters, kind: str, options: FigureOptions | None = None) -> bytes:
    """One file of the report; `kind` is one of `KINDS`."""
    if kind == "csv":
        return as_csv(report).encode()
    if kind == "tex":
        return as_latex(report).encode()
    if kind == "json":
        return (json.dumps(report.as_dict(), ensure_ascii=False, indent=1) + "\n").encode()
    from sdtps.export.figure.matters import matters_figure  # Matplotlib would make every start slower

    return matters_figure(report, options).render(kind)


def write(report: Matters, folder: Path, options: FigureOptions | None = None) -> list[Path]:
    """All files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{STEM}.{kind}" for kind in KINDS]
    for path, kind in zip(paths, KINDS, strict=True):
        write_whole(path, render(report, kind, options))
    return paths


def row_title(row: Row, language: str = "en") -> str:
    """What a row is called."""
    words = texts()[language]
    key = f"matters.row.{row.kind.replace(' ', '-')}"
    return words[key].format(k=row.kept, draws=row.draws, name=row.name)


def as_csv(report: Matters) -> str:
    """Every number: scores and gains with their intervals, in shares of 1."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    head = [f"{metric}{part}" for metric in report.metrics for part in ("", " low", " high")]
    gains = [f"gain {name}" for name in head]
    writer.writerow(["choice", "sparse ratio", "kept", "draws", *head, *gains, "verdict"])
    for row in report.rows:
        cells: list[object] = [row.name, row.sparse_ratio, row.kept, row.draws]
        for found in (row.scores, row.gain):
            for metric in report.metrics:
                one = found.get(metric)
                cells += ["", "", ""] if one is None else [f"{v:.6f}" for v in (one.value, one.low, one.high)]
        writer.writerow([*cells, row.says or ""])
    return stream.getvalue()


def as_latex(report: Matters) -> str:
    """Rows for a table with booktabs: choice, kept, first metrics, gain with its interval."""
    metrics = [m for m in report.metrics if m in ("mAP", "Rank-1", COSINE)]
    unit = "identities" if report.labelled else "image sets"
    lines = [f"% {report.data}: {report.sets} image sets, {report.identities} {unit}; weights {report.weights.name}"]
    lines.append("% choice & kept & " + " & ".join(metrics) + f" & gain in {metrics[0]} [95 \\% interval] \\\\")
    ratio = None
    for row in report.rows:
        if ratio is not None and row.sparse_ratio != ratio:
            lines.append("\\midrule")
        ratio = row.sparse_ratio
        numbers = [number(m, row).replace("−", "$-$") for m in metrics]
        gain = "--"
        if metrics[0] in row.gain:
            one = shown(metrics[0], row.gain[metrics[0]])
            value, low, high = (_math(v, metrics[0]) for v in (one.value, one.low, one.high))
            text = f"{value} [{low}, {high}]"
            gain = f"\\textbf{{{text}}}" if one.low > 0 or one.high < 0 else text
        lines.append(f"{_plain(row_title(row))} & {row.kept} & {' & '.join(numbers)} & {gain} \\\\")
    return "\n".join(lines) + "\n"


def number(metric: str, row: Row) -> str:
    """A score as it is shown; a true minus."""
    one = shown(metric, row.scores[metric])
    return f"{one.value:.{4 if metric == COSINE else 1}f}".replace("-", "−")


def _math(value: float, metric: str) -> str:
    return f"${signed(value, metric).replace('−', '-').replace('∞', chr(92) + 'infty')}$"


def _plain(text: str) -> str:
    for character in "\\{}&%$#_~^":
        text = text.replace(character, f"\\{character}" if character in "&%$#_{}" else " ")
    return text
