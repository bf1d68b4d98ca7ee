"""`matters`: what the choice of patches is worth on a data set."""

import argparse
import sys
from pathlib import Path

from sdtps.cli import options as shared
from sdtps.cli.figure import width_from
from sdtps.datasets import open_dataset
from sdtps.export import matters as files
from sdtps.export.figure import PRESETS, FigureOptions
from sdtps.export.figure.style import WORDS
from sdtps.matters.dead import Sign
from sdtps.matters.measure import plan_for
from sdtps.matters.replacements import RATIOS, SEEDS
from sdtps.matters.report import Matters, does_it_matter
from sdtps.matters.verdict import COSINE, shown, signed
from sdtps.support.progress import progress_bar
from sdtps.types import MODALITIES

INTERRUPTED = 130  # what a shell reports after Ctrl-C
EXAMPLES = """examples:
  python -m sdtps matters data --weights DeMobest.pth
  python -m sdtps matters data --weights DeMobest.pth --ratios 0.1 0.25 0.5 --against importance --out report
  python -m sdtps matters data --engine ray --workers 8 --ray-address auto

Stopped? Run the same command again: what is done is not done again.
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "matters",
        help="does the selection matter: mAP and Rank-k with the choice of patches replaced, all else equal",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", help=shared.FOLDER)
    parser.add_argument("--split", help="take one split as both query and gallery")
    parser.add_argument(
        "--ratios", type=float, nargs="*", default=list(RATIOS), help="further sparse ratios (0.25 0.5 0.75)"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"random draws ({SEEDS})")
    parser.add_argument("--against", action="append", default=[], metavar="VARIANT", help="another variant; repeatable")
    parser.add_argument("--initial", metavar="FILE", help="the weights before training, to see how far they moved")
    parser.add_argument("--out", metavar="FOLDER", help="write figure (PDF, SVG), table (CSV, LaTeX rows) and JSON")
    parser.add_argument("--width", default="cvpr-page", help=f"of the figure: {', '.join(PRESETS)}, or inches")
    parser.add_argument("--language", choices=tuple(WORDS), default="en", help="of the figure")
    shared.add_features(parser)
    shared.add_engine(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    shared.add_model(parser, anonymous=True)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure, judge, print and write."""
    dataset = open_dataset(options.folder)
    if options.split:
        dataset = dataset.narrowed(options.split)
    model = shared.load(options)
    plan = plan_for(
        dataset, shared.settings_from(options, model.settings), options.ratios, options.seeds, options.against
    )
    initial = shared.the_source([]).but(path=options.initial).load(options.device) if options.initial else None
    look = FigureOptions(width=width_from(options), language=options.language)
    try:
        with progress_bar(len(dataset.listing(dataset.query).records), dataset.query) as progress:
            report = does_it_matter(
                model,
                dataset,
                plan,
                initial=initial,
                batch=options.batch,
                cache=options.cache,
                engine=shared.engine_from(options),
                progress=progress,
            )
    except KeyboardInterrupt:
        print("\nStopped; run the same command to go on.", file=sys.stderr)
        return INTERRUPTED
    if options.anonymous:
        report = files.anonymous(report)
    written = files.write(report, Path(options.out), look) if options.out else []
    if options.json:
        shared.print_json(report.as_dict())
        return 0
    print(text_of(report))
    for path in written:
        print(f"written: {path}")
    return 0


def text_of(report: Matters) -> str:
    """The report for a terminal."""
    unit = "identities" if report.labelled else "image sets, which stand for themselves: no identities are known"
    lines = [f"{report.data}: {report.sets} image sets, {report.queries} queries, {report.identities} {unit}"]
    lines.append("")
    metrics = [m for m in report.metrics if m in ("mAP", "Rank-1", COSINE)]
    lines.append(f"{'choice':<28}{'kept':>5}" + "".join(f"{m:>9}" for m in metrics) + f"   gain in {metrics[0]}")
    for row in report.rows:
        values = "".join(f"{shown(m, row.scores[m]).value:9.{4 if m == COSINE else 1}f}" for m in metrics)
        gain = ""
        if metrics[0] in row.gain:
            one = shown(metrics[0], row.gain[metrics[0]])
            value, low, high = (signed(v, metrics[0]) for v in (one.value, one.low, one.high))
            gain = f"   {value} [{low}, {high}]"
        lines.append(f"{files.row_title(row):<28}{row.kept:>5}{values}{gain}")
    lines += ["", *(str(row.says) for row in report.rows if row.says and row.sparse_ratio == _own(report))]
    lines += ["", _signs(report)]
    lines += [f"dead: {text}" for text in report.dead]
    if report.broken:
        lines.append(f"left out: {', '.join(report.broken)}")
    return "\n".join(lines)


def _own(report: Matters) -> float:
    return report.settings.sparse_ratio


def _signs(report: Matters) -> str:
    """The vital signs, each beside what an untrained selector shows."""
    lines = [f"{'vital signs (untrained)':<28}" + "".join(f"{m.upper():>18}" for m in MODALITIES)]
    for name in dict.fromkeys(s.name for s in report.signs):
        cells = (_sign(s) for s in report.signs if s.name == name)
        lines.append(f"{name:<28}" + "".join(f"{cell:>18}" for cell in cells))
    lines.append(
        f"{report.feature_share:.1%} of the feature's length and {report.variance_share:.1%} of its variance pass "
        "through the selection"
    )
    lines += [f"{part}: moved by {distance:.4f} since its training began" for part, distance in report.moved.items()]
    return "\n".join(lines)


def _sign(sign: Sign) -> str:
    return f"{sign.value:.3f} ({sign.untrained:.3f})" if sign.untrained == sign.untrained else f"{sign.value:.3f}"
