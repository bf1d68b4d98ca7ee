"""`synth`: generated people in the RGBNT201 layout."""

import argparse
from pathlib import Path

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser
from sdtps.support.progress import progress_bar

EXAMPLES = """
    synth --out people --ids 60 --views 4
    synth --out people --ids 20 --style drawn --split train_171 --seed 1
"""


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    parser = add_parser(commands, "synth", "write generated people in the RGBNT201 layout", EXAMPLES)
    parser.add_argument("--out", required=True, help="folder that will hold RGBNT201/")
    parser.add_argument("--ids", type=int, default=20, help="number of people")
    parser.add_argument("--views", type=int, default=4, help="views of each, one camera after the other")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another world: people and cameras")
    parser.add_argument("--split", choices=("train_171", "test"), default="test", help="where they go (test)")
    parser.add_argument("--workers", type=int, default=2, help="processes that draw at once (2)")
    parser.add_argument(
        "--style",
        choices=("rendered", "drawn"),
        default="rendered",
        help="rendered from 3D bodies (needs the extra 'synth'), or drawn flat, which needs nothing more",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Draw and write."""
    from sdtps.training.synth import write_rgbnt201

    with progress_bar(options.ids * options.views) as progress:
        write_rgbnt201(
            Path(options.out),
            options.ids,
            options.views,
            seed=options.seed,
            split=options.split,
            workers=options.workers,
            style=options.style,
            progress=progress,
        )
    return 0
