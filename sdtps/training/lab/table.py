"""The lab's result: what the notes saw beside what was seen here, and whether they agree, in one sentence each."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdtps.runs.diagnosis import diagnose
from sdtps.runs.schema import Run
from sdtps.runs.series import gradient_by_epoch
from sdtps.training.lab.experiments import Experiment

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
        gradient: median norm at the scores, first epoch.
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
    losses = [head_losses(run) for run in runs]
    ends = [values[-1] for values in losses]
    finite = [e for e in ends if math.isfinite(e)]
    accuracy = "acc_ori" if experiment.name == "control" else "acc_sdtps"
    return Line(
        experiment,
        len(runs),
        _mean(values[0] for values in losses),
        _mean(ends) if len(finite) == len(ends) else NAN,
        float(np.std(finite)) if finite else NAN,
        _mean(_last(run, accuracy) for run in runs),
        _mean(_last(run, "mAP") for run in runs),
        _mean(g[0] if len(g := gradient_by_epoch(run, "scores")[1]) else NAN for run in runs),
        len(ends) - len(finite),
        tuple(sorted({f.rule for run in runs for f in diagnose([run])})),
    )


def head_losses(run: Run) -> list[float]:
    """Loss by epoch, both heads added whether they count or not, so that all experiments can be compared."""
    parts = [run.by_epoch(name)[1] for name in ("loss_ori", "loss_sdtps")]
    return [float(v) for v in np.sum(parts, axis=0)] or [NAN]


def judge(line: Line, final: Line | None) -> tuple[str, str]:
    """`agrees`, `contradicts` or `-`, and one sentence with the numbers that it follows from."""
    name, moved = line.experiment.name, f"loss {line.first:.1f} to {_number(line.last)}"
    if name.startswith("gumbel-tau"):
        rises = f"{moved}, gradient at the scores {line.gradient:.0e}"
        if name == "gumbel-tau10":
            return ("contradicts", f"It does not calm: {rises}.") if line.rises else ("agrees", f"It falls: {moved}.")
        return ("agrees", f"It rises: {rises}.") if line.rises else ("contradicts", f"It does not rise: {rises}.")
    if name == "final":
        return ("contradicts", f"It rises: {moved}.") if line.rises else ("agrees", f"It falls: {moved}.")
    if line.diverged:
        return "-", f"The loss becomes no number in {line.diverged} of {line.seeds} runs."
    if final is None or name == "final":
        return "-", f"{moved}."
    against = line.last - final.last
    within = abs(against) <= max(2 * math.hypot(line.spread, final.spread), 0.05 * final.last)
    seen = f"{moved}, against {final.last:.1f} (spread {final.spread:.2f}) of final"
    if name == "no-grad":
        return ("contradicts", f"It changes nothing: {seen}.") if within else ("agrees", f"It matters: {seen}.")
    words = "No difference that the seeds do not make, too" if within else ("Slower" if against > 0 else "Faster")
    return "-", f"{words}: {seen}; accuracy {line.accuracy:.2f}, mAP {line.mean_average_precision:.3f}."


def table_of(lines: Sequence[Line]) -> str:
    """The table in Markdown."""
    final = next((line for line in lines if line.experiment.name == "final"), None)
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


def _last(run: Run, name: str) -> float:
    values = run.by_epoch(name)[1]
    return float(values[-1]) if len(values) else NAN


def _mean(values: "object") -> float:
    finite = [v for v in values if math.isfinite(v)]  # type: ignore[attr-defined]
    return float(np.mean(finite)) if finite else NAN
