"""A folder as a batch against the bare batched forward of the same triplets; and how long a figure takes."""

import tempfile
from dataclasses import replace
from pathlib import Path

import torch

import sdtps
from benchmarks.engine import VIT_B16
from benchmarks.measure import Row, compare, timed
from sdtps.batch import ResultFolder, Task, items_of, run_local
from sdtps.checkpoints import EMBEDDED, load_model, random_model
from sdtps.datasets import read_rgbnt201
from sdtps.figure import grid_figure
from sdtps.inputs import prepare, read_triplet
from sdtps.model import LoadedModel
from sdtps.synth import write_rgbnt201

TRIPLETS = 16
BATCH_BAR = 1 / 0.9  # of time: throughput at least 0.9 of the bare forward's


def folder_batch(name: str, model: LoadedModel, data: Path, pairs: int) -> Row:
    """Decode, forward, numbers, overlays and files of all triplets, against the forward of all of them at once."""
    items = items_of(read_rgbnt201(data, "test"))
    backbone = model.net.backbone
    prepared = [prepare(read_triplet(*item.record.paths), backbone.input_size) for item in items]
    images = torch.stack([p.tensor(backbone.mean, backbone.std) for p in prepared], dim=1)
    task = Task(sdtps.Settings())

    def ours() -> None:
        with tempfile.TemporaryDirectory() as out:
            folder = ResultFolder(out)
            folder.begin(task, model.weights, backbone.grid)
            run_local(model, items, task, folder)

    def reference() -> None:
        with torch.inference_mode():
            backbone(images)

    title = f"folder batch of {len(items)} / bare batched forward, {name}"
    return compare(title, ours, reference, BATCH_BAR, pairs, warm_up=1)


def figure_seconds(model: LoadedModel, data: Path) -> dict[str, float]:
    """Seconds to draw and write the page-wide figure, by format; the best of three."""
    triplet = read_triplet(*items_of(read_rgbnt201(data, "test"))[0].record.paths)
    analysis = sdtps.analyse_triplet(model, triplet)
    analysis = replace(analysis, weights=replace(analysis.weights, trained=True, missing=()))
    pixels = prepare(triplet, model.net.backbone.input_size).pixels
    return {
        kind: min(timed(lambda kind=kind: grid_figure(analysis, pixels).render(kind)) for _ in range(3))  # type: ignore[misc]
        for kind in ("pdf", "svg", "png")
    }


def run(quick: bool) -> tuple[list[Row], dict[str, float]]:
    """The rows of the table, and seconds per figure."""
    pairs = 3 if quick else 7
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        write_rgbnt201(data, TRIPLETS // 2, 2, seed=0, split="test", workers=1)
        model = load_model(device="cpu") if EMBEDDED.exists() else random_model(VIT_B16, device="cpu")
        rows = [folder_batch("embedded" if EMBEDDED.exists() else "ViT-B/16", model, data, pairs)]
        return rows, figure_seconds(model, data)
