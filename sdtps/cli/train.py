"""`train`: a recipe to weights."""

import argparse

from sdtps.cli.options import Subparsers


def add_command(commands: Subparsers) -> None:
    """Describe the command."""
    parser = commands.add_parser("train", help="train a recipe, with a record of it")
    parser.add_argument("--config", default="configs/embedded.yaml", help="a recipe (default: %(default)s)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint of the same recipe")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Train."""
    from sdtps.training.recipe import Recipe
    from sdtps.training.trainer import train

    print(f"written: {train(Recipe.read(options.config), options.device, options.resume)}")
    return 0
