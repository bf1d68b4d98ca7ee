"""`sdtps COMMAND` or `python -m sdtps COMMAND`: what the page does, and what only a terminal needs."""

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from sdtps.cli import (
    batch,
    bundle,
    completion,
    data,
    evaluate,
    faithfulness,
    figure,
    index,
    inspect,
    lab,
    matters,
    password,
    ranks,
    runs,
    serve,
    supplement,
    synth,
    train,
    weights,
)
from sdtps.cli.options import run_selectors
from sdtps.support.errors import LensError, owner_sentence
from sdtps.support.terminal import INTERRUPTED

COMMANDS = (
    inspect,
    figure,
    ranks,
    bundle,
    supplement,
    batch,
    serve,
    weights,
    password,
    synth,
    train,
    lab,
    runs,
    data,
    index,
    evaluate,
    matters,
    faithfulness,
    completion,
)
TRACEBACK = "SDTPS_TRACEBACK"
EPILOG = "Each command has its own --help. Exit codes: 0 done, 1 could not be done, 2 wrong usage."


def build_parser() -> argparse.ArgumentParser:
    """All commands with their options; imports nothing that computes."""
    called = Path(sys.argv[0]).name
    prog = called if called == "sdtps" else "python -m sdtps"
    parser = argparse.ArgumentParser(prog=prog, description=__doc__.partition(": ")[2].capitalize(), epilog=EPILOG)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_command(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 could not be done, 2 wrong usage."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if given[:1] != [serve.NAME]:  # the page runs them itself, or refuses
            run_selectors(given)
    except LensError as error:
        print(f"sdtps: {error}", file=sys.stderr)
        return 1
    parser = build_parser()
    options, more = parser.parse_known_args(arguments)
    if options.command == serve.NAME:
        options.arguments = more  # they are app.py's
    elif more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:  # libraries warn of odd files in their own terms; ours are the sentences
                warnings.simplefilter("ignore")
            return int(options.run(options))
    except KeyboardInterrupt:
        # Files appear whole or not at all, so there is nothing to warn of.
        print("\nsdtps: stopped; what is written is complete.", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        # A note is what to do, in several lines of our own.
        print(f"sdtps: {_sentence(error)}", *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
        if os.environ.get(TRACEBACK):
            raise
        return 1


def _sentence(error: Exception) -> str:
    """One line for a person; what nobody foresaw is called by its name."""
    if (said := owner_sentence(error)) is not None:
        return said
    kind = type(error).__name__
    return f"This could not be finished ({kind}); set {TRACEBACK}=1 to see where it happened, and report it."
