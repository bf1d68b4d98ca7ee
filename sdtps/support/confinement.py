"""Inside a worker: it takes rights away from itself, then answers questions until the pipe closes."""

import contextlib
import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any

from sdtps.support.confined import read_message, write_message
from sdtps.support.memory import give_back

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

Handler = Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]
MEGABYTE = 1024 * 1024
DIE_WITH_PARENT, NO_NEW_RIGHTS = 1, 38  # of prctl
GROWN = 200 * MEGABYTE  # beyond what it had at the start: then it makes room for a new one


def serve(handlers: Mapping[str, Handler]) -> None:
    """Answer questions by name, within the limits of the command line."""
    limits = json.loads(sys.argv[3])
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not look like an answer
    confine(int(limits["megabytes"] * MEGABYTE))
    start = resident()
    while True:
        try:
            head, content = read_message(requests, int(limits["most"]))
        except (EOFError, OSError, ValueError):
            return
        allow_seconds(limits["seconds"])
        try:
            found, result = handlers[head["call"]](head, content)
        except MemoryError:
            found, result = {"overran": "memory"}, b""
        allow_megabytes(int(limits["megabytes"]))
        del content
        give_back()
        leaving = resident() > start + GROWN
        write_message(answers, found | {"leaving": leaving}, result)
        if leaving:
            return


def confine(more: int) -> None:
    """So many further bytes at most, no files, no core dumps, no new rights; last in line for the processor."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(5)
    with contextlib.suppress(OSError, AttributeError):
        process = ctypes.CDLL(None)
        process.prctl(DIE_WITH_PARENT, signal.SIGKILL)
        process.prctl(NO_NEW_RIGHTS, 1, 0, 0, 0)
    if resource is None:
        return
    most = data_bytes() + more
    for what, value in (
        (resource.RLIMIT_DATA, most),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (value, value))


def allow_megabytes(megabytes: int) -> None:
    """So much memory from now on, within what `confine` left."""
    if resource is None:
        return
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = data_bytes() + megabytes * MEGABYTE
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def allow_seconds(seconds: float) -> None:
    """So much processor time from now on; the system ends what takes more."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))


def data_bytes() -> int:
    """Memory that the limit counts already."""
    return _status("VmData")


def resident() -> int:
    """Memory that is in use."""
    return _status("VmRSS")


def _status(name: str) -> int:
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0
