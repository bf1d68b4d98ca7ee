"""`train`: a recipe to weights."""

import argparse

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser
from sdtps.resources import CONFIGS

EXAMPLES = """
    train --config configs/rgbnt201.yaml
    train --config configs/embedded.yaml --resume
"""


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    parser = add_parser(commands, "train", "train a recipe, with a record of it", EXAMPLES)
    parser.add_argument(
        "--config", default=str(CONFIGS / "embedded.yaml"), help="a recipe (default: the embedded model's)"
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint of the same recipe")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train."""
    from sdtps.training.recipe import Recipe
    from sdtps.training.trainer import train

    print(f"written: {train(Recipe.read(options.config), options.device, options.resume)}")
    return 0
