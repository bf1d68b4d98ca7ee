"""`matters`: what the choice of patches is worth on a data set."""

import argparse
import sys
from pathlib import Path

from sdtps.cli import options as shared
from sdtps.cli import work
from sdtps.cli.figure import width_from
from sdtps.export.figure.style import PRESETS, WORDS, FigureOptions
from sdtps.matters.defaults import RATIOS, SEEDS
from sdtps.support.progress import progress_bar
from sdtps.support.terminal import INTERRUPTED

EXAMPLES = """
    matters data --weights DeMobest.pth
    matters data --weights DeMobest.pth --ratios 0.1 0.25 0.5 --against importance --out report
    matters data --engine ray --workers 8 --ray-address auto

Stopped? Run the same command again: what is done is not done again.
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "does the selection matter: mAP and Rank-k with the choice of patches replaced, all else equal"
    parser = shared.add_command(commands, "matters", short, EXAMPLES)
    work.add_searched(parser)
    parser.add_argument(
        "--ratios", type=float, nargs="*", default=list(RATIOS), help="further sparse ratios (0.25 0.5 0.75)"
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"random draws ({SEEDS})")
    parser.add_argument("--against", action="append", default=[], metavar="VARIANT", help="another variant; repeatable")
    parser.add_argument("--initial", metavar="FILE", help="the weights before training, to see how far they moved")
    parser.add_argument("--out", metavar="FOLDER", help="write figure (PDF, SVG), table (CSV, LaTeX rows) and JSON")
    parser.add_argument("--width", default="cvpr-page", help=f"of the figure: {', '.join(PRESETS)}, or inches")
    parser.add_argument("--language", choices=tuple(WORDS), default="en", help="of the figure")
    work.add_measuring(parser, run, anonymous=True)


def run(options: argparse.Namespace) -> int:
    """Measure, judge, print and write."""
    from sdtps.cli.matters_text import text_of
    from sdtps.export import matters as files
    from sdtps.matters.measure import plan_for
    from sdtps.matters.report import does_it_matter

    dataset = work.searched(options)
    model = shared.load(options)
    plan = plan_for(
        dataset, shared.settings_from(options, model.settings), options.ratios, options.seeds, options.against
    )
    initial = shared.load(options, shared.the_source([]).but(path=options.initial)) if options.initial else None
    look = FigureOptions(width=width_from(options), language=options.language)
    try:
        splits = dict.fromkeys((dataset.query, dataset.gallery))
        with progress_bar(sum(len(dataset.listing(s).records) for s in splits), ", ".join(splits)) as progress:
            report = does_it_matter(
                model,
                dataset,
                plan,
                initial=initial,
                batch=options.batch,
                cache=options.cache,
                engine=work.engine_from(options),
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
