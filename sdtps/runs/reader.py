"""Recorded runs from disk: our own folders, DeMo's text logs, TensorBoard files; whatever a path holds."""

import json
import math
import os
import zipfile
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from sdtps.images.read import Triplet, read_triplet
from sdtps.runs.columns import columns, is_number
from sdtps.runs.demo_log import read_demo_log
from sdtps.runs.probe import unpack
from sdtps.runs.recorder import read_lines
from sdtps.runs.schema import (
    ABOUT,
    EPOCHS,
    FIRST_BAD,
    LAB_TABLE,
    MAPS,
    PROBES,
    SCHEMA,
    STEPS,
    Run,
    Watched,
)
from sdtps.runs.tensorboard import PATTERN, read_events
from sdtps.support.errors import InputError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

LARGEST_LOG = 256 * 1024**2
TEXT_LOGS = (".txt", ".log")
POINTS = 300  # of a curve over steps
TESTED = {"val", "valid", "validation", "test", "eval"}  # before a tag: not what is trained


def read_runs(path: str | os.PathLike[str]) -> list[Run]:
    """Every run that a path holds: a recorded folder, a folder of such folders, a text log, or event files."""
    path = Path(path)
    if not path.exists():
        raise InputError("runs.absent", "There is no run at {path!r}; check the path.", path=path.name)
    if path.is_file():
        found = [read_tensorboard([path], path.parent.name)] if path.match(PATTERN) else read_text(path)
        return found or _nothing(path)
    if (path / ABOUT).is_file():
        return [read_run(path)]
    inner = [read_run(p.parent) for p in sorted(path.glob(f"*/{ABOUT}"))]
    if inner:
        return inner
    if events := sorted(path.glob(PATTERN)):
        return [read_tensorboard(events, path.name)]
    logs = [f for f in sorted(path.iterdir()) if f.suffix in TEXT_LOGS and f.is_file()]
    return [run for f in logs for run in read_text(f)] or _nothing(path)


def written_files(path: Path) -> list[Path]:
    """What grows at a path while its runs are written."""
    if path.is_file():
        return [path]
    names = (ABOUT, STEPS, EPOCHS, MAPS, LAB_TABLE)
    inner = [f.parent / name for f in sorted(path.glob(f"*/{ABOUT}")) for name in names]
    logs = sorted(f for f in path.glob("*") if f.suffix in TEXT_LOGS or f.match(PATTERN))
    return [*(path / name for name in names), *inner, *logs]


def _nothing(path: Path) -> NoReturn:
    text = "{path!r} holds no recorded run: no run.json, no training log, no event file."
    raise InputError("runs.none", text, path=path.name)


def distinct(runs: Iterable[Run]) -> list[Run]:
    """The runs with a number behind a name that another one before it has."""
    found: dict[str, Run] = {}
    for run in runs:
        names = (run.name if i == 1 else f"{run.name} [{i}]" for i in count(1))
        name = next(n for n in names if n not in found)
        found[name] = run if name == run.name else replace(run, name=name)
    return list(found.values())


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
    ends = sorted((r["step"], r["epoch"]) for r in epochs if is_number(r.get("step")) and is_number(r.get("epoch")))
    return Run(
        name=str(about.get("name") or folder.name),
        settings=about.get("settings") or {},
        steps=columns([_in_epoch(row, ends) for row in _once(steps, "step")]),
        epochs=columns(_once(epochs, "epoch")),
        folder=folder,
        about=about,
        first_bad=_in_epoch(bad, ends) if isinstance(bad, dict) else None,
        notes=tuple(notes),
    )


def _in_epoch(row: dict[str, Any], ends: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """A step under the number that its epoch was given when it ended: some loops count from 0, others from 1."""
    place = bisect_right(ends, (row.get("step", math.inf), math.inf))
    return row | {"epoch": ends[place][1]} if place < len(ends) else row


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


def read_tensorboard(files: Sequence[Path], name: str) -> Run:
    """The scalars of event files as a run; tags keep their names, and common ones are called as ours are.

    Steps are those at which the loss was written (or else the most frequent tag), with every tag that is there at all
    of them; what was written now and then, such as mAP, belongs to epochs. Where no tag is called epoch, steps stand
    in its place, at most `POINTS` of them.
    """
    tags: dict[str, dict[int, float]] = {}
    for file in files:
        for step, tag, value in read_events(file):
            tags.setdefault(_ours(tag), {})[step] = value
    named = tags.pop("epoch", {})
    if not tags:
        return Run(name, {}, {}, {})
    main = tags.get("loss") or max(tags.values(), key=len)
    steps = sorted(main)
    every = {tag: values for tag, values in tags.items() if values.keys() >= main.keys()}
    label = _labels(named, steps)
    rows = [{"step": s, "epoch": label(s), **{tag: values[s] for tag, values in every.items()}} for s in steps]
    now_and_then: dict[float, dict[str, float]] = {}
    for tag, values in tags.items():
        for s in sorted(values) if tag not in every else ():
            now_and_then.setdefault(at := label(s) if named else s, {"epoch": at})[tag] = values[s]
    notes = () if named else (Message("runs.no_epochs", "The event files name no epochs; curves run over steps."),)
    return Run(name, {}, columns(rows), columns([now_and_then[e] for e in sorted(now_and_then)]), notes=notes)


def _labels(named: Mapping[int, float], steps: Sequence[int]) -> Callable[[int], float]:
    """Where a step stands on the axis of epochs: at the epoch that was named last, or at the end of its stretch."""
    known = sorted(named) or steps[:: math.ceil(len(steps) / POINTS)]
    return lambda step: (named or {k: k for k in known})[known[max(0, bisect_right(known, step) - 1)]]


def _ours(tag: str) -> str:
    *before, last = tag.lower().split("/")
    if last in ("map", "epoch"):
        return {"map": "mAP"}.get(last, last)
    known = {"loss": "loss", "total": "loss", "total_loss": "loss", "acc": "acc", "accuracy": "acc"}
    return tag if TESTED.intersection(before) else known.get(last, tag)


def read_maps(folder: Path, epoch: int, probe: int) -> dict[str, Watched]:
    """What was watched on one image set after an epoch, by modality."""
    file = folder / MAPS / f"{epoch:06d}.npz"
    try:
        return _maps(file, file.stat().st_mtime_ns, probe)
    except (OSError, KeyError, ValueError, IndexError, zipfile.BadZipFile):
        text = "Epoch {epoch} of {path!r} has no maps of this image set, or they are damaged."
        raise InputError("runs.maps", text, epoch=epoch, path=folder.name) from None


@lru_cache(maxsize=64)
def _maps(file: Path, _written: int, probe: int) -> dict[str, Watched]:
    with np.load(file) as archive:
        return unpack(dict(archive), probe)


def read_pictures(folder: Path, probe: int) -> Triplet:
    """The pictures of a watched image set."""
    files = [folder / PROBES / str(probe) / f"{m}.jpg" for m in MODALITIES]
    rgb, nir, tir = (f if f.is_file() else None for f in files)
    return read_triplet(rgb, nir, tir)
