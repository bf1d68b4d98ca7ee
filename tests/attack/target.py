"""A server under attack: how to reach it, and what can be seen of it from outside."""

import contextlib
import os
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx

from tests.harness import Running
from tests.visitor import API, Visitor

FUNCTIONS = f"{API}/component_server/"
PATIENCE = 60.0
MEGABYTE = 2**20


@dataclass(frozen=True)
class Target:
    """A running server.

    Attributes:
        url: its address.
        pid: its process, where it is known; memory and files are looked at through it.
        folder: that holds all its temporary files, where it is known.
        log: the file with what it says, where it is known.
    """

    url: str
    pid: int | None = None
    folder: Path | None = None
    log: Path | None = None

    @classmethod
    def of(cls, server: Running) -> Self:
        """What an attacker on the same machine sees of a server."""
        return cls(server.url, server.process.pid, server.cache.parent, server.log)

    @property
    def place(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "127.0.0.1", parts.port or 80

    def memory(self) -> float:
        """Megabytes in use by the server, without its workers."""
        if self.pid is None:
            return 0.0
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MEGABYTE

    def peak(self) -> float:
        """The most megabytes that were ever in use by the server."""
        if self.pid is None:
            return 0.0
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def processor_seconds(self) -> float:
        """Of the server so far, without its workers."""
        if self.pid is None:
            return 0.0
        times = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def open_files(self) -> int:
        """Descriptors of the server."""
        return 0 if self.pid is None else len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def left_behind(self) -> set[str]:
        """Files in the folder where the server could leave some."""
        return set() if self.folder is None else {str(p) for p in self.folder.rglob("*") if p.is_file()}

    def post(self, path: str, **options: object) -> httpx.Response:
        """One request."""
        return httpx.post(f"{self.url}{path}", timeout=PATIENCE, **options)  # type: ignore[arg-type]

    def get(self, path: str, **options: object) -> httpx.Response:
        """One request."""
        return httpx.get(f"{self.url}{path}", timeout=PATIENCE, **options)  # type: ignore[arg-type]

    def still_serves(self) -> str | None:
        """Whether health and sliders answer."""
        if self.get("/health").json().get("status") != "ok":
            return "/health is not well"
        with Visitor(self.url) as visitor:
            answer = visitor.decide("no such key", {})
        return None if answer["error"]["code"] == "session.expired" else "sliders do not answer"

    @contextlib.contextmanager
    def connections(self, count: int, start: bytes, sources: Sequence[str] = ("",)) -> Iterator[list[socket.socket]]:
        """So many connections that have sent some bytes, and then nothing, in turn from each of these addresses."""
        opened: list[socket.socket] = []
        try:
            for i in range(count):
                source = sources[i % len(sources)]
                with contextlib.suppress(ConnectionError, TimeoutError):  # there is no room any more
                    place = (source, 0) if source else None
                    opened.append(socket.create_connection(self.place, timeout=10, source_address=place))
                with contextlib.suppress(OSError):  # turned away already
                    opened[-1].sendall(start)
            yield opened
        finally:
            for connection in opened:
                connection.close()


def sentence_of(answer: httpx.Response) -> str | None:
    """What is wrong with an answer that should be a refusal in one sentence."""
    try:
        body = answer.json()
        text = body["error"]["text"]
    except (ValueError, KeyError, TypeError):
        return f"{answer.status_code} without a sentence: {answer.text[:80]!r}"
    if answer.status_code < 400 or answer.status_code == 500 or not text.endswith("."):
        return f"{answer.status_code}: {text}"
    return None
