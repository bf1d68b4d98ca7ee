"""`python -m sdtps COMMAND`: what the page does, and what only a terminal needs."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tqdm import tqdm

EPILOG = "Each command has its own --help."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 could not be done, 2 wrong usage."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except (ValueError, FileNotFoundError, RuntimeError) as error:
        print(f"sdtps: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sdtps", description=__doc__, epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    inspect = commands.add_parser("inspect", help="analyse one triplet and print what is kept")
    inspect.add_argument("rgb")
    inspect.add_argument("nir", nargs="?")
    inspect.add_argument("tir", nargs="?")
    inspect.add_argument("--weights", help="a checkpoint; the embedded model by default")
    inspect.add_argument("--sparse-ratio", type=float, default=0.5)
    inspect.add_argument("--aggr-ratio", type=float, default=0.4)
    inspect.add_argument("--beta", type=float, default=0.25)
    inspect.add_argument("--tau", type=float, default=1.0)
    inspect.add_argument("--variant", default="final")
    inspect.set_defaults(run=_inspect)

    synth = commands.add_parser("synth", help="write generated people in the RGBNT201 layout")
    synth.add_argument("--out", required=True, help="folder that will hold RGBNT201/")
    synth.add_argument("--ids", type=int, default=20, help="number of people")
    synth.add_argument("--views", type=int, default=4, help="views of each, one camera after the other")
    synth.add_argument("--seed", type=int, default=0, help="another seed is another world: people and cameras")
    synth.add_argument("--split", choices=("train_171", "test"), default="test")
    synth.add_argument("--workers", type=int, default=2)
    synth.set_defaults(run=_synth)

    trunk = commands.add_parser("trunk", help="convert the published SAM 2 Hiera-Tiny encoder for training")
    trunk.add_argument("source", help="the .ort file")
    trunk.add_argument("--out", default="runs/trunk.safetensors")
    trunk.set_defaults(run=_trunk)

    train = commands.add_parser("train", help="train a recipe", epilog=_how_to_get_the_trunk(),
                                formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    train.add_argument("--config", required=True, help="a recipe, such as configs/embedded.yaml")
    train.add_argument("--device", default="auto")
    train.add_argument("--resume", action="store_true", help="go on from the last checkpoint of the same recipe")
    train.set_defaults(run=_train)

    evaluate = commands.add_parser("evaluate", help="mAP and Rank-k on a folder in the RGBNT201 layout")
    evaluate.add_argument("folder", help="the folder that holds RGBNT201/")
    evaluate.add_argument("--split", default="test")
    evaluate.add_argument("--weights", help="a checkpoint; the embedded model by default")
    evaluate.add_argument("--device", default="auto")
    evaluate.add_argument("--sparse-ratio", type=float, default=0.3)
    evaluate.add_argument("--beta", type=float, default=0.25)
    evaluate.add_argument("--batch", type=int, default=16)
    evaluate.set_defaults(run=_evaluate)

    faithfulness = commands.add_parser(
        "faithfulness", help="does the selection beat chance? a table, as in the model card"
    )
    faithfulness.add_argument("folder", nargs="?", help="a folder in the RGBNT201 layout; the examples by default")
    faithfulness.add_argument("--split", default="test")
    faithfulness.add_argument("--limit", type=int, help="at most so many triplets of the folder")
    faithfulness.add_argument("--weights", help="a checkpoint; the embedded model by default")
    faithfulness.add_argument("--device", default="auto")
    faithfulness.add_argument("--sparse-ratio", type=float, default=0.5)
    faithfulness.add_argument("--aggr-ratio", type=float, default=0.4)
    faithfulness.add_argument("--beta", type=float, default=0.25)
    faithfulness.add_argument("--variant", default="final")
    faithfulness.add_argument("--orders", type=int, default=200, help="random orders behind each band")
    faithfulness.add_argument("--seed", type=int, default=0)
    faithfulness.set_defaults(run=_faithfulness)
    return parser


def _inspect(options: argparse.Namespace) -> int:
    import sdtps

    settings = sdtps.Settings(
        options.sparse_ratio, options.aggr_ratio, options.beta, tau=options.tau, variant=options.variant
    )
    model = sdtps.load_model(options.weights)
    analysis = sdtps.analyse(model, options.rgb, options.nir, options.tir, settings)
    state = "trained" if model.weights.complete else "NOT fully trained"
    print(f"weights {model.weights.name} ({model.weights.short_hash}, {state}), variant {settings.variant}")
    for note in analysis.notes:
        print(f"note: {note}")
    for m, trace in analysis.traces.items():
        rows = 0 if trace.aggregation_weights is None else len(trace.aggregation_weights)
        print(f"{m.upper()}: keeps {trace.kept} of {analysis.grid.patches} patches, {rows} aggregated tokens")
        for r in range(analysis.grid.rows):
            row = trace.mask[r * analysis.grid.cols : (r + 1) * analysis.grid.cols]
            print("    " + " ".join("#" if kept else "." for kept in row))
    return 0


@contextmanager
def _progress(total: int) -> Iterator[Callable[[int, int], None]]:
    """A progress bar as the callback that long work takes."""
    with tqdm(total=total, unit="triplet") as bar:

        def update(done: int, _total: int) -> None:
            bar.update(done - bar.n)

        yield update


def _synth(options: argparse.Namespace) -> int:
    from sdtps.synth import write_rgbnt201

    with _progress(options.ids * options.views) as progress:
        write_rgbnt201(
            Path(options.out),
            options.ids,
            options.views,
            seed=options.seed,
            split=options.split,
            workers=options.workers,
            progress=progress,
        )
    return 0


def _trunk(options: argparse.Namespace) -> int:
    from sdtps.trunk import convert

    print(f"{convert(options.source, options.out)} tensors written to {options.out}")
    return 0


def _train(options: argparse.Namespace) -> int:
    from sdtps.learn.recipe import Recipe
    from sdtps.train import train

    print(f"written: {train(Recipe.read(options.config), options.device, options.resume)}")
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    import sdtps
    from sdtps.datasets import read_rgbnt201
    from sdtps.evaluate import evaluate_folder, extract

    records = read_rgbnt201(options.folder, options.split)
    model = sdtps.load_model(options.weights, options.device)
    settings = sdtps.Settings(sparse_ratio=options.sparse_ratio, beta=options.beta)
    with _progress(len(records)) as progress:
        found = extract(model, records, settings, batch=options.batch, progress=progress)
    result = evaluate_folder(found)
    print(f"{result.queries} queries, {result.skipped} without a match under another camera")
    ranks = "  ".join(f"Rank-{r} {result.rank(r):.3f}" for r in (1, 5, 10))
    print(f"mAP {result.mean_average_precision:.3f}  {ranks}")
    for m, quality in found.quality.items():
        aucs = "  ".join(f"{name} {value:.3f}" for name, value in quality.auc.items())
        print(f"{m.upper()}: precision of the kept {quality.precision:.3f}; AUC {aucs}")
        print("     correlation " + "  ".join(f"{pair} {value:.2f}" for pair, value in quality.correlation.items()))
    return 0


def _faithfulness(options: argparse.Namespace) -> int:
    import sdtps
    from sdtps.chance import example_cases, folder_cases, judge, table

    model = sdtps.load_model(options.weights, options.device)
    settings = sdtps.Settings(options.sparse_ratio, options.aggr_ratio, options.beta, variant=options.variant)
    cases = folder_cases(options.folder, options.split)[: options.limit] if options.folder else example_cases()
    with _progress(len(cases)) as progress:
        found = judge(model, cases, settings, orders=options.orders, seed=options.seed, progress=progress)
    print(table(found, model.weights, settings, options.orders))
    return 0


def _how_to_get_the_trunk() -> str:
    from sdtps.trunk import HOW_TO_GET

    return HOW_TO_GET
