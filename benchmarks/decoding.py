"""What it costs honest files that strangers' pictures are decoded in a process of its own."""

import statistics

import torch

from benchmarks.measure import Bar, Detail, Findings, Row, compare, take_turns, timed
from benchmarks.subjects import files, input_tensor, subjects
from sdtps import pipeline
from sdtps.images import confined
from sdtps.images.read import read_triplet
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet
from sdtps.types import MODALITIES

BAR = Bar(1.15)


def first_analysis(name: str, model: LoadedModel, rounds: int) -> Row:
    """From the bytes of three files to every number, as the server does it, beside the bare forward."""
    contents = dict(zip(map(str, MODALITIES), files(), strict=True))
    images = input_tensor(model)

    def ours() -> None:
        pipeline.forget(model.identity)
        OpenSet.of(model, confined.read_triplet(contents)).analyse()

    def reference() -> None:
        with torch.inference_mode():
            model.net.backbone(images)

    return compare(f"first analysis of a stranger's files / bare forward, {name}", ours, reference, BAR, rounds)


def run(quick: bool) -> Findings:
    """The ratio for every model, and the two ways of decoding side by side."""
    confined.decoders().close()
    contents = dict(zip(map(str, MODALITIES), files(), strict=True))
    first = timed(lambda: confined.read_triplet(contents))
    contenders = {
        "in this process": lambda: read_triplet(*files()),
        "in its own": lambda: confined.read_triplet(contents),
    }
    times = take_turns(contenders, 10 if quick else 50)
    rows = tuple((way, f"{1000 * statistics.median(values):.1f}") for way, values in times.items())
    detail = Detail(
        "Decoding three pictures", ("where", "ms"), (*rows, ("in its own, the first", f"{1000 * first:.0f}"))
    )
    ratios = tuple(first_analysis(name, model, 5 if quick else 25) for name, model in subjects().items())
    return Findings(ratios, (detail,), data=times)
