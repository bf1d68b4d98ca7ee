"""Findings → one Markdown page, one JSON file, and the block in docs/speed.md."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.measure import Bar, Detail, Findings, Row

BEGIN = "<!-- bench:begin (written by: make bench ARGS=--docs) -->"
END = "<!-- bench:end -->"
HEADER = "| what | ratio | quartiles of the pairs | bar | | ours | reference |\n|---|---|---|---|---|---|---|"


def row_line(row: Row) -> str:
    """A ratio as a line of the table."""
    verdict = f"**{row.verdict}**" if row.verdict == "not met" else row.verdict
    return (
        f"| {row.name} | {number(row.ratio)} | {number(row.low)} to {number(row.high)} | {row.bar or ''} | {verdict} "
        f"| {number(row.value)} {row.unit} | {number(row.reference)} {row.unit} |"
    )


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if value >= 0.001 else f"{value:.1g}"


def detail_lines(detail: Detail) -> list[str]:
    """A small table under its title."""
    lines = [f"**{detail.title}**", "", _cells(detail.columns), "|" + "---|" * len(detail.columns)]
    lines += [_cells(row) for row in detail.rows]
    return [*lines, *(["", detail.note] if detail.note else [])]


def _cells(values: tuple[str, ...]) -> str:
    return f"| {' | '.join(values)} |"


def facts_line(facts: Mapping[str, Any]) -> str:
    """Where it was measured, in one line."""
    return (
        f"{facts['date']}, {facts['processor']}, {facts['cores']} cores, {facts['memory_gb']} GB, {facts['system']}, "
        f"load {facts['load']} at the start, Python {facts['python']}, torch {facts['torch']} with "
        f"{facts['threads']} threads{', quick' if facts.get('quick') else ''}"
    )


def summary(found: Mapping[str, Findings], facts: Mapping[str, Any]) -> str:
    """The table of ratios, with its date: what the documents show."""
    rows = [row_line(row) for findings in found.values() for row in findings.rows]
    return "\n".join([f"Measured {facts_line(facts)}:", "", HEADER, *rows])


def page(found: Mapping[str, Findings], facts: Mapping[str, Any]) -> str:
    """Everything, topic by topic."""
    parts = ["# Benchmarks", "", summary(found, facts), ""]
    for topic, findings in found.items():
        if not findings.details and not findings.notes:
            continue
        parts += [f"## {topic.capitalize()}", ""]
        for detail in findings.details:
            parts += [*detail_lines(detail), ""]
        for note in findings.notes:
            parts += [note, ""]
    return "\n".join(parts)


def as_json(found: Mapping[str, Findings], facts: Mapping[str, Any]) -> str:
    """The same with all raw numbers."""
    topics = {
        topic: {
            "rows": [row.as_dict() for row in findings.rows],
            "details": [vars(detail) for detail in findings.details],
            "notes": findings.notes,
            "data": findings.data,
        }
        for topic, findings in found.items()
    }
    return json.dumps({"facts": facts, "topics": topics}, indent=1, ensure_ascii=False, allow_nan=False)


def read(folder: Path) -> tuple[dict[str, Findings], dict[str, Any]]:
    """The inverse of `write`, without the pictures: what was found, and where."""
    stored = json.loads((folder / "results.json").read_text("utf-8"))
    found = {
        topic: Findings(
            tuple(_row(row) for row in part["rows"]),
            tuple(_detail(detail) for detail in part["details"]),
            tuple(part["notes"]),
            part["data"],
        )
        for topic, part in stored["topics"].items()
    }
    return found, stored["facts"]


def _row(values: Mapping[str, Any]) -> Row:
    bar = None if values["bar"] is None else Bar(**values["bar"])
    return Row(**{k: v for k, v in values.items() if k != "verdict"} | {"bar": bar})


def _detail(values: Mapping[str, Any]) -> Detail:
    rows = tuple(tuple(row) for row in values["rows"])
    return Detail(values["title"], tuple(values["columns"]), rows, values["note"])


def with_block(text: str, block: str) -> str:
    """A text whose block between the markers is replaced.

    Raises:
        ValueError: the markers are not there, once each and in order.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after or END in after:
        raise ValueError("The text needs the two bench markers, once each and in order.")
    return f"{before}{BEGIN}\n{block}\n{END}{after}"


def write(found: Mapping[str, Findings], facts: Mapping[str, Any], folder: Path, document: Path | None = None) -> None:
    """`results.md`, `results.json` and the pictures in a folder, and the block in a document."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.md").write_text(page(found, facts), encoding="utf-8")
    (folder / "results.json").write_text(as_json(found, facts), encoding="utf-8")
    for findings in found.values():
        for name, content in findings.pictures.items():
            (folder / name).write_bytes(content)
    if document is not None:
        document.write_text(with_block(document.read_text("utf-8"), summary(found, facts)), encoding="utf-8")
