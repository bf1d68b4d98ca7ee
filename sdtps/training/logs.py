"""What a training writes while it goes: a table, and TensorBoard events where they are asked for. No step twice."""

import csv
from collections.abc import Mapping
from pathlib import Path

from sdtps.runs.tensorboard import PATTERN, EventWriter, drop_from
from sdtps.support.files import write_whole
from sdtps.training.objective import HEADS, LOSSES

TABLE = "log.csv"
COLUMNS = ("step", "seconds", "total", *LOSSES, *(f"loss_{h}" for h in HEADS), *(f"acc_{h}" for h in HEADS), "lr")


class Logs:
    """The table of a training, and its event file.

    Args:
        folder: where to.
        step: the next step; rows from it on are dropped, because they are done again.
        tensorboard: write an event file, too.
    """

    def __init__(self, folder: Path, step: int, tensorboard: bool = False) -> None:
        table = folder / TABLE
        rows = _rows_before(table, step) if step else []
        lines = [",".join(COLUMNS), *(",".join(row) for row in rows)]
        write_whole(table, ("\n".join(lines) + "\n").encode())
        self._stream = table.open("a", newline="", buffering=1)
        self._table = csv.DictWriter(self._stream, COLUMNS, restval="", lineterminator="\n")
        for file in folder.glob(PATTERN):
            if step:
                drop_from(file, step)
            else:
                file.unlink()
        self._events = EventWriter(folder) if tensorboard else None

    def step(self, step: int, seconds: float, scalars: Mapping[str, float]) -> None:
        """Write a step."""
        row = {k: f"{v:.3e}" if k == "lr" else f"{v:.4f}" for k, v in scalars.items()}
        self._table.writerow({"step": step, "seconds": f"{seconds:.1f}", **row})
        if self._events is not None:
            self._events.add(step, scalars, seconds)

    def epoch(self, step: int, seconds: float, scalars: Mapping[str, float]) -> None:
        """Write an epoch's scores, to the event file alone: the table has a row per step."""
        if self._events is not None and scalars:
            self._events.add(step, scalars, seconds)

    def close(self) -> None:
        """Finish the files."""
        self._stream.close()
        if self._events is not None:
            self._events.close()


def _rows_before(table: Path, step: int) -> list[list[str]]:
    if not table.exists():
        return []
    with table.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))[1:]
    return [row for row in rows if len(row) == len(COLUMNS) and row[0].isdigit() and int(row[0]) < step]
