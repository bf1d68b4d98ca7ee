"""A run as what the page's Training tab draws: curves, findings, settings, and where the maps are. Plain values."""

import math
from collections.abc import Sequence
from typing import Any

from sdtps.runs.diagnosis import Finding, diagnose, differing_settings, flat
from sdtps.runs.schema import Run
from sdtps.runs.series import Series, curves
from sdtps.support.messages import as_note

Card = dict[str, Any]
DIGITS = 6


def run_cards(runs: Sequence[Run]) -> Card:
    """Everything the tab shows of these runs, and what is wrong with them, alone and beside one another."""
    return {
        "runs": [run_card(i, run) for i, run in enumerate(runs)],
        "findings": [finding_card(f) for f in diagnose(runs)],
        "differing": _differing(runs),
    }


def run_card(number: int, run: Run) -> Card:
    """One run."""
    return {
        "id": number,
        "name": run.name,
        "settings": {k: v for k, v in flat(run.settings).items() if isinstance(v, str | int | float | bool)},
        "classes": run.classes,
        "epochs": list(run.watched_epochs),
        "probes": list(run.probes),
        "curves": [curve_card(s) for s in curves(run)],
        "first_bad": run.first_bad and {k: run.first_bad.get(k) for k in ("step", "epoch", "why")},
        "notes": [as_note(n) for n in run.notes],
    }


def curve_card(series: Series) -> Card:
    """One curve; what is not a number is None."""
    return {
        "name": series.name,
        "log": series.log,
        "epochs": [int(e) for e in series.epochs],
        "values": [number(v) for v in series.values],
    }


def finding_card(finding: Finding) -> Card:
    """One finding with its evidence."""
    evidence = {k: number(v) if isinstance(v, float) else str(v) for k, v in finding.evidence.items()}
    return {
        "rule": finding.rule,
        "run": finding.run,
        "said": as_note(finding.said),
        "evidence": evidence,
        "epoch": finding.epoch,
    }


def number(value: float) -> float | None:
    """Six digits, or None for what JSON has no word for."""
    return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None


def _differing(runs: Sequence[Run]) -> list[str]:
    """Settings in which not all runs are alike, for the legend."""
    names = {name for run in runs[1:] for name in differing_settings(runs[0], run)}
    return sorted(names)
