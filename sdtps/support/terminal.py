"""One line in the terminal that says how far a start is; a log that nobody watches gets none."""

import sys
from typing import TextIO

INTERRUPTED = 130  # what a shell reports after Ctrl-C


class StartLine:
    """Steps of a start, in percent of their number.

    Args:
        steps: how many there will be.
        stream: where the line goes, if it is a terminal.
    """

    def __init__(self, steps: int, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._steps = steps
        self._done = 0
        self._width = 0

    def step(self, text: str) -> None:
        """Say what begins now."""
        percent = 100 * self._done // self._steps
        self._done = min(self._steps, self._done + 1)
        self._write(f"[{percent:3d} %] {text} ...", "")

    def done(self, text: str) -> None:
        """Say that it is over."""
        self._write(f"[100 %] {text}", "\n")

    def _write(self, line: str, end: str) -> None:
        if not self._stream.isatty():
            return
        self._stream.write(f"\r{line.ljust(self._width)}{end}")
        self._width = len(line)
        self._stream.flush()
