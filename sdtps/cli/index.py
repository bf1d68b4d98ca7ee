"""`index`: the features of a data set, computed once."""

import argparse

from sdtps.cli import options as shared
from sdtps.cli import work
from sdtps.datasets import open_dataset

EXAMPLES = """
    index RGBNT201 --sparse-ratio 0.5
    index RGBNT201 --split test --weights DeMobest.pth --device cuda
"""


def add_command(commands: shared.Subparsers) -> None:
    """Describe the command."""
    short = "compute the features of a data set once, for rank lists and evaluate"
    parser = shared.add_command(commands, "index", short, EXAMPLES)
    work.add_folder(parser)
    parser.add_argument("--split", action="append", help="a split; repeat for several (default: query and gallery)")
    work.add_measuring(parser, run)


def run(options: argparse.Namespace) -> int:
    """Compute what the store lacks."""
    from sdtps.retrieval.features import NOTHING

    dataset = open_dataset(options.folder)
    features = work.feature_reader(options, shared.load(options), dataset)
    outcome = {}
    for split in options.split or dict.fromkeys((dataset.query, dataset.gallery)):
        found = features(split, [NOTHING])[NOTHING]
        outcome[split] = {"triplets": len(found.records), "left_out": [b.name for b in found.broken]}
        if options.json:
            continue
        print(f"{split}: {len(found.records)} image sets indexed, {found.features.shape[1]} numbers each")
        for broken in found.broken:
            print(f"  left out {broken.name}: {broken.why}")
    if options.json:
        shared.print_json(outcome)
    return 0
