"""`serve`: the page, as `python app.py` starts it."""

import argparse
import runpy
import sys

from sdtps.cli.options import Subparsers
from sdtps.resources import PROJECT

NAME = "serve"
APP = PROJECT / "app.py"


def add_command(commands: Subparsers) -> None:
    """Describe the command; its options are those of `app.py`."""
    parser = commands.add_parser(NAME, help="start the page; takes the options of app.py", add_help=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Hand over to `app.py`."""
    if not APP.is_file():
        raise FileNotFoundError(f"There is no {APP.name} beside the package; start the page from the repository.")
    sys.argv = [str(APP), *options.arguments]
    sys.path.insert(0, str(APP.parent))
    runpy.run_path(str(APP), run_name="__main__")
    return 0
