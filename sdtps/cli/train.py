"""`train`: a recipe to weights."""

import argparse
from pathlib import Path

from sdtps.cli.options import DEVICES, Subparsers
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
        "--config",
        default=str(CONFIGS / "embedded.yaml"),
        help="a recipe; shipped ones by name (default: embedded.yaml)",
    )
    parser.add_argument("--device", default="auto", help=DEVICES)
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint of the same recipe")
    parser.set_defaults(run=run)


def find_recipe(given: str) -> str:
    """The file, or the shipped one of its name, which an installed package keeps inside."""
    shipped = CONFIGS / Path(given).name
    return str(shipped) if shipped.is_file() and not Path(given).exists() else given


def run(options: argparse.Namespace) -> int:
    """Train."""
    from sdtps.training.recipe import Recipe
    from sdtps.training.trainer import train

    for recipe in Recipe.read(find_recipe(options.config)):
        print(f"written: {train(recipe, options.device, options.resume)}")
    return 0
