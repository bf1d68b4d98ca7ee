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
    """The reports in Markdown: one row per triplet and modality, and how often each area leaves the band of chance."""
    lines = [
        f"Weights {weights.short_hash}, variant {settings.variant}, sparse ratio {settings.sparse_ratio:g}, aggregation"
        f" ratio {settings.aggr_ratio:g}, beta {settings.beta:g}, {orders} random orders. Areas, with the middle 95 %"
        " of random orders in brackets; bold where the selection beats them.",
        "",
        "| triplet | | insertion, whole | insertion, person | deletion, whole | deletion, person | kept only | "
        "dropped only | precision |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, report in reports.items():
        for m, targets in report.removal.items():
            whole, person = targets["whole"], targets.get("person")
            cells = [
                _cell(whole.insertion, whole.insertion.above),
                "" if person is None else _cell(person.insertion, person.insertion.above),
                _cell(whole.deletion, whole.deletion.below),
                "" if person is None else _cell(person.deletion, person.deletion.below),
                f"{whole.retained.kept:.3f}",
                f"{whole.retained.dropped:.3f}",
                "" if np.isnan(report.facts[m].precision) else f"{report.facts[m].precision:.3f}",
            ]
            lines.append(f"| {name} | {m.upper()} | " + " | ".join(cells) + " |")
    lines += ["", "| beats chance | pairs |", "|---|---|"]
    for target in ("whole", "person"):
        found = [row[target] for r in reports.values() for row in r.removal.values() if target in row]
        if found:
            lines.append(f"| insertion above the band, {target} | {_share(r.insertion.above for r in found)} |")
            lines.append(f"| deletion below the band, {target} | {_share(r.deletion.below for r in found)} |")
    return "\n".join(lines)


def _cell(curve: Curve, wins: bool) -> str:
    area = f"**{curve.area:.3f}**" if wins else f"{curve.area:.3f}"
    return f"{area} [{curve.area_low:.3f}, {curve.area_high:.3f}]"


def _share(wins: Iterable[bool]) -> str:
    each = list(wins)
    return f"{sum(each)} of {len(each)} ({sum(each) / len(each):.0%})"
