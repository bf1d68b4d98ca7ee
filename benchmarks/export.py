"""How long a figure for a paper takes."""

import statistics
from dataclasses import replace

import sdtps
from benchmarks.measure import Detail, Findings, timed
from benchmarks.subjects import embedded, files
from sdtps.export.figure import grid_figure
from sdtps.images.read import prepare, read_triplet

KINDS = ("pdf", "svg", "png")


def run(quick: bool) -> Findings:
    """Seconds to draw and write the page-wide figure of eight columns, by format."""
    model = embedded()
    triplet = read_triplet(*files())
    analysis = sdtps.analyse_triplet(model, triplet)
    analysis = replace(analysis, weights=replace(analysis.weights, trained=True, missing=()))
    pixels = prepare(triplet, model.net.backbone.input_size).pixels
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for _ in range(1 if quick else 3):
        for kind in KINDS:
            times[kind].append(timed(lambda kind=kind: grid_figure(analysis, pixels).render(kind)))  # type: ignore[misc]
    rows = tuple((kind, f"{statistics.median(values):.2f}") for kind, values in times.items())
    return Findings(details=(Detail("A figure of eight columns", ("format", "seconds"), rows),), data=times)
