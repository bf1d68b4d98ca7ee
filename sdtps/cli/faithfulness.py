"""`faithfulness`: does the selection beat chance? The table of the model card."""

import argparse

from sdtps.cli import options as shared
from sdtps.support.progress import progress_bar

EXAMPLES = """
    faithfulness
    faithfulness RGBNT201 --limit 50 --weights DeMobest.pth
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "does the selection beat chance? a table, as in the model card"
    parser = shared.add_command(commands, "faithfulness", short, EXAMPLES)
    parser.add_argument("folder", nargs="?", help="a data folder; the examples by default")
    parser.add_argument("--split", help="of the folder (default: its query split)")
    parser.add_argument("--limit", type=int, help="at most so many image sets of the folder")
    parser.add_argument("--orders", type=int, default=200, help="random orders behind each band")
    parser.add_argument("--seed", type=int, default=0, help="of the random orders (0)")
    shared.add_model(parser)
    shared.add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Judge and print."""
    from sdtps.metrics.faithfulness_table import example_cases, folder_cases, judge, table

    model = shared.load(options)
    settings = shared.settings_from(options, model.settings)
    cases = folder_cases(options.folder, options.split)[: options.limit] if options.folder else example_cases()
    with progress_bar(len(cases)) as progress:
        found = judge(model, cases, settings, orders=options.orders, seed=options.seed, progress=progress)
    print(table(found, model.weights, settings, options.orders))
    return 0
