"""A run for other programs: CSV tables, and TensorBoard event files."""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path

from sdtps.runs.columns import is_absent
from sdtps.runs.schema import Run, Values
from sdtps.runs.tensorboard import EventWriter
from sdtps.support.files import write_whole


def to_csv(run: Run, folder: Path) -> list[Path]:
    """Write the run's steps and epochs; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind, columns in (("steps", run.steps), ("epochs", run.epochs)):
        if columns:
            path = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', run.name)}-{kind}.csv"
            write_whole(path, table_of(columns).encode())
            written.append(path)
    return written


def table_of(columns: Mapping[str, Values]) -> str:
    """Columns as CSV: `nan` where a training wrote it, an empty cell where it wrote nothing."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    cells = [["" if gap else f"{v:.9g}" for v, gap in zip(c, is_absent(c), strict=True)] for c in columns.values()]
    writer.writerows(zip(*cells, strict=True))
    return stream.getvalue()


def to_tensorboard(run: Run, folder: Path) -> Path:
    """Write the run as an event file; returns it. Scores of an epoch stand at its last step."""
    writer = EventWriter(folder)
    ends = run.epochs["step"] - 1 if "step" in run.epochs else run.epochs.get("epoch", ())
    for columns, places in ((run.steps, run.scalar("step")), (run.epochs, ends)):
        gaps = {n: is_absent(values) for n, values in columns.items() if n not in ("step", "seconds")}
        for i, step in enumerate(places):
            there = {n: float(columns[n][i]) for n, gap in gaps.items() if not gap[i]}
            if there:
                writer.add(int(step), there)
    writer.close()
    return writer.path
