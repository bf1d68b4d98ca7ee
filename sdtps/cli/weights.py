"""`python -m sdtps weights FILE`: what is in a checkpoint, and the options that name weights anywhere."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from sdtps.checkpoints.load import MismatchError, WeightsSource, load_checkpoint
from sdtps.types import WeightsReport

FAMILIES = {
    "own": "SDTPS Lens",
    "demo-sdtps": "DeMo with SDTPS",
    "demo": "DeMo without SDTPS",
    "clip": "CLIP, visual half",
    "vit": "plain ViT",
    "random": "random weights",
}
NAMES_SHOWN = 5


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
        sources: list[WeightsSource] = list(namespace.sources)
        if self.dest == "weights":
            sources.append(WeightsSource(values))
        elif not sources:
            parser.error(f"{option_string} belongs to a --weights before it")
        else:
            sources[-1] = sources[-1].but(**{self.dest: True if self.nargs == 0 else values})
        namespace.sources = sources


def add_sources(parser: argparse.ArgumentParser) -> None:
    """`--weights` and what belongs to it; the result is `options.sources`, in order."""
    parser.set_defaults(sources=[])
    add = parser.add_argument
    add("--weights", action=_Weights, metavar="FILE",
        help="a checkpoint: DeMo, CLIP, timm ViT or our own; or timm:NAME (default: the embedded model)")  # fmt: skip
    add("--size", action=_Weights, type=picture_size, metavar="HxW",
        help="picture size of the weights before it, where the file leaves it open")  # fmt: skip
    add("--config", action=_Weights, metavar="YAML", help="DeMo configuration of the weights before it")
    add("--force", action=_Weights, dest="insist", nargs=0,
        help="load the weights before it even if they fit only in part")  # fmt: skip


def the_source(sources: Sequence[WeightsSource]) -> WeightsSource:
    """The one source of a command that takes one; the embedded model by default."""
    if len(sources) > 1:
        raise ValueError("Give one --weights here.")
    return sources[0] if sources else WeightsSource()


def add_command(commands: Any) -> None:
    """Register `weights`."""
    parser = commands.add_parser("weights", help="what is in a checkpoint: kind, shapes, what is missing or assumed")
    parser.add_argument("file", help="a checkpoint file, or timm:NAME")
    parser.add_argument("--json", action="store_true", help="the whole report as JSON")
    parser.add_argument("--size", type=picture_size, metavar="HxW", help="picture size, where the file leaves it open")
    parser.add_argument("--config", metavar="YAML", help="the DeMo configuration of its training")
    parser.add_argument("--force", action="store_true", help="accept a file that fits only in part")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; a file that fits only in part is reported, too, and refused."""
    try:
        report = load_checkpoint(options.file, size=options.size, config=options.config, insist=options.force)[1]
        refusal = None
    except MismatchError as error:
        report, refusal = error.report, error
    print(json.dumps(report.as_dict(), indent=2) if options.json else "\n".join(describe(report)))
    if refusal is not None:
        raise refusal
    return 0


def describe(report: WeightsReport) -> list[str]:
    """The report in lines of plain text."""
    facts = report.facts
    height, width = facts["input_size"]
    rows, cols = facts["grid"]
    state = "trained" if report.complete else "partly loaded" if report.trained else "not trained"
    lines = [
        f"{report.name}: {FAMILIES[report.family]}, {state}",
        f"sha256 {report.sha256}",
        f"{facts['architecture']}, pictures {height}x{width}, grid {rows}x{cols}, {facts['channels']} channels",
        f"identities {facts['classes'] or '-'}, cameras {facts['cameras'] or '-'}, "
        f"aggregated tokens {facts['rows'] or '-'}, "
        f"GLOBAL_LOCAL {facts['global_local']}, DIRECT {int(facts['direct'])}, variant {facts['variant']}",
    ]
    if report.settings:
        lines.append("trained with " + ", ".join(f"{k} {v:g}" for k, v in report.settings.items()))
    lines += [f"not in this checkpoint: {part}" for part in report.absent]
    lines += ["", f"{'part':<14}{'loaded':>8}{'missing':>9}{'unexpected':>12}{'not used':>10}"]
    lines += [
        f"{g.name:<14}{g.loaded:>8}{len(g.missing):>9}{len(g.unexpected):>12}{len(g.unused):>10}" for g in report.groups
    ]
    for label, names in (("missing", report.missing), ("unexpected", report.unexpected)):
        more = len(names) - NAMES_SHOWN
        lines += [f"{label}: {name}" for name in names[:NAMES_SHOWN]]
        lines += [f"{label}: {more} more"] if more > 0 else []
    lines += [f"assumed: {note}" for note in report.assumed] + [f"note: {note}" for note in report.notes]
    return lines
