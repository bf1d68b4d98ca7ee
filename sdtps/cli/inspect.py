"""`inspect`: what is kept of one image set, in the terminal."""

import argparse

import numpy as np

from sdtps.cli import options as shared
from sdtps.export.serialise import as_json
from sdtps.types import Analysis, ModalityTrace
from sdtps.variants import get_variant

EXAMPLES = """
    inspect rgb.png nir.png tir.png
    inspect rgb.png - tir.png --sparse-ratio 0.3 --weights DeMobest.pth
    inspect result.zip --json
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "analyse one image set, or open a bundle, and print what is kept"
    parser = shared.add_command(commands, "inspect", short, EXAMPLES)
    shared.add_set(parser)
    parser.add_argument("--json", action="store_true", help="print every number as JSON")
    shared.add_model(parser, anonymous=True)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Analyse and print."""
    analysis = shared.open_set(options).analysis
    if options.json:
        shared.print_json(as_json(analysis))
    else:
        describe(analysis)
    return 0


def describe(analysis: Analysis) -> None:
    """Weights, notes, and the kept patches as a picture of letters."""
    from sdtps.export.payload import MOST_NUMBERS

    report = analysis.weights
    state = "trained" if report.complete else "NOT fully trained"
    print(f"weights {report.name} ({report.short_hash}, {state}), variant {analysis.settings.variant}")
    for note in (*report.assumed, *report.notes, *analysis.notes):
        print(f"note: {note}")
    for part in report.absent:
        print(f"{part}: not in this checkpoint")
    for m, trace in analysis.traces.items():
        print(f"{m.upper()}: {_headline(analysis, trace)}")
        for r in range(analysis.grid.rows):
            row = slice(r * analysis.grid.cols, (r + 1) * analysis.grid.cols)
            print("    " + " ".join(_letters(trace)[row]))
    for name, values in analysis.fusion.items():
        if values.size <= MOST_NUMBERS and values.ndim <= 1:
            print(f"{name}: {np.array2string(values, precision=3)}")


def _headline(analysis: Analysis, trace: ModalityTrace) -> str:
    """What a modality keeps, or how it weighs."""
    n, variant = analysis.grid.patches, get_variant(analysis.settings.variant)
    if trace.weights is not None:
        low, high = trace.weights.min(), trace.weights.max()
        return f"weighs all {n} patches from {low:.2f} to {high:.2f}, effective number {trace.effective:.1f}"
    kept = f"keeps {trace.kept} of {n} patches"
    if trace.groups is not None:
        own, other, both, filled = (int((trace.groups == g).sum()) for g in (1, 2, 3, 4))
        leak = f", leak {float(trace.numbers['leak']):.3f}" if "leak" in trace.numbers else ""
        return f"{kept}: {own} by its own modality, {other} by another, {both} by both, {filled} filled up{leak}"
    if not variant.needs_aggregation:
        return kept
    blend = trace.aggregation_weights
    return f"{kept}, " + ("aggregation not in this checkpoint" if blend is None else f"{len(blend)} aggregated tokens")


def _letters(trace: ModalityTrace) -> list[str]:
    """A letter per patch: kept or not, why, or the tenth of its weight."""
    if trace.weights is not None:
        return [str(min(9, int(10 * w))) for w in trace.weights]
    if trace.groups is not None:
        return [".ox#+"[g] for g in trace.groups]
    return ["#" if kept else "." for kept in trace.mask]
