"""The lab's table and figure as files, and its runs small enough to ship."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from sdtps.runs.schema import ABOUT, EPOCHS, FIRST_BAD, MAPS, PROBES, STEPS, Run
from sdtps.support.files import write_whole
from sdtps.training.lab.experiments import Experiment
from sdtps.training.lab.figure import figure_of
from sdtps.training.lab.runner import DONE
from sdtps.training.lab.table import lines_of, table_of

TABLE, FIGURE = "lab.md", "lab.svg"
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
    table = table_of(lines_of(experiments, grouped))
    files = (out / TABLE, out / FIGURE)
    write_whole(files[0], (table + "\n").encode())
    write_whole(files[1], figure_of(experiments, grouped).encode())
    return table, files


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
                shutil.copy(folder / name, target / folder.name / name)
    for name in (TABLE, FIGURE):
        shutil.copy(lab / name, target / name)
    return sum(f.stat().st_size for f in target.rglob("*") if f.is_file())
