"""Fuzz every target for some seconds and print what came of it."""

import argparse
import logging
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.targets import TARGETS, Target

ROUND = 25  # examples between two looks at the clock
PHASES = (Phase.generate, Phase.shrink)


@dataclass
class Found:
    """What came of one target."""

    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)


def fuzz(target: Target, seconds: float, start: int, rounds: int | None = None) -> Found:
    """Run a target in rounds until the time is over, or so many rounds; failures are kept by kind.

    Args:
        target: what to fuzz.
        seconds: when to stop; a round is finished.
        start: the first round's seed, and those after it count on.
        rounds: at most so many, for a run that is the same each time.
    """
    found = Found()
    began, number = time.monotonic(), 0
    while time.monotonic() - began < seconds and (rounds is None or number < rounds):
        _round(target, start + number, found)
        number += 1
    found.seconds = time.monotonic() - began
    return found


def _round(target: Target, number: int, found: Found) -> None:
    @seed(number)
    @settings(max_examples=ROUND, database=None, deadline=None, phases=PHASES, suppress_health_check=list(HealthCheck))
    @given(target.examples)
    def run(example: Any) -> None:
        found.outcomes[target.run(example)] += 1

    try:
        run()
    except Exception as error:  # a failure is what is looked for; the rounds go on
        notes = " ".join(getattr(error, "__notes__", ()))
        found.failures.setdefault(f"{type(error).__name__}: {error}"[:200], f"seed {number}: {notes}"[:1000])


def main() -> int:
    """The table; 1 when anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each target (60)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another series of examples (0)")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    print("| target | seconds | examples | distinct outcomes | failures |\n|---|---|---|---|---|")
    failed = {}
    for target in TARGETS:
        found = fuzz(target, options.seconds, options.seed)
        counts = (f"{found.seconds:.0f}", found.outcomes.total(), len(found.outcomes), len(found.failures))
        print(f"| {target.name} | " + " | ".join(map(str, counts)) + " |", flush=True)
        failed |= {f"{target.name}: {kind}": how for kind, how in found.failures.items()}
    for kind, how in failed.items():
        print(f"\n{kind}\n  {how}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
