"""The folder that a batch writes: complete files only, and a row per triplet that says it is done."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sdtps.export import serialise
from sdtps.export.batch.work import Item, Result, Row, Task, row_path
from sdtps.export.bundle import versions
from sdtps.support.errors import InputError
from sdtps.support.files import PARTIAL, write_whole
from sdtps.types import Grid, WeightsReport

SCHEMA = 1
MANIFEST = "batch.json"
FOLDERS = ("maps", "overlays", "rows")


class ResultFolder:
    """Where results go. A file appears whole or not at all, whenever the program is stopped.

    Args:
        path: the folder; made if it is not there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def begin(self, task: Task, weights: WeightsReport, grid: Grid) -> None:
        """Start, or go on where the same batch stopped; another batch's folder is refused."""
        manifest = {
            "schema": SCHEMA,
            "settings": task.settings.as_dict(),
            "fit": str(task.fit),
            "together": task.together,
            "over": asdict(task.over),
            "grid": {"rows": grid.rows, "cols": grid.cols},
            "weights": serialise.weights_facts(weights),
            "versions": versions(),
        }
        there = self._manifest()
        if there is not None and _comparable(there) != _comparable(json.loads(json.dumps(manifest))):
            raise InputError(
                "batch.other",
                "{folder} holds results of other settings or weights; choose another folder.",
                folder=self.path,
            )
        if there is None and self.path.is_dir() and any(self.path.iterdir()):
            raise InputError(
                "batch.not_empty", "{folder} holds other files; choose an empty or new folder.", folder=self.path
            )
        for name in FOLDERS:
            (self.path / name).mkdir(parents=True, exist_ok=True)
        for left_over in (*self.path.glob(f"*{PARTIAL}"), *self.path.glob(f"*/*{PARTIAL}")):
            left_over.unlink()
        self.write(MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False).encode())

    def done(self, item: Item) -> bool:
        """Whether a triplet's files are all there."""
        row = self.row(item)
        return row is not None and not row["error"] and all((self.path / f).is_file() for f in row["files"])

    def row(self, item: Item) -> Row | None:
        """A triplet's row, or None while it has none."""
        try:
            return dict(json.loads((self.path / row_path(item.name)).read_bytes()))
        except (OSError, ValueError):
            return None

    def remaining(self, items: Sequence[Item], together: int) -> list[list[Item]]:
        """Groups of triplets with something left to do. Groups never depend on what is done: so neither do the bits."""
        groups = [list(items[i : i + together]) for i in range(0, len(items), together)]
        return [g for g in groups if not all(self.done(item) for item in g)]

    def store(self, results: Sequence[Result]) -> None:
        """Write the files of some triplets; each one's row comes last."""
        for result in results:
            for name, content in result.files.items():
                self.write(name, content)

    def write(self, name: str, content: bytes) -> None:
        """One file, whole or not at all."""
        write_whole(self.path / name, content)

    def _manifest(self) -> dict[str, Any] | None:
        try:
            return dict(json.loads((self.path / MANIFEST).read_bytes()))
        except (OSError, ValueError):
            return None


def _comparable(manifest: dict[str, Any]) -> tuple[Any, ...]:
    """What two parts of one batch have in common; the look is no number, so a folder may go on with another one."""
    weights = manifest.get("weights") or {}
    return (*(manifest.get(k) for k in ("schema", "settings", "fit", "together", "grid")), weights.get("sha256"))
