"""Paired timing: competitors take turns in one process, so that a noisy machine is noisy for all of them."""

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio of medians, its bar and its spread."""

    name: str
    ratio: float
    bar: float
    low: float  # quartiles of the paired ratios
    high: float
    milliseconds: float
    reference_milliseconds: float

    @property
    def holds(self) -> bool:
        return self.ratio <= self.bar

    def markdown(self) -> str:
        mark = "yes" if self.holds else "**no**"
        return (
            f"| {self.name} | {self.ratio:.4g} | {self.low:.4g} to {self.high:.4g} | <= {self.bar:g} | {mark} "
            f"| {self.milliseconds:.2f} | {self.reference_milliseconds:.2f} |"
        )


HEADER = "| what | ratio | quartiles of pairs | bar | holds | ms | reference ms |\n|---|---|---|---|---|---|---|"


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(
    name: str, ours: Callable[[], object], reference: Callable[[], object], bar: float, pairs: int, warm_up: int = 2
) -> Row:
    """Interleave `ours` and `reference`; the order alternates from pair to pair."""
    for _ in range(warm_up):
        ours()
        reference()
    a, b = [], []
    for i in range(pairs):
        if i % 2:
            b.append(timed(reference))
            a.append(timed(ours))
        else:
            a.append(timed(ours))
            b.append(timed(reference))
    ratios = [x / y for x, y in zip(a, b, strict=True)]
    low, _, high = statistics.quantiles(ratios, n=4)
    median_a, median_b = statistics.median(a), statistics.median(b)
    return Row(name, median_a / median_b, bar, low, high, 1e3 * median_a, 1e3 * median_b)


def machine_facts() -> str:
    """One line on where this was measured."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"Python {platform.python_version()}, torch {torch.__version__} with {torch.get_num_threads()} threads"
    )
