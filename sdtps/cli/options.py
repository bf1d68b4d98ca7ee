"""Options that commands share: weights, settings, pictures; the same names and defaults everywhere."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from sdtps import __version__
from sdtps.export.bundle import is_bundle, read_bundle
from sdtps.export.rendering import OPACITY, OVER
from sdtps.images.encode import Pixels
from sdtps.images.read import Fit, read_triplet, read_wide
from sdtps.panels import SLIDERS, use_selector_file
from sdtps.support.errors import InputError
from sdtps.types import Analysis, Settings
from sdtps.variants import VARIANTS

# What brings torch is imported where it is used: describing the options, as --help does, needs none of it.
if TYPE_CHECKING:
    from sdtps.checkpoints.load import WeightsSource
    from sdtps.models.reid import LoadedModel
    from sdtps.pipeline import OpenSet

Parser = argparse.ArgumentParser
DEVICES = "auto, cpu, cuda, cuda:1, mps"
Subparsers = Any  # what add_subparsers returns has no public name


def program() -> str:
    """How the command line was called, for its own examples."""
    return "sdtps" if Path(sys.argv[0]).stem == "sdtps" else "python -m sdtps"


def add_version(parser: Parser) -> None:
    """`--version`, of the package."""
    parser.add_argument("--version", action="version", version=f"SDTPS Lens {__version__}", help="say which, and exit")


def add_command(commands: Subparsers, name: str, short: str, examples: str, description: str = "") -> Parser:
    """A command with one line for the list, an optional paragraph, and examples, one per line.

    What follows the examples after an empty line stands below them as it is.
    """
    first, _, after = examples.strip("\n").partition("\n\n")
    lines = "\n".join(f"  {program()} {line.strip()}" for line in first.splitlines())
    parser: Parser = commands.add_parser(
        name,
        help=short,
        description=fill(description or f"{short[0].upper()}{short[1:]}.", 100),
        epilog=f"examples:\n{lines}" + (f"\n\n{after}" if after else ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def picture_size(text: str) -> tuple[int, int]:
    """`256x128` → (256, 128)."""
    try:
        height, width = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not HEIGHTxWIDTH, such as 256x128") from None
    if not (0 < height <= 4096 and 0 < width <= 4096):
        raise argparse.ArgumentTypeError(f"{text!r} is not a picture size")
    return height, width


class _Weights(argparse.Action):
    """`--weights` begins a source; `--size`, `--config` and `--force` belong to the one before them."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        """Collect the sources in the order of the command line."""
        from sdtps.checkpoints.load import WeightsSource

        sources: list[WeightsSource] = list(namespace.sources)
        if self.dest == "weights":
            sources.append(WeightsSource(values))
        elif not sources:
            parser.error(f"{option_string} belongs to a --weights before it")
        else:
            sources[-1] = sources[-1].but(**{self.dest: True if self.nargs == 0 else values})
        namespace.sources = sources


def add_sources(parser: Parser) -> None:
    """`--weights` and what belongs to it; the result is `options.sources`, in order."""
    parser.set_defaults(sources=[])
    add = parser.add_argument
    add("--weights", action=_Weights, metavar="FILE",
        help="a checkpoint: DeMo, CLIP, timm ViT or our own; or timm:NAME (default: the embedded model)")  # fmt: skip
    add("--size", action=_Weights, type=picture_size, metavar="HxW",
        help="picture size of the weights before it, where the file leaves it open")  # fmt: skip
    add("--config", action=_Weights, metavar="YAML", help="DeMo configuration of the weights before it")
    add("--force", action=_Weights, nargs=0, help="load the weights before it even if they fit only in part")


def the_source(sources: "Sequence[WeightsSource]") -> "WeightsSource":
    """The one source of a command that takes one; the embedded model by default."""
    from sdtps.checkpoints.load import WeightsSource

    if len(sources) > 1:
        raise InputError("options.weights", "Give one --weights here.")
    return sources[0] if sources else WeightsSource()


def add_model(parser: Parser, *, anonymous: bool = False) -> None:
    """Weights and where they run."""
    add_sources(parser)
    add_selector(parser)
    parser.add_argument("--device", default="auto", help=DEVICES)
    if anonymous:
        parser.add_argument(
            "--anonymous", action="store_true", help="leave out names and hashes of your files, for double-blind review"
        )


def load(options: argparse.Namespace, source: "WeightsSource | None" = None) -> "LoadedModel":
    """The weights that the command line names, or those of a source; on a cluster the device is the workers'."""
    from sdtps.retrieval.engine import for_workers

    source = source or the_source(options.sources)
    device = workers_device(options)
    return source.load(options.device) if device is None else for_workers(source, device)


def workers_device(options: argparse.Namespace) -> str | None:
    """The device that was named for the workers of a cluster; None where this process has it, or it was not named."""
    return options.device if getattr(options, "engine", "local") == "ray" and options.device != "auto" else None


def add_settings(parser: Parser) -> None:
    """Sliders and variant, as on the page; what is not given is as the weights were trained, or the usual value."""
    group = parser.add_argument_group("settings (default: those of the training where known)")
    for slider in SLIDERS.values():
        usual = getattr(Settings, slider.name)
        name = f"--{slider.name.replace('_', '-')}"
        group.add_argument(name, type=float, help=f"{slider.meaning} (else {usual:g})")
    named = ", ".join(f"{v.name} = {v.title}" for v in VARIANTS.values() if v.title)
    group.add_argument("--variant", choices=tuple(VARIANTS), help=f"which SDTPS (else {Settings.variant}): {named}")
    knobs = ", ".join(f"{knob.name} ({v.name})" for v in VARIANTS.values() for knob in v.knobs)
    group.add_argument(
        "--knob", action="append", type=_knob, default=[], metavar="NAME=VALUE", help=f"what a selector reads: {knobs}"
    )


def _knob(text: str) -> tuple[str, float]:
    """`mask_tau=0.1` → ("mask_tau", 0.1)."""
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as mask_tau=0.1") from None


def settings_from(options: argparse.Namespace, base: Settings) -> Settings:
    """The settings that were given, over those of the training or of a bundle."""
    given = {name: getattr(options, name) for name in (*SLIDERS, "variant") if getattr(options, name) is not None}
    return replace(base, **given, knobs={**base.knobs, **dict(options.knob)})


def add_selector(parser: Parser) -> None:
    """`--selector`: a Python file with a selector of one's own; it was run before the other options were read."""
    parser.add_argument(
        "--selector", action="append", default=[], metavar="FILE", help="a Python file with a selector of your own"
    )


def run_selectors(arguments: Sequence[str] | None) -> None:
    """Run the files that `--selector` names, so that their variants and knobs are known to the other options."""
    early = Parser(add_help=False, allow_abbrev=False)
    add_selector(early)
    for path in early.parse_known_args(arguments)[0].selector:
        use_selector_file(path)


def add_fit(parser: Parser) -> None:
    """How pictures of another shape get the model's."""
    parser.add_argument("--fit", choices=[str(f) for f in Fit], default=str(Fit.STRETCH), help="how another shape fits")


def add_over(parser: Any) -> None:
    """What lies over a map."""
    parser.add_argument(
        "--over",
        choices=OVER,
        help="over a map: thin lines of the photograph (the default), a faint relief of it, or the map blended with "
        "it, which changes the colours",
    )
    parser.add_argument(
        "--opacity", type=float, help=f"of a blended map ({OPACITY:g}); without --over it means --over blend"
    )


def add_set(parser: Parser) -> None:
    """Where the pictures come from."""
    parser.add_argument(
        "pictures",
        nargs="+",
        metavar="PICTURE",
        help="RGB, near infrared and thermal in this order ('-' for a missing one); or one wide picture of the three "
        "with --wide; or a bundle (.zip)",
    )
    parser.add_argument("--wide", action="store_true", help="the one picture holds all three side by side")
    parser.add_argument("--camera", type=int, help="label of the camera from 0, for weights with a camera embedding")
    add_fit(parser)


@dataclass(frozen=True)
class Shown:
    """An image set after analysis, from pictures or from a bundle.

    Attributes:
        analysis: the numbers.
        pixels: (H, W, 3) per modality as the model saw them.
        sources: names of the author's files, where they may be told.
        reopen: the set in front of its weights, which a bundle loads only when asked.
    """

    analysis: Analysis
    pixels: Mapping[str, Pixels | None]
    sources: Mapping[str, str]
    reopen: "Callable[[], OpenSet]"


def open_set(options: argparse.Namespace) -> Shown:
    """Analyse the pictures, or read the bundle, that the command line names."""
    given = [None if p == "-" else p for p in options.pictures]
    if len(given) == 1 and given[0] is not None and is_bundle(given[0]):
        return _anonymous(options, _from_bundle(options, given[0]))
    if len(given) > 3:
        text = "{count} pictures were given; give RGB, near infrared and thermal."
        raise InputError("options.pictures", text, count=len(given))
    if options.wide:
        if len(given) != 1 or given[0] is None:
            raise InputError("options.wide", "--wide takes one picture.")
        triplet = read_wide(given[0], options.fit)
    else:
        rgb, nir, tir = [*given, None, None][:3]
        triplet = read_triplet(rgb, nir, tir, options.fit)
    from sdtps.pipeline import OpenSet  # brings torch, which a bundle is read without

    model = load(options)
    opened = OpenSet.of(model, triplet, options.camera)
    analysis = opened.analyse(settings_from(options, model.settings))
    sources = {m: Path(p).name for m, p in zip(analysis.traces, given, strict=False) if p is not None}
    return _anonymous(options, Shown(analysis, opened.prepared.pixels, sources, lambda: opened))


def _from_bundle(options: argparse.Namespace, path: str) -> Shown:
    """The numbers as written; with other settings, computed anew by the weights that are given."""
    bundle = read_bundle(path)
    analysis = bundle.analysis

    def reopen() -> "OpenSet":
        from sdtps.checkpoints.anonymise import made_by
        from sdtps.pipeline import OpenSet

        model = load(options)
        if not made_by(model, bundle.analysis.weights):
            raise InputError("options.bundle", "This needs the bundle's own weights; give them with --weights.")
        return OpenSet.again(model, bundle.analysis, bundle.prepared)

    settings = settings_from(options, analysis.settings)
    if settings != analysis.settings:
        analysis = reopen().analyse(settings)
    return Shown(analysis, bundle.pixels, bundle.manifest.get("sources", {}), reopen)


def _anonymous(options: argparse.Namespace, shown: Shown) -> Shown:
    if not getattr(options, "anonymous", False):
        return shown
    from sdtps.checkpoints.anonymise import hide

    return replace(shown, analysis=replace(shown.analysis, weights=hide(shown.analysis.weights)), sources={})


def print_json(values: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    json.dump(values, sys.stdout, ensure_ascii=False, indent=1)
    print()
