"""Recorded runs from disk: our own folders, DeMo's text logs, TensorBoard files; whatever a path holds."""

import json
import math
import os
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sdtps.images.read import Triplet, read_triplet
from sdtps.runs.demo_log import read_demo_log
from sdtps.runs.probe import unpack
from sdtps.runs.recorder import read_lines
from sdtps.runs.schema import ABOUT, EPOCHS, FIRST_BAD, MAPS, PROBES, SCHEMA, STEPS, Run, Values, Watched
from sdtps.runs.tensorboard import PATTERN, read_events
from sdtps.support.errors import InputError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

LARGEST_LOG = 256 * 1024**2
TEXT_LOGS = (".txt", ".log")


def read_runs(path: str | os.PathLike[str]) -> list[Run]:
    """Every run that a path holds: a recorded folder, a folder of such folders, a text log, or event files."""
    path = Path(path)
    if path.is_file():
        return read_text(path)
    if not path.is_dir():
        raise InputError("runs.absent", "There is no run at {path!r}; check the path.", path=path.name)
    if (path / ABOUT).is_file():
        return [read_run(path)]
    inner = [read_run(p.parent) for p in sorted(path.glob(f"*/{ABOUT}"))]
    if inner:
        return inner
    if events := sorted(path.glob(PATTERN)):
        return [read_tensorboard(events, path.name)]
    logs = [f for f in sorted(path.iterdir()) if f.suffix in TEXT_LOGS and f.is_file()]
    found = [run for f in logs for run in read_text(f)]
    if not found:
        text = "{path!r} holds no recorded run: no run.json, no training log, no event file."
        raise InputError("runs.none", text, path=path.name)
    return found


def read_text(path: Path) -> list[Run]:
    """The runs of a training log; several may have been appended to one file."""
    if path.stat().st_size > LARGEST_LOG:
        raise InputError("runs.large", "{path!r} is too large for a training log.", path=path.name)
    return read_demo_log(path.read_text(encoding="utf-8", errors="replace"), path.parent.name or path.stem)


def read_run(folder: str | os.PathLike[str]) -> Run:
    """One recorded folder, as far as it goes: what was cut off is left out, and said."""
    folder = Path(folder)
    about = _about(folder)
    notes = []
    steps, lost = _lines(folder / STEPS)
    epochs, lost_epochs = _lines(folder / EPOCHS)
    if lost + lost_epochs:
        text = "{count} unfinished lines at the end were left out; the recording was cut off there."
        notes.append(Message("runs.cut", text, count=lost + lost_epochs))
    bad = _json(folder / FIRST_BAD)
    return Run(
        name=str(about.get("name") or folder.name),
        settings=about.get("settings") or {},
        steps=columns(_once(steps, "step")),
        epochs=columns(_once(epochs, "epoch")),
        folder=folder,
        about=about,
        first_bad=bad if isinstance(bad, dict) else None,
        notes=tuple(notes),
    )


def _about(folder: Path) -> dict[str, Any]:
    about = _json(folder / ABOUT)
    if not isinstance(about, dict) or not str(about.get("schema", "")).startswith("sdtps-run/"):
        text = "{path!r} is no recorded run: its run.json cannot be read."
        raise InputError("runs.damaged", text, path=folder.name)
    if about["schema"] != SCHEMA:
        text = "{path!r} was recorded by a newer version ({schema}); update this program to read it."
        raise InputError("runs.newer", text, path=folder.name, schema=str(about["schema"]))
    return about


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _lines(path: Path) -> tuple[list[dict[str, Any]], int]:
    rows = read_lines(path)
    written = sum(1 for line in path.read_text(errors="replace").splitlines() if line) if path.exists() else 0
    return rows, written - len(rows)


def _once(rows: Iterable[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """One row for each number, the last that was written, in order."""
    last = {int(row[key]): row for row in rows if isinstance(row.get(key), int | float) and math.isfinite(row[key])}
    return [last[n] for n in sorted(last)]


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Values]:
    """Rows with names to one array per name; NaN where a row has none."""
    names = dict.fromkeys(name for row in rows for name, v in row.items() if _is_number(v))
    return {name: np.array([_float(row.get(name)) for row in rows]) for name in names}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _float(value: Any) -> float:
    return float(value) if _is_number(value) else math.nan


def read_tensorboard(files: Sequence[Path], name: str) -> Run:
    """The scalars of event files as a run; tags keep their names, and common ones are called as ours are."""
    rows: dict[int, dict[str, Any]] = {}
    for file in files:
        for step, tag, value in read_events(file):
            rows.setdefault(step, {"step": step})[_ours(tag)] = value
    steps = columns([rows[s] for s in sorted(rows)])
    return Run(name, {}, {"epoch": np.zeros(len(rows)), **steps}, {})


def _ours(tag: str) -> str:
    last = tag.rsplit("/", 1)[-1].lower()
    known = {"loss": "loss", "total": "loss", "total_loss": "loss", "acc": "acc", "accuracy": "acc", "map": "mAP"}
    return known.get(last, tag)


@lru_cache(maxsize=64)
def read_maps(folder: Path, epoch: int, probe: int) -> dict[str, Watched]:
    """What was watched on one image set after an epoch, by modality."""
    try:
        with np.load(folder / MAPS / f"{epoch:06d}.npz") as archive:
            return unpack(dict(archive), probe)
    except (OSError, KeyError, ValueError, IndexError, zipfile.BadZipFile):
        text = "Epoch {epoch} of {path!r} has no maps of this image set, or they are damaged."
        raise InputError("runs.maps", text, epoch=epoch, path=folder.name) from None


def read_pictures(folder: Path, probe: int) -> Triplet:
    """The pictures of a watched image set."""
    files = [folder / PROBES / str(probe) / f"{m}.jpg" for m in MODALITIES]
    rgb, nir, tir = (f if f.is_file() else None for f in files)
    return read_triplet(rgb, nir, tir)
