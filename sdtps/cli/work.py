"""Commands over a whole data set: their folder, features and engine, the same names and defaults everywhere."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sdtps.cli.options import Parser, add_model, add_settings, settings_from, the_source, workers_device
from sdtps.datasets import Dataset, open_dataset
from sdtps.support.progress import progress_bar

# What brings torch is imported where it is used: describing the options, as --help does, needs none of it.
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdtps.models.reid import LoadedModel
    from sdtps.retrieval.engine import Engine
    from sdtps.retrieval.features import FolderFeatures, Missing

FOLDER = "RGBNT201, RGBNT100, MSVR310, WMVeID863 or a plain folder; found by looking"


def add_folder(parser: Parser) -> None:
    """Where the image sets are."""
    parser.add_argument("folder", help=FOLDER)


def add_searched(parser: Parser) -> None:
    """A data set whose queries are searched in its gallery."""
    add_folder(parser)
    parser.add_argument("--split", help="take one split as both query and gallery")


def searched(options: argparse.Namespace) -> Dataset:
    """The data set that `add_searched` describes."""
    dataset = open_dataset(options.folder)
    return dataset.narrowed(options.split) if options.split else dataset


def add_measuring(parser: Parser, run: Callable[[argparse.Namespace], int], *, anonymous: bool = False) -> None:
    """What every command takes that computes features and prints what came of them."""
    add_features(parser)
    add_engine(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    add_model(parser, anonymous=anonymous)
    add_settings(parser)
    parser.set_defaults(run=run)


def add_features(parser: Parser) -> None:
    """How features of a data set are computed and where they are kept."""
    parser.add_argument("--batch", type=int, default=16, help="image sets per forward pass (16)")
    parser.add_argument("--cache", help="folder for features (default: $SDTPS_CACHE or ~/.cache/sdtps-lens)")


def add_engine(parser: Parser) -> None:
    """Where long work runs."""
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="ray: on a cluster, whose workers then have --device",
    )
    parser.add_argument("--workers", type=int, default=2, help="processes of --engine ray, at most (2)")
    parser.add_argument(
        "--threads", type=int, help="of torch, per process; the last bits of a number depend on it (default: the cores)"
    )
    parser.add_argument("--ray-address", help="a running cluster, such as auto; a local one by default")


def use_threads(options: argparse.Namespace) -> None:
    """Let torch use as many threads as `--threads` says; workers of a cluster take the number over."""
    if getattr(options, "threads", None):
        import torch

        torch.set_num_threads(max(1, options.threads))


def engine_from(options: argparse.Namespace) -> "Engine":
    """The engine that the command line names; this process where the command has no such option."""
    from sdtps.retrieval.engine import LOCAL, Engine

    use_threads(options)
    if getattr(options, "engine", "local") == "local":
        return LOCAL
    source, selectors = the_source(options.sources), selector_paths(options)
    return Engine(options.workers, options.ray_address, source, selectors, workers_device(options))


def selector_paths(options: argparse.Namespace) -> tuple[str, ...]:
    """The files of `--selector` for other processes, which may stand elsewhere."""
    return tuple(str(Path(path).resolve()) for path in options.selector)


def feature_reader(
    options: argparse.Namespace, model: "LoadedModel", dataset: Dataset
) -> "Callable[[str, Sequence[Missing]], dict[Missing, FolderFeatures]]":
    """A function of a split and sets of missing modalities to its features, from the store or through the model."""
    from sdtps.pipeline import runnable
    from sdtps.retrieval.feature_store import FeatureStore

    settings = settings_from(options, model.settings)
    runnable(model, settings.variant)  # before anything is computed
    store = FeatureStore(options.cache)

    def features(split: str, conditions: "Sequence[Missing]") -> "dict[Missing, FolderFeatures]":
        total = len(dataset.listing(split).records)
        with progress_bar(total, split) as progress:
            found = store.features(
                model, dataset, split, settings, conditions,
                batch=options.batch, progress=progress, engine=engine_from(options),
            )  # fmt: skip
            progress(total, 0)
        return found

    return features
