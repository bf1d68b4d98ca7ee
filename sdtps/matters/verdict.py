"""What the numbers say, in one sentence each; a verdict follows from the digits that are shown."""

import math

from sdtps.matters.interval import Interval
from sdtps.matters.replacements import Kind
from sdtps.support.messages import Message

POINTS = 100.0  # mAP and Rank-k in points, with one decimal
COSINE = "cosine"
DIGITS = {COSINE: 4}


def shown(metric: str, interval: Interval) -> Interval:
    """The numbers as they are printed."""
    return interval.rounded(1.0 if metric == COSINE else POINTS, DIGITS.get(metric, 1))


def signed(value: float, metric: str = "") -> str:
    """With a sign and the digits of its metric; a true minus."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:+.{DIGITS.get(metric, 1)}f}".replace("-", "−")


def what(kind: Kind, kept: int, patches: int, variant: str) -> Message:
    """What the selection is compared with."""
    if kind is Kind.ALL:
        return Message("matters.what.all", "all {n} patches", n=patches)
    if kind is Kind.RANDOM:
        return Message("matters.what.random", "{k} random ones", k=kept)
    if kind is Kind.CENTRE:
        return Message("matters.what.centre", "the {k} nearest to the middle", k=kept)
    if kind is Kind.INVERTED:
        return Message("matters.what.inverted", "the {k} with the worst scores", k=kept)
    if kind is Kind.PERSON:
        return Message("matters.what.person", "the {k} that people cover most", k=kept)
    return Message("matters.what.variant", "the variant {name}", name=variant)


def choosing(kept: int, soft: bool) -> Message:
    """What the selection does: a soft one drops nothing."""
    if soft:
        return Message("matters.weighing", "Weighing {k} chosen patches most", k=kept)
    return Message("matters.keeping", "Keeping {k} chosen patches", k=kept)


def retained(interval: Interval, choice: Message, patches: int) -> Message:
    """One sentence on what is left of the feature of all patches, where that is what others are compared by."""
    seen = shown(COSINE, interval)
    digits = {name: f"{getattr(seen, name):.4f}".replace("-", "−") for name in ("value", "low", "high")}
    text = "{choice} retains a cosine of {value} with the feature of all {n} patches, 95 % interval {low} to {high}."
    return Message("matters.retains", text, choice=choice, n=patches, **digits)


def verdict(
    metric: str, interval: Interval, against: Message, choice: Message, identities: int, labelled: bool
) -> Message:
    """One sentence on one difference.

    Args:
        metric: `mAP`, `Rank-1` or `cosine`.
        interval: as it is minus the replacement.
        against: see `what`.
        choice: see `choosing`.
        identities: how many the interval rests on; image sets where none are known.
        labelled: identities are known.
    """
    seen = shown(metric, interval)
    numbers = {
        "choice": choice,
        "value": signed(seen.value, metric),
        "low": signed(seen.low, metric),
        "high": signed(seen.high, metric),
        "metric": metric if labelled else Message("matters.retained", "retained cosine"),
        "against": against,
        "n": identities,
        "of": Message("matters.of.identities", "identities") if labelled else Message("matters.of.sets", "image sets"),
    }
    if seen.value == seen.low == seen.high == 0.0:
        text = "{choice} or {against} gives the same {metric}: no difference on {n} {of}."
        return Message("matters.same", text, **numbers)
    if not math.isfinite(seen.low):
        text = "{choice} is worth {value} {metric} over {against}: not shown, since one alone says nothing of others."
        return Message("matters.alone", text, **numbers)
    told = "{choice} is worth {value} {metric} over {against}, 95 % interval {low} to {high}: "
    if seen.low > 0:
        return Message("matters.better", told + "shown on {n} {of}.", **numbers)
    if seen.high < 0:
        return Message("matters.worse", told + "the chosen ones do worse, shown on {n} {of}.", **numbers)
    return Message("matters.open", told + "not shown on {n} {of}.", **numbers)
