"""DeMo's `train_log.txt` and those of its forks: iteration lines, validations, configuration; several runs in a file.

The lines are written for people, so each is matched by itself, and what does not match is passed over.
"""

import ast
import math
import re
from typing import Any

import yaml

from sdtps.runs.columns import columns
from sdtps.runs.schema import Run
from sdtps.support.messages import Message

PREFIX = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ \S+ [A-Z]+: ")
NUMBER = r"([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf))"
ITERATION = re.compile(
    rf"Epoch\[(\d+)\] Iteration\[(\d+)/(\d+)\] Loss: {NUMBER}, Acc: {NUMBER}, Base Lr: {NUMBER}$", re.I
)
NAMESPACE = re.compile(r"^Namespace\((.*)\)$")
OPTS = re.compile(r"opts=(\[.*?\])")
CONFIG = "Running with config:"
DATA = re.compile(r"^\s*train\s*\|\s*(\d+)\s*\|")
VALIDATION = re.compile(r"Validation Results - Epoch: (\d+)")
MAP = re.compile(rf"^mAP: {NUMBER}%")
CMC = re.compile(rf"^CMC curve, Rank-(\d+)\s*:{NUMBER}%")
FEATURE = re.compile(r"Current is the (.+?) feature testing")
FEATURES = {"ori": "ori", "moe": "moe", "sdtps": "sdtps"}  # all else is both side by side


class _Reading:
    """One run while its lines are read."""

    def __init__(self) -> None:
        self.settings: dict[str, Any] = {}
        self.classes: int | None = None
        self.rows: list[dict[str, float]] = []
        self.epochs: dict[int, dict[str, float]] = {}
        self.feature = "both"
        self.validated: int | None = None
        self.config: list[str] | None = None

    @property
    def started(self) -> bool:
        return bool(self.rows or self.epochs)

    def passed(self, line: str) -> bool:
        """Whether a line is an iteration that the run has behind it: another run was appended."""
        step = ITERATION.search(line)
        return step is not None and bool(self.rows) and _number_of(step) <= self.rows[-1]["step"]


def read_demo_log(text: str, name: str) -> list[Run]:
    """The runs of a log, in order; a line that was cut off is no line."""
    runs, now = [], _Reading()
    for line in (PREFIX.sub("", raw).rstrip() for raw in text.split("\n")):
        begins = NAMESPACE.match(line)
        if now.started and (begins or CONFIG in line or now.passed(line)):
            runs.append(now)
            now = _Reading()
        _read_line(now, line, begins)
    runs.append(now)
    found = [_finished(r) for r in runs if r.started]
    names = [name] if len(found) == 1 else [f"{name} ({i + 1})" for i in range(len(found))]
    return [Run(n, *parts) for n, parts in zip(names, found, strict=True)]


def _read_line(run: _Reading, line: str, begins: re.Match[str] | None) -> None:
    if begins:
        run.settings |= _overrides(begins[1])
    elif CONFIG in line:
        run.config = []
    elif (step := ITERATION.search(line)) is not None:
        _end_config(run)
        loss, accuracy, rate = (float(g) for g in step.groups()[3:])
        row = {"step": _number_of(step), "epoch": int(step[1]), "loss": loss, "acc": accuracy, "lr": rate}
        run.rows.append(row)
    elif (feature := FEATURE.search(line)) is not None:
        run.feature = FEATURES.get(feature[1].lower(), "both")
    elif (validation := VALIDATION.search(line)) is not None:
        run.validated = int(validation[1])
    elif run.validated is not None and (found := MAP.match(line)):
        run.epochs.setdefault(run.validated, {"epoch": run.validated})[_named(run, "mAP")] = float(found[1]) / 100
    elif run.validated is not None and (found := CMC.match(line)):
        key = _named(run, f"rank{found[1]}")
        run.epochs.setdefault(run.validated, {"epoch": run.validated})[key] = float(found[2]) / 100
    elif (data := DATA.match(line)) is not None:
        run.classes = int(data[1])
    elif run.config is not None:
        run.config.append(line)


def _number_of(iteration: re.Match[str]) -> int:
    epoch, place, total = (int(g) for g in iteration.groups()[:3])
    return (epoch - 1) * total + place


def _named(run: _Reading, score: str) -> str:
    """`mAP` of the feature that is tested by default, `mAP_ori` and so on of the others."""
    return score if run.feature == "both" else f"{score}_{run.feature}"


def _overrides(namespace: str) -> dict[str, Any]:
    found = OPTS.search(namespace)
    try:
        listed = ast.literal_eval(found[1]) if found else []
    except (ValueError, SyntaxError):
        return {}
    return {str(k): _value(v) for k, v in zip(listed[::2], listed[1::2], strict=False)}


def _value(text: Any) -> Any:
    try:
        return yaml.safe_load(str(text))
    except yaml.YAMLError:
        return str(text)


def _end_config(run: _Reading) -> None:
    """The complete configuration, flattened to `MODEL.USE_SDTPS`; what is not YAML ends it."""
    lines, run.config = run.config, None
    if lines is None:
        return
    kept: list[str] = []
    for line in lines:
        if line and not re.match(r"^\s*[\w\"'-]+:|^\s*- ", line):
            break
        kept.append(line)
    try:
        config = yaml.safe_load("\n".join(kept))
    except yaml.YAMLError:
        return
    run.settings = _flat(config) | run.settings if isinstance(config, dict) else run.settings


def _flat(config: dict[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = value
    return flat


def _finished(run: _Reading) -> tuple[Any, ...]:
    steps, epochs = run.rows, [run.epochs[e] for e in sorted(run.epochs)]
    notes = []
    if steps and any(math.isnan(row["loss"]) for row in steps):
        notes.append(Message("runs.log_nan", "The log says nan as a loss."))
    about = {"classes": run.classes, "source": "demo"}
    return run.settings, columns(steps), columns(epochs), None, about, None, tuple(notes)
