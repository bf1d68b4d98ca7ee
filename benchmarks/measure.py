"""Paired timing: competitors take turns in one process, so that a noisy machine is noisy for all of them."""

import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Work = Callable[[], object]
Times = dict[str, list[float]]


@dataclass(frozen=True)
class Bar:
    """What a ratio is judged by."""

    limit: float
    at_least: bool = False

    def met(self, ratio: float) -> bool:
        """Whether a ratio keeps the bar."""
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:.3g}"


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio of medians, the quartiles of its pairs, and its bar.

    Attributes:
        name: what is divided by what.
        ratio: of the medians.
        low, high: quartiles of the ratios of the pairs.
        value, reference: the two medians, in `unit`.
        bar: what it is judged by; None where it is only told.
    """

    name: str
    ratio: float
    low: float
    high: float
    value: float
    reference: float
    bar: Bar | None = None
    unit: str = "ms"

    @property
    def verdict(self) -> str:
        """In one word."""
        if self.bar is None:
            return ""
        return "met" if self.bar.met(self.ratio) else "not met"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        bar = None if self.bar is None else {"limit": self.bar.limit, "at_least": self.bar.at_least}
        return vars(self) | {"bar": bar, "verdict": self.verdict}


@dataclass(frozen=True)
class Detail:
    """A small table beside the ratios."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Findings:
    """What one topic found; `data` holds its raw numbers for the JSON file, `pictures` files that go beside it."""

    rows: tuple[Row, ...] = ()
    details: tuple[Detail, ...] = ()
    notes: tuple[str, ...] = ()
    data: Mapping[str, Any] | None = None
    pictures: Mapping[str, bytes] = field(default_factory=dict)


def timed(work: Work) -> float:
    """Seconds."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def take_turns(contenders: Mapping[str, Work], rounds: int, warm_up: int = 2) -> Times:
    """Seconds of each contender in each round; the order goes round, so that nobody always follows the same one."""
    names = list(contenders)
    for _ in range(warm_up):
        for name in names:
            contenders[name]()
    times: Times = {name: [] for name in names}
    for i in range(rounds):
        first = i % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(timed(contenders[name]))
    return times


def ratio(
    name: str, ours: Sequence[float], reference: Sequence[float], bar: Bar | None = None, unit: str = "ms"
) -> Row:
    """The ratio of two series of pairs; seconds become milliseconds when that is the unit."""
    pairs = [a / b for a, b in zip(ours, reference, strict=True)]
    low, high = (pairs[0], pairs[0]) if len(pairs) < 2 else statistics.quantiles(pairs, n=4, method="inclusive")[::2]
    scale = 1e3 if unit == "ms" else 1.0
    a, b = statistics.median(ours), statistics.median(reference)
    return Row(name, a / b, low, high, scale * a, scale * b, bar, unit)


def compare(name: str, ours: Work, reference: Work, bar: Bar | None, rounds: int, warm_up: int = 2) -> Row:
    """Two contenders and their ratio."""
    times = take_turns({"ours": ours, "reference": reference}, rounds, warm_up)
    return ratio(name, times["ours"], times["reference"], bar)


def quantile(values: Sequence[float], percent: int) -> float:
    """The percentile of a series."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def percentile_ratio(
    name: str, ours: Sequence[float], reference: Sequence[float], percent: int, bar: Bar | None = None
) -> Row:
    """The ratio of percentiles of two series in milliseconds; its spread is that of the two halves of the run."""
    parts = []
    for i in range(2):
        halves = [series[len(series) // 2 * i :][: len(series) // 2] for series in (ours, reference)]
        parts.append(quantile(halves[0], percent) / quantile(halves[1], percent))
    a, b = quantile(ours, percent), quantile(reference, percent)
    return Row(f"{name}, p{percent} (spread: of the two halves)", a / b, min(parts), max(parts), a, b, bar)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The slope p of values ~ sizes^p: least squares on a double logarithmic scale."""
    x, y = [math.log(s) for s in sizes], [math.log(v) for v in values]
    return statistics.linear_regression(x, y).slope


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "processor unknown")


def machine_facts() -> dict[str, Any]:
    """When and where this was measured."""
    import torch

    return {
        "date": datetime.now(UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
    }
