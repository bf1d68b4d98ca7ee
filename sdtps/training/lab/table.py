"""The lab's result: what the notes saw beside what was seen here, and whether they agree, in one sentence each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sdtps.runs.cards import number
from sdtps.runs.diagnosis import diagnose
from sdtps.runs.schema import Run, Values
from sdtps.runs.series import accuracy, gradient_by_epoch, head_losses
from sdtps.support.messages import Message, as_note
from sdtps.training.lab.experiments import Experiment

AGREES, CONTRADICTS, NEITHER = "agrees", "contradicts", "-"
NAN = math.nan
RISE = 1.02  # the last epoch's loss is above the first one's by more than this


@dataclass(frozen=True)
class Line:
    """One experiment over its seeds: means, and the spread (standard deviation) of the last loss.

    Attributes:
        experiment: which.
        seeds: runs that it is made of.
        first, last, spread: loss of the first and the last epoch, the mean over the seeds, and its spread.
        accuracy: of the head that is tested, last epoch.
        mean_average_precision: of held-out people, last validation.
        gradient: median norm at the scores, first epoch that has one.
        diverged: runs whose loss became no number.
        flagged: rules of the diagnosis that fired in any of them.
    """

    experiment: Experiment
    seeds: int
    first: float
    last: float
    spread: float
    accuracy: float
    mean_average_precision: float
    gradient: float
    diverged: int
    flagged: tuple[str, ...]

    @property
    def rises(self) -> bool:
        """Whether the loss ends above where it began, or is no number any more."""
        return self.diverged > 0 or self.last > RISE * self.first


def line_of(experiment: Experiment, runs: Sequence[Run]) -> Line:
    """An experiment's runs in one line."""
    losses = [losses_of(run) for run in runs]
    ends = [values[-1] for values in losses]
    finite = [e for e in ends if math.isfinite(e)]
    return Line(
        experiment,
        len(runs),
        _mean(values[0] for values in losses),
        _mean(ends) if len(finite) == len(ends) else NAN,
        float(np.std(finite)) if finite else NAN,
        _mean(_end(accuracy(run)[1]) for run in runs),
        _mean(_end(run.by_epoch("mAP")[1]) for run in runs),
        _mean(_first(gradient_by_epoch(run, "scores")[1]) for run in runs),
        len(ends) - len(finite),
        tuple(sorted({f.rule for run in runs for f in diagnose([run])})),
    )


def losses_of(run: Run) -> list[float]:
    """The heads' loss by epoch; one that is no number where nothing was recorded."""
    return [float(v) for v in head_losses(run)[1]] or [NAN]


def judge(line: Line, final: Line | None) -> tuple[str, Message]:
    """`agrees`, `contradicts` or `-`, and one sentence with the numbers that it follows from."""
    name = line.experiment.name
    moved: dict[str, Any] = {"first": f"{line.first:.1f}", "last": _number(line.last)}
    if name == "final":
        return (CONTRADICTS if line.rises else AGREES), _moved(line, moved)
    if name.startswith("gumbel-tau"):
        calming = name == "gumbel-tau10"  # the notes expected it to calm; of the others, they saw the loss rise
        return (AGREES if line.rises != calming else CONTRADICTS), _moved(line, moved)
    if line.diverged:
        text = "The loss becomes no number in {diverged} of {seeds} runs."
        return NEITHER, Message("lab.diverged", text, diverged=line.diverged, seeds=line.seeds)
    if final is None:
        return NEITHER, Message("lab.moved", "Loss {first} to {last}.", **moved)
    if name == "control":
        text = "Only ori learns: accuracy {accuracy}, mAP {mAP}, against {final_mAP} of final with both heads."
        scores = {"accuracy": f"{line.accuracy:.2f}", "mAP": f"{line.mean_average_precision:.3f}"}
        return NEITHER, Message("lab.control", text, **scores, final_mAP=f"{final.mean_average_precision:.3f}")
    against = line.last - final.last
    within = abs(against) <= max(2 * math.hypot(line.spread, final.spread), 0.05 * final.last)
    seen = moved | {"final": f"{final.last:.1f}", "spread": f"{final.spread:.2f}"}
    beside = "loss {first} to {last}, against {final} (spread {spread}) of final"
    if name == "no-grad":
        if within:
            return CONTRADICTS, Message("lab.blamed", f"It changes nothing: {beside}.", **seen)
        return AGREES, Message("lab.matters", f"It matters: {beside}.", **seen)
    scores = {"accuracy": f"{line.accuracy:.2f}", "mAP": f"{line.mean_average_precision:.3f}"}
    code, words = (
        ("lab.alike", "No difference that the seeds do not make, too")
        if within
        else (("lab.slower", "Slower") if against > 0 else ("lab.faster", "Faster"))
    )
    return NEITHER, Message(code, f"{words}: {beside}; accuracy {{accuracy}}, mAP {{mAP}}.", **seen, **scores)


def _moved(line: Line, moved: Mapping[str, Any]) -> Message:
    """Whether the loss rises, with the gradient that goes with it."""
    gradient = f"{line.gradient:.0e}"
    if line.rises:
        text = "The loss rises from {first} to {last}; gradient at the scores {gradient}."
        return Message("lab.rises", text, **moved, gradient=gradient)
    text = "The loss falls from {first} to {last}; gradient at the scores {gradient}."
    return Message("lab.falls", text, **moved, gradient=gradient)


def cards_of(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The table as plain values, for a page: numbers that are none are None."""
    final = _final(lines)
    cards = []
    for line in lines:
        verdict, said = judge(line, final)
        e = line.experiment
        numbers = {
            "first": line.first, "last": line.last, "spread": line.spread, "accuracy": line.accuracy,
            "mAP": line.mean_average_precision, "gradient": line.gradient,
        }  # fmt: skip
        cards.append(
            {
                "name": e.name,
                "words": as_note(Message(f"lab.words.{e.name}", "{text}", text=e.words)),
                "notes": as_note(Message(f"lab.notes.{e.name}", "{text}", text=e.notes)) if e.notes else None,
                "seeds": line.seeds,
                "diverged": line.diverged,
                "flagged": list(line.flagged),
                "healthy": e.healthy,
                "verdict": verdict,
                "said": as_note(said),
            }
            | {k: number(v) for k, v in numbers.items()}
        )
    return cards


def _final(lines: Sequence[Line]) -> Line | None:
    return next((line for line in lines if line.experiment.name == "final"), None)


def table_of(lines: Sequence[Line]) -> str:
    """The table in Markdown."""
    final = _final(lines)
    rows = ["| experiment | what it changes | the notes saw | loss, first → last epoch | accuracy | mAP | gradient at "
            "the scores | flagged | agrees? | in words |", "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for line in lines:
        verdict, words = judge(line, final)
        e = line.experiment
        last = f"{_number(line.last)} ± {line.spread:.2f}" if math.isfinite(line.last) else "not a number"
        cells = (
            e.name, e.words, e.notes or "nothing", f"{line.first:.1f} → {last}", f"{line.accuracy:.2f}",
            f"{line.mean_average_precision:.3f}", f"{line.gradient:.0e}", ", ".join(line.flagged) or "nothing", verdict,
            words,
        )  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def lines_of(experiments: Sequence[Experiment], runs: Mapping[str, Sequence[Run]]) -> list[Line]:
    """A line for every experiment that has runs."""
    return [line_of(e, runs[e.name]) for e in experiments if runs.get(e.name)]


def _number(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "not a number"


def _end(values: Values) -> float:
    return float(values[-1]) if len(values) else NAN


def _first(values: Values) -> float:
    return next((float(v) for v in values if math.isfinite(v)), NAN)


def _mean(values: "object") -> float:
    finite = [v for v in values if math.isfinite(v)]  # type: ignore[attr-defined]
    return float(np.mean(finite)) if finite else NAN
