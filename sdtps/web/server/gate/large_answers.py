"""The page and its description are large, and making them takes some hundredths of a second of the interpreter.

They are made in turn, so that a crowd that asks for them waits for itself and not the sliders of others.
"""

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.server.gate.identity import visitor_of
from sdtps.web.server.gate.refusals import busy
from sdtps.web.server.gate.routes import API, route_path

LARGE = ("/", "/config", f"{API}/info", f"{API}/openapi.json")
AT_ONCE = 2  # of all addresses; one of each
WAITING = 128  # of one address: a class can sit behind it


class LargeAnswers(HttpLayer):
    """Makes one at a time for each address; nobody's turn lasts until the answer is read."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._at_once = asyncio.Semaphore(AT_ONCE)
        self._lines: dict[str, asyncio.Lock] = {}
        self._waiting: dict[str, int] = {}

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on when it is the visitor's turn."""
        if scope["method"] != "GET" or route_path(scope) not in LARGE:
            await self.app(scope, receive, send)
            return
        address = visitor_of(scope).address
        if self._waiting.get(address, 0) >= WAITING:
            await busy()(scope, receive, send)
            return
        made: list[Event] = []

        async def keep(event: Event) -> None:
            made.append(event)

        line = self._lines.setdefault(address, asyncio.Lock())
        self._waiting[address] = self._waiting.get(address, 0) + 1
        try:
            async with line, self._at_once:
                await self.app(scope, receive, keep)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address], self._lines[address]
        for event in made:
            await send(event)
