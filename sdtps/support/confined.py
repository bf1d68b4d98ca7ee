"""Work on what strangers send, in processes of its own: bounded in memory and time by the system, and replaceable.

A worker is a Python process that imports little, gets bytes through a pipe and answers with JSON and bytes; nothing it
says is ever unpickled. One that overruns its time is killed, one that dies is replaced, and the caller is told.
"""

import atexit
import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

LENGTHS = struct.Struct("<II")  # of the JSON and of the bytes behind it
MAX_HEAD = 1024 * 1024
PACKAGE = Path(__file__).parents[1]
# The package without its own imports: they would bring torch, which a worker for pictures has no use for.
BARE = "import sys,types;p=types.ModuleType('sdtps');p.__path__=[sys.argv[1]];sys.modules['sdtps']=p;"
WHOLE = "import sys;"
RUN = "from importlib import import_module;import_module(sys.argv[2]).main()"
PASSED_ON = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "SYSTEMROOT", "LANG", "LC_ALL")


class Overran(Exception):
    """A worker took too long, or more memory than it may, and was ended."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why  # "time" or "memory"


def write_message(stream: IO[bytes], head: Mapping[str, Any], content: bytes = b"") -> None:
    """JSON, and bytes behind it."""
    text = json.dumps(head).encode()
    stream.write(LENGTHS.pack(len(text), len(content)) + text)
    if content:
        stream.write(content)
    stream.flush()


def read_message(stream: IO[bytes], most: int) -> tuple[dict[str, Any], bytes]:
    """What `write_message` wrote; EOFError where it is cut off or larger than it may be."""
    lengths = _exactly(stream, LENGTHS.size)
    head, length = LENGTHS.unpack(lengths)
    if head > MAX_HEAD or length > most:
        raise EOFError("too long")
    return json.loads(_exactly(stream, head)), _exactly(stream, length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length) if length else b""
    if len(content) < length:
        raise EOFError("cut off")
    return content


class Worker:
    """One process.

    Args:
        module: whose `main` it runs; see `confinement.serve`.
        bare: without the package's own imports.
        limits: see `confinement.Limits`; it gets them as its third argument.
    """

    def __init__(self, module: str, *, bare: bool, limits: Mapping[str, float]) -> None:
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-c", (BARE if bare else WHOLE) + RUN, str(PACKAGE), module, json.dumps(dict(limits))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=PACKAGE.parent,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests: IO[bytes] = self.process.stdin
        self.answers: IO[bytes] = self.process.stdout

    @property
    def usable(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def call(self, head: Mapping[str, Any], content: bytes, seconds: float, most: int) -> tuple[dict[str, Any], bytes]:
        """One question and its answer; a worker that raises `Overran` is gone."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self.process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            write_message(self.requests, head, content)
            return read_message(self.answers, most)
        except (OSError, EOFError, ValueError):
            self.close()
            raise Overran("time" if late.is_set() or self._out_of_time() else "memory") from None
        finally:
            timer.cancel()

    def close(self) -> None:
        """End it."""
        self.process.kill()
        for stream in (self.requests, self.answers):
            try:
                stream.close()
            except OSError:  # what could not be flushed any more
                continue
        self.process.wait()

    def _out_of_time(self) -> bool:
        """Whether the system ended it for the processor time it took (SIGXCPU)."""
        return self.process.returncode == -24


class Pool:
    """A few workers, started when they are needed.

    Args:
        module, bare: see `Worker`.
        size: workers at once.
        seconds: of wall-clock time for one question.
        most: bytes of an answer.
        limits: see `confinement.Limits`.
    """

    def __init__(
        self, module: str, *, bare: bool, size: int, seconds: float, most: int, limits: Mapping[str, float]
    ) -> None:
        self.module, self.bare, self.limits = module, bare, dict(limits)
        self.seconds, self.most = seconds, most
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(size)
        atexit.register(self.close)

    def call(self, head: Mapping[str, Any], content: bytes = b"") -> tuple[dict[str, Any], bytes]:
        """Ask a free worker; `Overran` where it had to be ended."""
        with self._places:
            worker = self._take()
            answer = worker.call(head, content, self.seconds, self.most)
            if answer[0].pop("leaving", False):  # it has grown, and gives its memory back by ending
                worker.close()
            else:
                with self._lock:
                    self._idle.append(worker)
            return answer

    def warm(self) -> None:
        """Start a worker ahead of the first question."""
        with self._places:
            worker = self._take()
            with self._lock:
                self._idle.append(worker)

    def close(self) -> None:
        """End all workers that are free."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.close()

    def _take(self) -> Worker:
        with self._lock:
            while self._idle:
                if (worker := self._idle.pop()).usable:
                    return worker
                worker.close()
        return Worker(self.module, bare=self.bare, limits=self.limits)
