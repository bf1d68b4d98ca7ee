"""`serve`: the page, as `sdtps-lens` and `python app.py` start it."""

import argparse

from sdtps.cli.options import Subparsers

NAME = "serve"


def add_command(commands: Subparsers) -> None:
    """Describe the command; its options are those of `app.py`."""
    parser = commands.add_parser(NAME, help="start the page; takes the options of app.py", add_help=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Hand over."""
    from sdtps.cli import page

    page.main(options.arguments)
    return 0
