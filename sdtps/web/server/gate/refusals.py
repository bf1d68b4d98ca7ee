"""A refusal: its HTTP status, one sentence, and the JSON that the page knows how to show."""

from abc import abstractmethod
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from sdtps.support.messages import Message, as_note
from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.server.gate.routes import route_path


def refusal(status: int, message: Message, headers: dict[str, str] | None = None) -> JSONResponse:
    """One sentence, for the page (`error`) and for programs (`detail`)."""
    body: dict[str, Any] = {"error": as_note(message), "zone": None, "expired": [], "detail": str(message)}
    return JSONResponse(body, status, headers)


def busy() -> JSONResponse:
    """The answer when there is too much to do."""
    return refusal(503, Message("server.busy", "The server is busy; try again in a moment."), {"Retry-After": "2"})


def too_many(seconds: int) -> JSONResponse:
    """The answer to somebody who asks too often."""
    text = "Too many requests from this address; wait {seconds} seconds and try again."
    return refusal(429, Message("server.rate", text, seconds=seconds), {"Retry-After": str(seconds)})


class Guard(HttpLayer):
    """Base of the guards: requests pass through `check`."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if (refused := self.check(scope, route_path(scope))) is not None:
            await refused(scope, receive, send)
        else:
            await self.hand_on(scope, receive, send)

    @abstractmethod
    def check(self, scope: Scope, path: str) -> JSONResponse | None:
        """A refusal, or None."""

    async def hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through."""
        await self.app(scope, receive, send)
