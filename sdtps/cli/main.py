"""`python -m sdtps COMMAND`: what the page does, and what only a terminal needs."""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from sdtps.cli import batch, bundle, data, figure, password, ranks, serve, weights
from sdtps.cli.options import add_model, add_settings, load, print_json, settings_from
from sdtps.export.bundle import is_bundle, read_bundle
from sdtps.export.serialise import as_json
from sdtps.support import errors as faults
from sdtps.support.messages import plain
from sdtps.support.progress import progress_bar

TRACEBACK = "SDTPS_TRACEBACK"
LONGEST_SENTENCE = 2000
EPILOG = "Each command has its own --help. Exit codes: 0 done, 1 could not be done, 2 wrong usage."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 could not be done, 2 wrong usage."""
    parser = _parser()
    options, more = parser.parse_known_args(arguments)
    if options.command == serve.NAME:
        options.arguments = more  # they are app.py's
    elif more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:  # libraries warn of odd files in their own terms; ours are the sentences
                warnings.simplefilter("ignore")
            return int(options.run(options))
    except Exception as error:
        # A note is what to do, in several lines of our own.
        print(f"sdtps: {_sentence(error)}", *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
        if os.environ.get(TRACEBACK):
            raise
        return 1


def _sentence(error: Exception) -> str:
    """One line for a person; our own errors say it themselves, and what is none of them is called by its name."""
    message = faults.sentence(error)
    if message.code not in ("server.failed", "disk.unwritable"):
        return message
    if isinstance(error, OSError) and error.strerror:
        return plain(f"{error.strerror}: {error.filename}" if error.filename else error.strerror)
    if type(error) in (ValueError, FileNotFoundError, RuntimeError, OSError) and str(error):
        return plain(str(error), LONGEST_SENTENCE)
    kind = type(error).__name__
    return f"This could not be finished ({kind}); set {TRACEBACK}=1 to see where it happened, and report it."


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sdtps", description=__doc__, epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    inspect = commands.add_parser("inspect", help="analyse one triplet, or open a bundle, and print what is kept")
    inspect.add_argument("rgb", help="the RGB picture, or a bundle (.zip)")
    inspect.add_argument("nir", nargs="?")
    inspect.add_argument("tir", nargs="?")
    weights.add_sources(inspect)
    inspect.add_argument("--camera", type=int, help="camera label, for weights with a camera embedding")
    add_settings(inspect)
    inspect.add_argument("--json", action="store_true", help="print every number as JSON")
    inspect.set_defaults(run=_inspect)
    for add in (figure.add_command, ranks.add_command, bundle.add_commands, batch.add_command, serve.add_command):
        add(commands)

    weights.add_command(commands)
    password.add_command(commands)

    synth = commands.add_parser("synth", help="write generated people in the RGBNT201 layout")
    synth.add_argument("--out", required=True, help="folder that will hold RGBNT201/")
    synth.add_argument("--ids", type=int, default=20, help="number of people")
    synth.add_argument("--views", type=int, default=4, help="views of each, one camera after the other")
    synth.add_argument("--seed", type=int, default=0, help="another seed is another world: people and cameras")
    synth.add_argument("--split", choices=("train_171", "test"), default="test")
    synth.add_argument("--workers", type=int, default=2)
    synth.add_argument(
        "--style", choices=("rendered", "drawn"), default="rendered",
        help="rendered from 3D bodies (needs the extra 'synth'), or drawn flat, which needs nothing more",
    )  # fmt: skip
    synth.set_defaults(run=_synth)

    trunk = commands.add_parser("trunk", help="convert the published SAM 2 Hiera-Tiny encoder for training")
    trunk.add_argument("source", help="the .ort file")
    trunk.add_argument("--out", default="runs/trunk.safetensors")
    trunk.set_defaults(run=_trunk)

    train = commands.add_parser("train", help="train a recipe", epilog=_how_to_get_the_trunk(),
                                formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    train.add_argument("--config", default="configs/embedded.yaml", help="a recipe (default: %(default)s)")
    train.add_argument("--device", default="auto")
    train.add_argument("--resume", action="store_true", help="go on from the last checkpoint of the same recipe")
    train.set_defaults(run=_train)

    data.add_commands(commands)

    faithfulness = commands.add_parser(
        "faithfulness", help="does the selection beat chance? a table, as in the model card"
    )
    faithfulness.add_argument("folder", nargs="?", help="a data folder; the examples by default")
    faithfulness.add_argument("--split", help="of the folder (default: its query split)")
    faithfulness.add_argument("--limit", type=int, help="at most so many triplets of the folder")
    add_model(faithfulness, anonymous=False)
    add_settings(faithfulness)
    faithfulness.add_argument("--orders", type=int, default=200, help="random orders behind each band")
    faithfulness.add_argument("--seed", type=int, default=0)
    faithfulness.set_defaults(run=_faithfulness)
    return parser


def _inspect(options: argparse.Namespace) -> int:
    import sdtps

    if is_bundle(options.rgb):
        analysis = read_bundle(options.rgb).analysis
    else:
        model = weights.the_source(options.sources).load()
        settings = settings_from(options, model.settings)
        analysis = sdtps.analyse(model, options.rgb, options.nir, options.tir, settings, camera=options.camera)
    if options.json:
        print_json(as_json(analysis))
        return 0
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
    return 0


def _synth(options: argparse.Namespace) -> int:
    from sdtps.training.synth import write_rgbnt201

    with progress_bar(options.ids * options.views) as progress:
        write_rgbnt201(
            Path(options.out),
            options.ids,
            options.views,
            seed=options.seed,
            split=options.split,
            workers=options.workers,
            progress=progress,
            style=options.style,
        )
    return 0


def _trunk(options: argparse.Namespace) -> int:
    from sdtps.training.trunk import convert

    print(f"{convert(options.source, options.out)} tensors written to {options.out}")
    return 0


def _train(options: argparse.Namespace) -> int:
    from sdtps.training.recipe import Recipe
    from sdtps.training.trainer import train

    print(f"written: {train(Recipe.read(options.config), options.device, options.resume)}")
    return 0


def _faithfulness(options: argparse.Namespace) -> int:
    from sdtps.metrics.faithfulness_table import example_cases, folder_cases, judge, table

    model = load(options)
    settings = settings_from(options, model.settings)
    cases = folder_cases(options.folder, options.split)[: options.limit] if options.folder else example_cases()
    with progress_bar(len(cases)) as progress:
        found = judge(model, cases, settings, orders=options.orders, seed=options.seed, progress=progress)
    print(table(found, model.weights, settings, options.orders))
    return 0


def _how_to_get_the_trunk() -> str:
    from sdtps.training.trunk import HOW_TO_GET

    return HOW_TO_GET
