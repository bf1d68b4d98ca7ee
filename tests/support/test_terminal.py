"""The line of a start: in a terminal it is one line, and a log has none."""

import io

from sdtps.support.terminal import StartLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_steps_are_one_line_in_percent() -> None:
    seen = Terminal()
    line = StartLine(2, seen)
    line.step("Loading the weights")
    line.step("Opening")
    line.done("Open http://x")
    first, second, last = seen.getvalue().split("\r")[1:]
    assert first == "[  0 %] Loading the weights ..."
    assert second == "[ 50 %] Opening ...".ljust(len(first)), "what was longer is wiped out"
    assert last.rstrip(" ").startswith("[100 %] Open http://x")
    assert last.endswith("\n")


def test_a_log_has_none() -> None:
    seen = io.StringIO()
    line = StartLine(1, seen)
    line.step("Loading")
    line.done("Open")
    assert seen.getvalue() == ""
