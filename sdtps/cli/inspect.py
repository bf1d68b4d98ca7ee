"""`inspect`: what is kept of one image set, in the terminal."""

import argparse

from sdtps.cli import options as shared
from sdtps.export.serialise import as_json
from sdtps.types import Analysis


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    parser = commands.add_parser("inspect", help="analyse one image set, or open a bundle, and print what is kept")
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
    report = analysis.weights
    state = "trained" if report.complete else "NOT fully trained"
    print(f"weights {report.name} ({report.short_hash}, {state}), variant {analysis.settings.variant}")
    for note in (*report.assumed, *report.notes, *analysis.notes):
        print(f"note: {note}")
    for part in report.absent:
        print(f"{part}: not in this checkpoint")
    for m, trace in analysis.traces.items():
        blend = trace.aggregation_weights
        tokens = "aggregation not in this checkpoint" if blend is None else f"{len(blend)} aggregated tokens"
        print(f"{m.upper()}: keeps {trace.kept} of {analysis.grid.patches} patches, {tokens}")
        for r in range(analysis.grid.rows):
            row = trace.mask[r * analysis.grid.cols : (r + 1) * analysis.grid.cols]
            print("    " + " ".join("#" if kept else "." for kept in row))
