"""Programs that start at once: forked from a process that has already imported what the page needs.

Most of a server's start is importing torch and Gradio, and the tests start some twenty servers. Starts are measured,
and the first answer is tested, with a program of its own (`benchmarks`, `tests/cli`).
"""

import multiprocessing
import os
import runpy
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from subprocess import TimeoutExpired

PRELOADED = ["sdtps.web.server.run", "sdtps.web.server.page", "sdtps.cli.page", "timm", "matplotlib.pyplot"]
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(PRELOADED)


class Warm:
    """A program in a process of its own; the part of `subprocess.Popen` that the tests use.

    Args:
        script: the file to run.
        arguments: what follows it on the command line.
        env: its environment.
        log: where all it says goes.
    """

    def __init__(self, script: str, arguments: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self._process = _forks.Process(target=_run, args=(script, list(arguments), dict(env), str(log)))
        self._process.start()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise TimeoutExpired(str(self.pid), timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self._process.exitcode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def _run(script: str, arguments: list[str], env: dict[str, str], log: str) -> None:
    """In the fork: become the program."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(file, stream)
    os.chdir(Path(script).parent)
    os.environ.clear()
    os.environ.update(env)
    tempfile.tempdir = None  # asked for again, as the environment is another
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")
