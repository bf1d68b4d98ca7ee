"""Connections before there is a request: deadlines for headers and for readers, and a share for each address.

ASGI sees a request when its headers are complete. What happens before that, and what happens to an answer that nobody
reads, only the protocol sees.
"""

import asyncio
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import h11
import httpx
import uvicorn
from gradio import blocks, http_server
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from sdtps.support.messages import Message, as_note
from sdtps.web.server.gate.beginning import Beginning
from sdtps.web.server.gate.identity import address_of

try:
    import resource
except ImportError:  # not on Windows
    resource = None  # type: ignore[assignment]

HEADER_SECONDS = 10.0
HEADER_BYTES = 32 * 1024
FREE_PIECES, PIECE_BYTES = 256, 64  # of a body; beyond these, what a piece must have on average
READER_SECONDS = 20.0
READER_BYTES = 64 * 1024  # that somebody reads of a waiting answer in that time
UNREAD_BYTES = 256 * 1024 * 1024  # of answers that are being read; an eighth for one address
DESCRIPTORS = 65_536  # more are of no use here
BACKLOG = 64  # connections that are taken in before any of them is counted
RESERVED = 256  # descriptors for files, the decoders, and the connections that are just being refused


def descriptors() -> int:
    """How many files and connections this process may have open, after asking for as many as it may get."""
    if resource is None:
        return 1024
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def room() -> int:
    """How many connections there is room for."""
    return max(64, descriptors() - RESERVED)


class Connections:
    """Who is connected. Where there is no room, the oldest connection goes that has not asked for anything.

    Args:
        most: connections at once.
        share: of these for one address.
    """

    def __init__(self, most: int, share: int) -> None:
        self.most, self.share = most, share
        self._by_address: dict[str, OrderedDict[Any, None]] = {}
        self._readers: OrderedDict[Any, None] = OrderedDict()  # who has not read what was sent; the longest first

    def __len__(self) -> int:
        return sum(map(len, self._by_address.values()))

    def add(self, address: str, connection: Any) -> bool:
        """Take a connection in; False where there is no room for it."""
        own = self._by_address.get(address, OrderedDict())
        if len(own) >= self.share and not self._make_room(own):
            return False
        if len(self) >= self.most and not self._make_room(max(self._by_address.values(), key=len)):
            return False
        self._by_address.setdefault(address, OrderedDict())[connection] = None
        return True

    def reads(self, reader: Any) -> None:
        """An answer waits to be read; where too much waits, the oldest of whoever has most there is given up."""
        self._readers[reader] = None
        unread = Counter[str]()
        for one in self._readers:
            unread[one.address] += one.transport.get_write_buffer_size()
        while (fullest := self._overfull(unread, reader.address)) is not None:
            oldest = next((one for one in self._readers if one.address == fullest and one is not reader), None)
            if oldest is None:  # a single answer may be as large as it is
                return
            del self._readers[oldest]
            unread[fullest] -= oldest.transport.get_write_buffer_size()
            oldest.transport.abort()

    @staticmethod
    def _overfull(unread: Counter[str], address: str) -> str | None:
        if unread[address] > UNREAD_BYTES // 8:
            return address
        return unread.most_common(1)[0][0] if unread.total() > UNREAD_BYTES else None

    def has_read(self, reader: Any) -> None:
        """Nothing waits any more."""
        self._readers.pop(reader, None)

    def remove(self, address: str, connection: Any) -> None:
        """It is gone."""
        self.has_read(connection)
        own = self._by_address.get(address, OrderedDict())
        own.pop(connection, None)
        if not own:
            self._by_address.pop(address, None)

    @staticmethod
    def _make_room(own: OrderedDict[Any, None]) -> bool:
        idle = next((c for c in own if not c.working), None)
        if idle is None:
            return False
        del own[idle]
        idle.transport.abort()
        return True


class Pieces(h11.Connection):
    """Reads HTTP, but no body in crumbs: a piece of one byte costs as much as a large one."""

    def next_event(self) -> Any:
        """The next part of a request."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._pieces = self._bytes = 0
        elif isinstance(event, h11.Data):
            self._pieces, self._bytes = self._pieces + 1, self._bytes + len(event.data)
            if self._pieces > FREE_PIECES and self._bytes < PIECE_BYTES * self._pieces:
                raise h11.RemoteProtocolError("crumbs")
        return event


class Connection(H11Protocol):
    """One connection with deadlines."""

    crowd = Connections(DESCRIPTORS, DESCRIPTORS)

    def __init__(self, config: uvicorn.Config, *args: Any, **options: Any) -> None:
        super().__init__(config, *args, **options)
        self.conn = Pieces(h11.SERVER, config.h11_max_incomplete_event_size or HEADER_BYTES)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, and start the clock."""
        super().connection_made(transport)
        self.address = address_of(self.client)
        self._headers: asyncio.TimerHandle | None = None
        self._reader: asyncio.TimerHandle | None = None
        if self.crowd.add(self.address, self):
            self._watch_headers()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self.crowd.remove(self.address, self)
        for timer in (self._headers, self._reader):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    @property
    def working(self) -> bool:
        """Whether a whole request is being answered."""
        return not self._listening and not self.cycle.more_body

    @property
    def _listening(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Headers must be complete some time after their first byte."""
        super().data_received(data)
        self._watch_headers()

    def _watch_headers(self) -> None:
        if not self._listening and self._headers is not None:
            self._headers.cancel()
            self._headers = None
        elif self._listening and self._headers is None:
            self._headers = self.loop.call_later(HEADER_SECONDS, self._late)

    def _late(self) -> None:
        self._headers = None
        if self._listening:
            self.transport.abort()

    def handle_events(self) -> None:
        """The next request of a connection waits until the answer before it was read."""
        if self.flow.write_paused:
            self.flow.pause_reading()
        else:
            super().handle_events()

    def pause_writing(self) -> None:
        """More waits to be read than should."""
        super().pause_writing()
        self.crowd.reads(self)
        self._watch_reader()

    def resume_writing(self) -> None:
        """It was read."""
        super().resume_writing()
        self.crowd.has_read(self)
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None
        if self.transport.is_closing():
            self._end_soon()
        else:
            self.flow.resume_reading()
            self.handle_events()

    def _watch_reader(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        self._reader = self.loop.call_later(READER_SECONDS, self._check_reader, waiting)

    def _check_reader(self, before: int) -> None:
        self._reader = None
        if before - self.transport.get_write_buffer_size() < READER_BYTES:
            self.transport.abort()
        else:
            self._watch_reader()

    def timeout_keep_alive_handler(self) -> None:
        """Close; what is still unread must not keep the connection open, unless somebody reads it."""
        super().timeout_keep_alive_handler()
        if not self.flow.write_paused:
            self._end_soon()

    def _end_soon(self) -> None:
        self.loop.call_later(READER_SECONDS, self.transport.abort)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn says it in English and without more
        """One sentence for what is no HTTP, or has an address or headers without end."""
        message = Message("request.http", "The request is no HTTP, or its address or headers are too long; send less.")
        body = json.dumps({"error": as_note(message), "zone": None, "expired": [], "detail": str(message)}).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        try:
            for event in (
                h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer is under way already
            pass
        self.transport.close()
        self._end_soon()


@contextmanager
def installed(wrap: Callable[[ASGIApp], ASGIApp], proxies: Collection[str] = ()) -> Iterator[None]:
    """Let Gradio start a server with these connections, our gate around its app, and no trust but in named proxies.

    Only what is launched inside: other servers of a kernel stay as they are.

    Args:
        wrap: puts the gate around the application.
        proxies: addresses whose word on a visitor's address is taken.
    """
    most = room()
    # Behind a proxy all connections have its address, and only the requests say whose they are.
    crowd = Connections(most, most if proxies else max(32, most // 2))
    protocol = type("CrowdedConnection", (Connection,), {"crowd": crowd})
    asking = SimpleNamespace(get=httpx.get)

    def config(app: ASGIApp, **options: Any) -> uvicorn.Config:
        beginning = Beginning(app)
        asking.get = beginning.answer
        return uvicorn.Config(
            wrap(beginning),
            backlog=BACKLOG,
            ws="none",
            http=protocol,
            proxy_headers=bool(proxies),
            forwarded_allow_ips=list(proxies),
            server_header=False,
            h11_max_incomplete_event_size=HEADER_BYTES,
            **options,
        )

    plain: Any = http_server.uvicorn
    http_server.uvicorn = SimpleNamespace(Config=config, Server=uvicorn.Server)
    blocks.httpx = asking
    try:
        yield
    finally:
        http_server.uvicorn, blocks.httpx = plain, httpx
