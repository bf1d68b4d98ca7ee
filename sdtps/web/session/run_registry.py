"""The recorded runs that a page shows: read when they are first asked for, and again when they have grown."""

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdtps.resources import LAB
from sdtps.runs.cards import run_cards
from sdtps.runs.diagnosis import flat
from sdtps.runs.reader import distinct, read_runs, written_files
from sdtps.runs.schema import LAB_TABLE, Run
from sdtps.support.errors import LensError
from sdtps.types import Payload
from sdtps.web.session.requests import Refusal

SHOWN_SEED = "-s0"  # of the shipped lab: the runs with maps


class RunRegistry:
    """Runs by number.

    Args:
        paths: recorded folders, logs or event files; the shipped lab where there are none.
        anonymous: show numbers in place of names, and no setting that is a path.
    """

    def __init__(self, paths: Sequence[str | Path] = (), *, anonymous: bool = False) -> None:
        self.shipped = not paths
        self.anonymous = anonymous and not self.shipped
        self._paths = [Path(p) for p in paths] or _shipped()
        self._lock = threading.Lock()
        self._stamp: tuple[object, ...] | None = None
        self._runs: list[Run] = []
        self._cards: Payload = {}

    def check(self) -> None:
        """Read what was named by the owner, so that a wrong path is said at the start."""
        if not self.shipped:
            for path in self._paths:
                read_runs(path)

    def runs(self) -> list[Run]:
        """All runs, as they are now: a training that goes on shows its last epoch."""
        with self._lock:
            self._refresh()
            return self._runs

    def cards(self) -> Payload:
        """What the tab draws."""
        with self._lock:
            self._refresh()
            return self._cards

    def find(self, number: int) -> Run:
        """The run of that number."""
        runs = self.runs()
        if not 0 <= number < len(runs):
            raise Refusal("runs.unknown", "There is no such run; reload the page.")
        return runs[number]

    def _refresh(self) -> None:
        stamp = tuple(_state(p) for p in self._paths)
        if stamp == self._stamp:
            return
        runs: list[Run] = []
        for path in self._paths:
            try:
                runs += read_runs(path)
            except (LensError, OSError):
                continue  # it was there at the start; what is left of the others is still shown
        runs = distinct(runs)
        if self.anonymous:
            runs = [_nameless(run, number) for number, run in enumerate(runs, 1)]
        self._stamp, self._runs = stamp, runs
        tables = [LAB] if self.shipped else [p for p in self._paths if p.is_dir()]
        self._cards = run_cards(runs) | {"shipped": self.shipped, "lab": [x for p in tables for x in lab_lines(p)]}


def _shipped() -> list[Path]:
    """The shipped lab's runs with maps, in the order of its table."""
    named = [LAB / f"{line['name']}{SHOWN_SEED}" for line in lab_lines(LAB)]
    return [folder for folder in named if folder.is_dir()]


def lab_lines(folder: Path) -> list[dict[str, Any]]:
    """A lab's experiments beside what the notes say of them; none where the folder is no lab's."""
    try:
        found = json.loads((folder / LAB_TABLE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    lines = found.get("lines") if isinstance(found, dict) else None
    return lines if isinstance(lines, list) else []


def _nameless(run: Run, number: int) -> Run:
    """A run under a number: what leads to its author is left out."""
    settings = {k: v for k, v in flat(run.settings).items() if not (isinstance(v, str) and ({"/", "\\"} & set(v)))}
    probes = [{**probe, "name": f"image set {i}"} for i, probe in enumerate(run.about.get("probes", ()), 1)]
    about = {**run.about, "probes": probes} if "probes" in run.about else run.about
    notes = tuple(n for n in run.notes if not getattr(n, "values", None))
    return replace(run, name=f"run {number}", settings=settings, about=about, notes=notes)


def _state(path: Path) -> tuple[object, ...]:
    """What changes while a run is written."""
    return tuple((f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in written_files(path) if f.exists())
