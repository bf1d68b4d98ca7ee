"""`python -m sdtps password NAME`: a line for the file that `app.py --auth` reads."""

import argparse
import getpass
import sys

from sdtps.cli.options import Subparsers
from sdtps.cli.options import add_command as add_parser

NAME = "password"
EXAMPLES = """
    password ada >> accounts.txt
    serve --auth accounts.txt
"""


def add_command(commands: Subparsers) -> None:
    """Add it to the command line."""
    parser = add_parser(commands, NAME, "make a line of the accounts file for app.py --auth", EXAMPLES)
    parser.add_argument("name", help="who signs in")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Ask twice in a terminal, else read one line; print NAME:HASH."""
    from sdtps.web.server.accounts import account_line

    if sys.stdin.isatty():
        password = getpass.getpass("Password: ")
        if getpass.getpass("Once more: ") != password:
            raise ValueError("The two passwords differ; start again.")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    print(account_line(options.name, password))
    return 0
