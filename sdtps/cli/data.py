"""`data`: which data set a folder holds, its splits, and what is broken in it."""

import argparse

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser
from sdtps.cli.work import FOLDER
from sdtps.datasets import UNKNOWN, open_dataset

SHOWN_BROKEN = 10
EXAMPLES = """
    data RGBNT201
    data my-pictures --all
"""


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    parser = add_parser(
        commands, "data", "say which data set a folder holds, its splits, and what is broken in it", EXAMPLES
    )
    parser.add_argument("folder", help=FOLDER)
    parser.add_argument("--all", action="store_true", help=f"list every broken file, not the first {SHOWN_BROKEN}")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List the splits."""
    dataset = open_dataset(options.folder)
    print(f"{dataset.layout.name}; query {dataset.query}, gallery {dataset.gallery}")
    for split in dataset.folders:
        found = dataset.listing(split)
        people = len({r.pid for r in found.records} - {UNKNOWN})
        cameras = len({r.cam for r in found.records} - {UNKNOWN})
        print(f"{split}: {len(found.records)} image sets, {people} identities, {cameras} cameras")
        if found.broken:
            print(f"  {len(found.broken)} broken")
        for broken in found.broken[: None if options.all else SHOWN_BROKEN]:
            print(f"    {broken.name}: {broken.why}")
    return 0
