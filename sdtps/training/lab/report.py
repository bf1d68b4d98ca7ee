"""The lab's table and figure as files, and its runs small enough to ship."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from sdtps.runs.schema import ABOUT, EPOCHS, FIRST_BAD, LAB_TABLE, MAPS, PROBES, STEPS, Run
from sdtps.support.files import write_whole
from sdtps.training.lab.experiments import Experiment
from sdtps.training.lab.figure import figure_of
from sdtps.training.lab.runner import DONE
from sdtps.training.lab.table import cards_of, lines_of, table_of

TABLE, FIGURE = "lab.md", "lab.svg"
LAB_SCHEMA = "sdtps-lab/1"
SHIPPED = (ABOUT, STEPS, EPOCHS, FIRST_BAD, MAPS, PROBES)


def by_experiment(experiments: Sequence[Experiment], runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each experiment, by the names of their folders."""
    found: dict[str, list[Run]] = {e.name: [] for e in experiments}
    for run in runs:
        name = run.name.rsplit("-s", 1)[0]
        if name in found:
            found[name].append(run)
    return found


def write_report(out: Path, experiments: Sequence[Experiment], runs: Sequence[Run]) -> tuple[str, tuple[Path, ...]]:
    """Write table and figure beside the runs; returns the table and the files."""
    grouped = by_experiment(experiments, runs)
    lines = lines_of(experiments, grouped)
    table = table_of(lines)
    files = (out / TABLE, out / FIGURE, out / LAB_TABLE)
    write_whole(files[0], (table + "\n").encode())
    write_whole(files[1], figure_of(experiments, grouped).encode())
    write_whole(files[2], json.dumps({"schema": LAB_SCHEMA, "lines": cards_of(lines)}, indent=1).encode())
    return table, files


def _small(file: Path) -> bytes:
    """A file as it is, without the blanks of a JSON that was written for readers."""
    content = file.read_bytes()
    return json.dumps(json.loads(content), separators=(",", ":")).encode() if file.suffix == ".json" else content


def ship(lab: Path, target: Path) -> int:
    """Copy a finished lab without what only training needs; returns its size in bytes."""
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    for folder in sorted(f.parent for f in lab.glob(f"*/{DONE}")):
        for name in SHIPPED:
            if (folder / name).is_dir():
                shutil.copytree(folder / name, target / folder.name / name)
            elif (folder / name).exists():
                (target / folder.name).mkdir(exist_ok=True)
                (target / folder.name / name).write_bytes(_small(folder / name))
    for name in (TABLE, FIGURE, LAB_TABLE):
        shutil.copy(lab / name, target / name)
    return sum(f.stat().st_size for f in target.rglob("*") if f.is_file())
