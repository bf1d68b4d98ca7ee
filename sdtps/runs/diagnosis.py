"""What is wrong with a training, in words, with the evidence beside it.

Each rule looks at one run, or at two, and says one sentence or nothing. A rule that fires names the epochs and the
numbers it fired on, so that a reader can disagree.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from sdtps.runs.schema import GRADIENT, HEAD, ROUTES, SEED, Run
from sdtps.runs.series import gradient_by_epoch, head_losses, settling
from sdtps.support.messages import Message

AMPLIFIED = 1e6  # times the neighbouring route
FLAT = 0.02  # spread of a loss that does not move, relative to it
AT_LEVEL = 0.03  # how near to the level
CHANCE = 3.0  # times chance: an accuracy that says nothing yet
SATURATED_SHARE = 0.95
FROZEN_EPOCHS = 3  # epochs with maps, at least
FEW_STEPS = 20  # before that, no loss is called flat
MARGIN_LEVELS = {"ln 2": math.log(2), "margin 0.3": 0.3}
# What our recipes and DeMo's configurations call the weights of cross-entropy, triplet and the selection's head.
LOSS_SHARES = (
    ("loss.cross_entropy", "MODEL.ID_LOSS_WEIGHT"),
    ("loss.triplet", "MODEL.TRIPLET_LOSS_WEIGHT"),
    ("heads.sdtps", "MODEL.SDTPS_LOSS_WEIGHT"),
)
RISES = 1.25  # times its least value: a loss that climbs


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        rule: name of the rule.
        run: name of the run, or of two, joined by ` / `.
        said: the sentence.
        evidence: the numbers behind it, by name.
        epoch: where to look, where there is such a place.
    """

    rule: str
    run: str
    said: Message
    evidence: Mapping[str, Any] = field(default_factory=dict)
    epoch: int | None = None


def diagnose(runs: Sequence[Run]) -> list[Finding]:
    """Everything that the rules find in these runs, and between each two of them."""
    found = [f for run in runs for rule in RULES for f in rule(run)]
    return found + [f for a, b in combinations(runs, 2) for rule in PAIR_RULES for f in rule(a, b)]


def collapsed(run: Run) -> Iterable[Finding]:
    """A loss that stays at ln(classes) or at the margin: every feature is alike, nothing is told apart."""
    levels = _levels(run)
    for name in ("loss", "loss_ori", "loss_sdtps", "ori", "sdtps"):
        values = run.scalar(name)
        values = values[np.isfinite(values)]
        if len(values) < FEW_STEPS or _learns(run):
            continue
        tail = values[-max(FEW_STEPS // 2, len(values) // 2) :]
        middle = float(np.median(tail))
        flat = float(tail.std()) < FLAT * abs(middle)
        near = [k for k, level in levels.items() if abs(middle - level) < AT_LEVEL * level]
        if flat and near:
            text = (
                "{name} stands still at {value}, which is {level}: the features have collapsed, nothing is told apart."
            )
            yield Finding(
                "collapsed",
                run.name,
                Message("finding.collapsed", text, name=name, value=f"{middle:.3g}", level=near[0]),
                {"median of the last half": middle, "spread": float(tail.std()), "level": levels[near[0]]},
            )
            return


def _levels(run: Run) -> dict[str, float]:
    """Losses of features that tell nothing apart: of the parts alone, of a head, of all heads with their weights."""
    levels = dict(MARGIN_LEVELS)
    if not run.classes or run.classes < 2:
        return levels
    known = flat(run.settings)
    entropy, triplet, further = (_share(known.get(a, known.get(b))) for a, b in LOSS_SHARES)
    chance = math.log(run.classes)
    levels[f"ln {run.classes}"] = chance
    levels[f"ln {run.classes} + ln 2"] = chance + math.log(2)
    head = f"{entropy:g} ln {run.classes} + {triplet:g} ln 2"
    levels.setdefault(head, entropy * chance + triplet * math.log(2))
    levels[f"{1 + further:g} ({head})"] = (1 + further) * levels[head]
    return levels


def _share(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 1.0


def _learns(run: Run) -> bool:
    """Whether an accuracy is clearly above chance in the end."""
    chance = 1.0 / run.classes if run.classes else 0.01
    ends = [run.by_epoch(n)[1][-1:] for n in ("acc", "acc_ori", "acc_sdtps")]
    return any(len(end) and end[0] > CHANCE * chance for end in ends)


def amplified(run: Run) -> Iterable[Finding]:
    """A gradient at the scores that is out of all proportion to the aggregation beside it: the 1e10 mask."""
    for route in ("scores", "predictor"):
        epochs, values = gradient_by_epoch(run, route)
        _, beside = gradient_by_epoch(run, "aggregation")
        if not len(values) or len(values) != len(beside):
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            times = values / beside
        wild = np.flatnonzero(np.isfinite(times) & (times > AMPLIFIED))
        if len(wild):
            at = wild[0]
            text = (
                "The gradient at the {route} is {times} times that of the aggregation beside it: a decision masks the "
                "logits by a constant of 1e10, which drowns the task. Train without Gumbel, or use ste-tokens."
            )
            yield Finding(
                "amplified",
                run.name,
                Message("finding.amplified", text, route=Message(f"evidence.{route}", route), times=f"{times[at]:.0e}"),
                {route: float(values[at]), "aggregation": float(beside[at]), "times": float(times[at])},
                int(epochs[at]),
            )
            return


def not_finite(run: Run) -> Iterable[Finding]:
    """The first step whose loss or gradient is no number."""
    names = ["loss", *(GRADIENT + r for r in ROUTES)]
    steps = run.scalar("step")
    places = [(int(np.flatnonzero(bad)[0]), name) for name in names if (bad := _broken(run, name)).any()]
    if places:
        place, name = min(places, key=lambda found: (found[0], names.index(found[1])))
        epoch = int(run.scalar("epoch")[place])
        text = "{name} is no number from step {step} (epoch {epoch}) on; what follows means nothing."
        said = Message("finding.not_finite", text, name=_in_words(name), step=int(steps[place]), epoch=epoch)
        shown = [k for k in dict.fromkeys(("loss", name)) if place and len(run.scalar(k))]
        before = {f"{k} one step before": float(run.scalar(k)[place - 1]) for k in shown}
        yield Finding("not_finite", run.name, said, before, epoch)


def _in_words(column: str) -> Message:
    return Message(f"recorded.{column}", column.replace(GRADIENT, "the gradient at the "))


def _broken(run: Run, name: str) -> Any:
    """Where a number that was recorded is infinite, or NaN at the step that every later one shares."""
    values = run.scalar(name)
    if name == "loss":
        return ~np.isfinite(values)
    return np.isinf(values) | (np.isnan(values) & ~np.isfinite(run.scalar("loss"))) if len(values) else values != values


def exploded(run: Run) -> Iterable[Finding]:
    """The recorder's first bad step: a loss or gradient that is many times what is usual."""
    bad = run.first_bad
    if bad is not None and "times the median" in str(bad.get("why", "")):
        text = "At step {step} (epoch {epoch}) the {why}."
        said = Message("finding.exploded", text, step=bad["step"], epoch=bad["epoch"], why=bad["why"])
        yield Finding("exploded", run.name, said, dict(bad.get("batch", {})), int(bad["epoch"]))


def climbs(run: Run) -> Iterable[Finding]:
    """A loss that ends well above where it has been, while every part of it still counts as before."""
    epochs, values = run.by_epoch("loss")
    # A head that enters later adds its own loss; the heads are then looked at one by one.
    heads = head_losses(run)[1]
    values = heads if len(heads) == len(values) else values
    if len(values) < 3 or not np.isfinite(values).all():
        return
    least = int(np.argmin(values))
    if values[-1] > RISES * values[least] and values[-1] > values[0]:
        text = "The loss climbs from {least} (epoch {from_epoch}) to {last}; training undoes itself."
        said = Message(
            "finding.climbs",
            text,
            least=f"{values[least]:.3g}",
            from_epoch=int(epochs[least]),
            last=f"{values[-1]:.3g}",
        )
        yield Finding(
            "climbs", run.name, said, {"least": float(values[least]), "last": float(values[-1])}, int(epochs[-1])
        )


def frozen(run: Run) -> Iterable[Finding]:
    """Kept sets that are the same patches in every epoch: the selection does not learn."""
    if not run.probes or len(run.watched_epochs) < FROZEN_EPOCHS:
        return
    found = settling(run)
    if len(found.epochs) >= FROZEN_EPOCHS and np.nanmin(found.since_first[1:]) >= 1.0:
        text = (
            "The kept patches have not changed since epoch {first} on any watched image set: the selection is frozen."
        )
        said = Message("finding.frozen", text, first=int(found.epochs[0]))
        yield Finding("frozen", run.name, said, {"epochs watched": len(found.epochs)}, int(found.epochs[-1]))


def saturated(run: Run) -> Iterable[Finding]:
    """A predictor whose sigmoid has no slope left: no gradient moves it any more."""
    if not run.probes or not run.watched_epochs:
        return
    found = settling(run)
    wild = np.flatnonzero(found.saturation > SATURATED_SHARE)
    if len(wild):
        at = wild[0]
        text = "{share} % of the predictor's values are within 0.01 of 0 or 1 from epoch {epoch} on: it cannot learn."
        share, epoch = f"{100 * found.saturation[at]:.0f}", int(found.epochs[at])
        said = Message("finding.saturated", text, share=share, epoch=epoch)
        yield Finding("saturated", run.name, said, {"share": float(found.saturation[at])}, epoch)


def left_out(run: Run) -> Iterable[Finding]:
    """A head that never got a gradient, though nobody said that it should not."""
    declared = run.settings.get("heads") or {}
    for name in (n for n in run.steps if n.startswith(HEAD)):
        head, values = name.removeprefix(HEAD), run.scalar(name)
        waits = int((run.settings.get("selection") or {}).get("warm_up_epochs") or 0) if head == "sdtps" else 0
        after = values[run.scalar("epoch") >= waits]
        if len(after) >= FEW_STEPS // 4 and not np.nan_to_num(after).any() and declared.get(head, 1.0):
            text = (
                "The head {head} got no gradient in any step: it is not in the loss, and what it tests is not trained."
            )
            yield Finding("left_out", run.name, Message("finding.left_out", text, head=head), {"steps": len(after)})


def dead_switch(a: Run, b: Run) -> Iterable[Finding]:
    """Settings that differ and numbers that are equal to the bit: the switch is read by no code."""
    differing = differing_settings(a, b)
    if differing and _same_numbers(a, b):
        text = "{names} differ between these runs, and every loss is equal to the bit: the switch is read by no code."
        said = Message("finding.dead_switch", text, names=", ".join(differing))
        yield Finding("dead_switch", f"{a.name} / {b.name}", said, {k: [*v] for k, v in differing.items()})


def changed_code(a: Run, b: Run) -> Iterable[Finding]:
    """Equal settings, seed included, and different numbers: the code, the data or the machine changed in between."""
    if not a.settings or differing_settings(a, b) or _same_numbers(a, b):
        return
    first, second = a.scalar("loss"), b.scalar("loss")
    both = min(len(first), len(second))
    if both:
        apart = np.flatnonzero(first[:both] != second[:both])
        if not len(apart):
            return
        text = (
            "These runs have equal settings and differ from step {step} on: the code, the data or the machine changed "
            "in between, and they cannot be compared as repeats."
        )
        evidence = {"first": float(first[apart[0]]), "second": float(second[apart[0]])}
        said = Message("finding.changed_code", text, step=int(a.scalar("step")[apart[0]]))
        yield Finding("changed_code", f"{a.name} / {b.name}", said, evidence)


def _same_numbers(a: Run, b: Run) -> bool:
    first, second = a.scalar("loss"), b.scalar("loss")
    both = min(len(first), len(second))
    return both >= FEW_STEPS // 4 and bool(np.array_equal(first[:both], second[:both], equal_nan=True))


def differing_settings(a: Run, b: Run) -> dict[str, tuple[Any, Any]]:
    """Settings by dotted name whose values differ; one that only one run has counts."""
    x, y = flat(a.settings), flat(b.settings)
    names = sorted(x.keys() | y.keys())
    return {n: (x.get(n), y.get(n)) for n in names if _text(x.get(n)) != _text(y.get(n))}


def flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested settings by dotted names."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        inner = isinstance(value, Mapping) and value
        found |= flat(value, f"{before}{key}.") if inner else {f"{before}{key}": value}
    return found


def is_repeat(a: Run, b: Run) -> bool:
    """Whether two runs differ in their seed alone."""
    return set(differing_settings(a, b)) <= {SEED}


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


Rule = Callable[[Run], Iterable[Finding]]
RULES: tuple[Rule, ...] = (not_finite, amplified, collapsed, exploded, climbs, frozen, saturated, left_out)
PAIR_RULES: tuple[Callable[[Run, Run], Iterable[Finding]], ...] = (dead_switch, changed_code)
