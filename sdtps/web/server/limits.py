"""What stands between strangers and the page: closed doors, limits of rate and number, each with a sentence.

Plain ASGI, outside of every route. The guards that look at names, bodies and connections are in `gate`.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import gradio as gr
from gradio import processing_utils
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from sdtps.support.messages import Message
from sdtps.web.server.gate.bodies import SizeLimit
from sdtps.web.server.gate.identity import address_of
from sdtps.web.server.gate.refusals import Guard, busy, refusal, too_many
from sdtps.web.server.gate.routes import (
    FILE,
    FUNCTIONS,
    HEALTH,
    LOGIN,
    METHODS,
    QUEUED,
    SERVER_FUNCTIONS,
    STATIC,
    STREAMS,
    called_function,
    is_open,
    route_path,
)

CROWD = 64  # requests of the page that may be under way at once
MOST_STREAMS = 512  # open pages of all addresses, where nobody counted the connections
STREAMS_PER_ADDRESS = 128  # and of one: a class can sit behind it
LOGINS_PER_MINUTE = 10
MAX_CLIENTS = 10_000

__all__ = ["Crowd", "Doors", "RateLimit", "SizeLimit", "StreamLimit", "busy", "guards", "refusal", "refuse_downloads"]


def refuse_downloads() -> None:
    """Keep Gradio from fetching addresses that a client names in place of a file."""

    async def refuse(*_: object, **__: object) -> NoReturn:
        text = "This server fetches no addresses; send the picture itself."
        raise gr.Error(Message("api.address", text), print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse


class Doors(Guard):
    """Closes every route that the page does not use, direct calls past the queue among them."""

    def check(self, scope: Scope, path: str) -> JSONResponse | None:
        """Unknown paths are not found; a file is named by path, never by address."""
        if not is_open(path) or scope["method"] not in METHODS:
            return refusal(404, Message("request.closed", "There is nothing at this address."))
        if path.startswith(FILE) and "://" in path:
            return refusal(403, Message("api.address", "This server fetches no addresses; send the picture itself."))
        function = called_function(path)
        if function is not None and function not in FUNCTIONS:
            text = "There is no function of that name; there are {names}."
            return refusal(404, Message("request.function", text, names=", ".join(FUNCTIONS)))
        return None


class Crowd(Guard):
    """At most so many requests of pages at once; Gradio's own words for a full queue become our sentence."""

    def __init__(self, app: ASGIApp, most: int = CROWD) -> None:
        super().__init__(app)
        self.most = most
        self.under_way = 0

    def check(self, _scope: Scope, path: str) -> JSONResponse | None:
        """Whether there is room."""
        return busy() if path.startswith(SERVER_FUNCTIONS) and self.under_way >= self.most else None

    async def hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count, and translate."""
        path = route_path(scope)
        if path.startswith(SERVER_FUNCTIONS):
            self.under_way += 1
            try:
                await self.app(scope, receive, send)
            finally:
                self.under_way -= 1
        elif path.startswith(QUEUED) and scope["method"] == "POST":
            await self.app(scope, receive, _translated(scope, receive, send))
        else:
            await self.app(scope, receive, send)


class StreamLimit(Guard):
    """At most so many answers that stay open, for one address and for all.

    Args:
        app: the next application.
        most: for one address.
        total: for all; below the number of connections, so that there is always room for a question.
    """

    def __init__(self, app: ASGIApp, most: int = STREAMS_PER_ADDRESS, total: int = MOST_STREAMS) -> None:
        super().__init__(app)
        self.most, self.total = min(most, max(1, total // 2)), total
        self.open: Counter[str] = Counter()

    def check(self, scope: Scope, path: str) -> JSONResponse | None:
        """Whether there is room."""
        listening = path.startswith(STREAMS) and scope["method"] == "GET"
        if not listening:
            return None
        if self.open[address_of(scope.get("client"))] < self.most:
            return busy() if self.open.total() >= self.total else None
        text = "Too many pages of this server are open at your address; close some and try again."
        return refusal(429, Message("server.streams", text), {"Connection": "close", "Retry-After": "30"})

    async def hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count."""
        if not route_path(scope).startswith(STREAMS) or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        address = address_of(scope.get("client"))
        self.open[address] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open[address] -= 1
            self.open += Counter()  # forgets who has nothing open


class RateLimit(Guard):
    """A bucket of requests per client that fills up again steadily; static files and the health check are free.

    Args:
        app: the next application.
        per_minute: requests per minute and address; 0 for no limit but that on signing in.
        clock: seconds.
    """

    def __init__(self, app: ASGIApp, per_minute: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(app)
        self.per_minute = per_minute
        self._clock = clock
        self._buckets: OrderedDict[tuple[str, bool], tuple[float, float]] = OrderedDict()  # what is left, and when

    def check(self, scope: Scope, path: str) -> JSONResponse | None:
        """Take one from the client's bucket."""
        signing_in = path.startswith(LOGIN) and scope["method"] == "POST"
        if path.startswith(STATIC) or path == HEALTH or not (signing_in or self.per_minute):
            return None
        size = LOGINS_PER_MINUTE if signing_in else self.per_minute
        key, now = (address_of(scope.get("client")), signing_in), self._clock()
        left, before = self._buckets.pop(key, (float(size), now))
        left = min(size, left + (now - before) * size / 60)
        self._buckets[key] = (max(0.0, left - 1), now) if left >= 1 else (left, now)
        while len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        return None if left >= 1 else too_many(int((1 - left) * 60 / size) + 1)


def guards(
    *, max_file: int, per_minute: int = 0, folder: Path | None = None, listeners: int = MOST_STREAMS
) -> list[Middleware]:
    """Which guards stand in which order, outermost first."""
    return [
        Middleware(Doors),
        Middleware(StreamLimit, total=listeners),
        Middleware(RateLimit, per_minute=per_minute),
        Middleware(SizeLimit, max_file=max_file, folder=folder),
        Middleware(Crowd),
    ]


def _translated(scope: Scope, receive: Receive, send: Send) -> Send:
    """Puts our sentence in place of a 503."""
    full = False

    async def translate(event: Event) -> None:
        nonlocal full
        if event["type"] == "http.response.start" and event["status"] == 503:
            full = True
            await busy()(scope, receive, send)
        elif not full:
            await send(event)

    return translate
