"""`weights`: what is in a checkpoint: kind, shapes, what is missing or assumed."""

import argparse
import json

from sdtps.cli.options import Subparsers, picture_size
from sdtps.cli.options import add_command as add_parser
from sdtps.types import WeightsReport

FAMILIES = {
    "own": "SDTPS Lens",
    "demo-sdtps": "DeMo with SDTPS",
    "demo-soft": "DeMo with soft SDTPS",
    "demo": "DeMo without SDTPS",
    "signal-sim": "Signal with its selective interaction",
    "signal": "Signal without its selective interaction",
    "clip": "CLIP, visual half",
    "vit": "plain ViT",
    "random": "random weights",
}
NAMES_SHOWN = 5
EXAMPLES = """
    weights DeMobest.pth
    weights DeMobest.pth --config DeMo_SDTPS.yml --size 128x256 --json
"""


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    short = "what is in a checkpoint: kind, shapes, what is missing or assumed"
    parser = add_parser(commands, "weights", short, EXAMPLES)
    parser.add_argument("file", help="a checkpoint file, or timm:NAME")
    parser.add_argument("--json", action="store_true", help="the whole report as JSON")
    parser.add_argument("--size", type=picture_size, metavar="HxW", help="picture size, where the file leaves it open")
    parser.add_argument("--config", metavar="YAML", help="the DeMo configuration of its training")
    parser.add_argument("--force", action="store_true", help="accept a file that fits only in part")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; a file that fits only in part is reported, too, and refused."""
    from sdtps.checkpoints.load import MismatchError, load_checkpoint

    try:
        report = load_checkpoint(options.file, size=options.size, config=options.config, force=options.force)[1]
        refusal = None
    except MismatchError as error:
        report, refusal = error.report, error
    print(json.dumps(report.as_dict(), indent=2) if options.json else "\n".join(describe(report)))
    if refusal is not None:
        raise refusal
    return 0


def not_run(report: WeightsReport) -> str:
    """What the author's test feature had besides, where it is in the file and not run here."""
    left_out = report.facts.get("not_run", ())
    return f"; the author's also had {', '.join(left_out)}, which is not run here" if left_out else ""


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
    lines.append(f"test feature [{', '.join(facts['feature'])}]" + not_run(report))
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
