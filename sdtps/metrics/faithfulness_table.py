"""Does the selection beat chance? Faithfulness over many triplets, as the table of the model card."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from sdtps.datasets import open_dataset
from sdtps.datasets.examples import find_examples
from sdtps.images.masks import people_patches
from sdtps.images.read import Triplet
from sdtps.metrics.faithfulness import Faithfulness, measure_faithfulness
from sdtps.metrics.removal import Curve
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet, runnable
from sdtps.types import Settings, WeightsReport


@dataclass(frozen=True)
class Case:
    """An image set to judge: how to read it, its mask and its camera where they are known."""

    name: str
    read: Callable[[], Triplet]
    mask: Path | None
    camera: int | None = None


def example_cases() -> list[Case]:
    """The shipped examples."""
    return [Case(e.name, partial(getattr, e, "triplet"), e.mask) for e in find_examples().values()]


def folder_cases(folder: str | Path, split: str | None = None) -> list[Case]:
    """The triplets of a data folder: of one split, by default that of its queries."""
    dataset = open_dataset(folder)
    return [Case(r.name, r.read, r.mask, r.cam) for r in dataset.listing(split or dataset.query).records]


def judge(
    model: LoadedModel,
    cases: Sequence[Case],
    settings: Settings,
    *,
    orders: int,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Faithfulness]:
    """The report on each case, by name.

    Args:
        model: loaded weights.
        cases: the triplets.
        settings: ratios, beta and variant.
        orders: random orders behind each band.
        seed: of the random orders and the noise.
        progress: called with (done, total).
    """
    runnable(model, settings.variant)  # before anything is computed
    backbone = model.net.backbone
    reports = {}
    for i, case in enumerate(cases):
        person = None if case.mask is None else people_patches(case.mask, backbone.input_size, backbone.grid)
        opened = OpenSet.of(model, case.read(), case.camera, asked=False)
        reports[case.name] = measure_faithfulness(opened, settings, person=person, orders=orders, seed=seed)
        if progress is not None:
            progress(i + 1, len(cases))
    return reports


def table(reports: dict[str, Faithfulness], weights: WeightsReport, settings: Settings, orders: int) -> str:
    """The reports in Markdown: one row per triplet and modality, and how often the selection beats each baseline."""
    lines = [
        f"Weights {weights.short_hash}, variant {settings.variant}, sparse ratio {settings.sparse_ratio:g}, aggregation"
        f" ratio {settings.aggr_ratio:g}, beta {settings.beta:g}, {orders} random orders. How much better the area is"
        " than that of a random order (above 0 is good), with the middle 95 % over the random orders in brackets; bold"
        " where the whole interval is above 0. After the slash: how much better than the centre prior.",
        "",
        "| image set | | insertion, whole | insertion, person | deletion, whole | deletion, person | kept only | "
        "dropped only | precision |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, report in reports.items():
        for m, targets in report.removal.items():
            whole, person = targets["whole"], targets.get("person")
            cells = [
                _cell(whole.insertion),
                "" if person is None else _cell(person.insertion),
                _cell(whole.deletion),
                "" if person is None else _cell(person.deletion),
                f"{whole.retained.kept:.3f}",
                f"{whole.retained.dropped:.3f}",
                "" if np.isnan(report.facts[m].precision) else f"{report.facts[m].precision:.3f}",
            ]
            lines.append(f"| {name} | {m.upper()} | " + " | ".join(cells) + " |")
    lines += ["", "| | beats chance | beats the centre prior |", "|---|---|---|"]
    for target in ("whole", "person"):
        found = [row[target] for r in reports.values() for row in r.removal.values() if target in row]
        if found:
            lines += [_verdicts(kind, target, [getattr(r, kind) for r in found]) for kind in ("insertion", "deletion")]
    return "\n".join(lines)


def _cell(curve: Curve) -> str:
    d = curve.digits
    lead = f"**{curve.lead:+.{d}f}**" if curve.beats_chance else f"{curve.lead:+.{d}f}"
    return f"{lead} [{curve.lead_low:+.{d}f}, {curve.lead_high:+.{d}f}] / {curve.centre_lead:+.{d}f}"


def _verdicts(kind: str, target: str, curves: Sequence[Curve]) -> str:
    chance, centre = _share(c.beats_chance for c in curves), _share(c.beats_centre for c in curves)
    return f"| {kind}, {target} | {chance} | {centre} |"


def _share(wins: Iterable[bool]) -> str:
    each = list(wins)
    return f"{sum(each)} of {len(each)} ({sum(each) / len(each):.0%})"
