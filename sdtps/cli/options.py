"""Commands of `python -m sdtps` that are more than a few lines, one module each, and the options they share."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sdtps.checkpoints.anonymise import hide
from sdtps.cli import weights
from sdtps.export.bundle import is_bundle, read_bundle
from sdtps.images.read import Fit, prepare, read_triplet, read_wide
from sdtps.models.reid import LoadedModel
from sdtps.panels import Pixels
from sdtps.pipeline import analyse_triplet, decide, encode
from sdtps.types import Analysis, Settings
from sdtps.variants import VARIANTS

DEFAULTS = Settings()


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Sliders and variant, as on the page."""
    group = parser.add_argument_group("settings")
    group.add_argument("--sparse-ratio", type=float, help=f"share of patches to keep ({DEFAULTS.sparse_ratio})")
    group.add_argument("--aggr-ratio", type=float, help=f"aggregated tokens per kept share ({DEFAULTS.aggr_ratio})")
    group.add_argument("--beta", type=float, help=f"weight of the attention maps, 0 to 0.5 ({DEFAULTS.beta})")
    group.add_argument("--tau", type=float, help=f"temperature of the soft decision ({DEFAULTS.tau:g})")
    group.add_argument("--variant", choices=tuple(VARIANTS), help=f"which SDTPS ({DEFAULTS.variant})")


def add_model(parser: argparse.ArgumentParser, *, anonymous: bool = True) -> None:
    """Weights and where they run."""
    weights.add_sources(parser)
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    if anonymous:
        parser.add_argument(
            "--anonymous", action="store_true", help="leave out names and hashes of your files, for double-blind review"
        )


def add_triplet(parser: argparse.ArgumentParser) -> None:
    """Where the pictures come from."""
    parser.add_argument(
        "pictures",
        nargs="+",
        metavar="PICTURE",
        help="RGB, near infrared and thermal in this order ('-' for a missing one); or one wide picture of the three "
        "with --wide; or a bundle (.zip)",
    )
    parser.add_argument("--wide", action="store_true", help="the one picture holds all three side by side")
    parser.add_argument("--fit", choices=[str(f) for f in Fit], default=str(Fit.STRETCH), help="how another shape fits")


def load(options: argparse.Namespace) -> LoadedModel:
    """The weights that the command line names."""
    return weights.the_source(options.sources).load(options.device)


def settings_from(options: argparse.Namespace, base: Settings) -> Settings:
    """The settings that were given, over those of the training or of a bundle."""
    names = ("sparse_ratio", "aggr_ratio", "beta", "tau", "variant")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    return Settings(**base.as_dict() | given)


@dataclass(frozen=True)
class Opened:
    """A triplet after analysis, from pictures or from a bundle."""

    analysis: Analysis
    pixels: Mapping[str, Pixels | None]
    sources: Mapping[str, str]
    weights_sha256: str  # also where the analysis itself is anonymous


def open_triplet(options: argparse.Namespace) -> Opened:
    """Analyse the pictures, or read the bundle, that the command line names."""
    given = [None if p == "-" else p for p in options.pictures]
    if len(given) == 1 and given[0] is not None and is_bundle(given[0]):
        return _from_bundle(options, given[0])
    if len(given) > 3:
        raise ValueError(f"{len(given)} pictures were given; give RGB, near infrared and thermal.")
    model = load(options)
    settings = settings_from(options, model.settings)
    if options.wide:
        if len(given) != 1 or given[0] is None:
            raise ValueError("--wide takes one picture.")
        triplet = read_wide(given[0], options.fit)
    else:
        rgb, nir, tir = [*given, None, None][:3]
        triplet = read_triplet(rgb, nir, tir, options.fit)
    analysis = analyse_triplet(model, triplet, settings)
    if options.anonymous:
        analysis = replace(analysis, weights=hide(analysis.weights))
    pixels = prepare(triplet, model.net.backbone.input_size).pixels
    names = () if options.anonymous else zip(analysis.traces, given, strict=False)
    sources = {m: Path(p).name for m, p in names if p is not None}
    return Opened(analysis, pixels, sources, model.weights.sha256)


def _from_bundle(options: argparse.Namespace, path: str) -> Opened:
    """The numbers as written; with other settings, computed anew by the weights that are given."""
    bundle = read_bundle(path)
    analysis = bundle.analysis
    settings = settings_from(options, analysis.settings)
    if settings != analysis.settings:
        model = load(options)
        if model.weights.sha256 != analysis.weights.sha256:
            raise ValueError("Other settings need the bundle's own weights; give them with --weights.")
        missing = frozenset(m for m, trace in analysis.traces.items() if trace.missing)
        analysis = decide(model, encode(model, bundle.prepared), settings, analysis.notes, missing)
    sha256 = analysis.weights.sha256
    if options.anonymous:
        return Opened(replace(analysis, weights=hide(analysis.weights)), bundle.pixels, {}, sha256)
    return Opened(analysis, bundle.pixels, bundle.manifest.get("sources", {}), sha256)


def print_json(values: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    json.dump(values, sys.stdout, ensure_ascii=False, indent=1)
    print()
