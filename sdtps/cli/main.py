"""`sdtps COMMAND` or `python -m sdtps COMMAND`: what the page does, and what only a terminal needs."""

import argparse
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

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
from sdtps.cli.options import add_version, program, run_selectors
from sdtps.cli.page_options import build_parser as page_parser
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
EPILOG = """examples:
  {prog} inspect RGB.png NIR.png TIR.png
  {prog} figure RGB.png NIR.png TIR.png --out figure.pdf --width cvpr-column
  {prog} bundle RGB.png NIR.png TIR.png --out set.zip --weights DeMobest.pth
  {prog} evaluate RGBNT201 --weights DeMobest.pth --device cuda

Each command has its own --help with more. Exit codes: 0 done, 1 could not be done, 2 wrong usage."""


def build_parser() -> argparse.ArgumentParser:
    """All commands with their options; imports nothing that computes."""
    prog = program()
    parser = argparse.ArgumentParser(
        prog=prog,
        description=__doc__.partition(": ")[2].capitalize(),
        epilog=EPILOG.format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_command(commands)
    return parser


def every_parser() -> dict[str, argparse.ArgumentParser]:
    """Each command's own by its name, and the page's, which `serve` and `sdtps-lens` share."""
    found = next(a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    page = page_parser()
    return {**found.choices, serve.NAME: page, "sdtps-lens": page}


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
    pressed: list[int] = []
    try:
        with _noting_ctrl_c(pressed), warnings.catch_warnings():
            if not sys.warnoptions:  # libraries warn of odd files in their own terms; ours are the sentences
                warnings.simplefilter("ignore")
            code = int(options.run(options))
            sys.stdout.flush()
            return code
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:  # who read it, such as head, has seen enough; and nothing is said when Python flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if pressed:
            return _stopped()
        # A note is what to do, in several lines of our own.
        print(f"sdtps: {_sentence(error)}", *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
        if os.environ.get(TRACEBACK):
            raise
        return 1


@contextmanager
def _noting_ctrl_c(pressed: list[int]) -> Iterator[None]:
    """A library may turn Ctrl-C into an error of its own, such as that of a damaged file; so it is written down."""

    def note(number: int, _: object) -> None:
        pressed.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _stopped() -> int:
    # Files appear whole or not at all, so there is nothing to warn of.
    print("\nsdtps: stopped; what is written is complete.", file=sys.stderr)
    return INTERRUPTED


def _sentence(error: Exception) -> str:
    """One line for a person; what nobody foresaw is called by its name."""
    if (said := owner_sentence(error)) is not None:
        return said
    kind = type(error).__name__
    return f"This could not be finished ({kind}); set {TRACEBACK}=1 to see where it happened, and report it."
