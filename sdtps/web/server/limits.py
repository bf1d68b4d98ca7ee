"""What stands between strangers and the page: closed doors, limits of size, rate and number, each with a sentence.

Plain ASGI, outside of every route. A refusal has its HTTP status and the JSON that the page knows how to show.
"""

import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NoReturn

import gradio as gr
from gradio import processing_utils
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from sdtps.images.read import MAX_BYTES
from sdtps.support.messages import Message, as_note

API = "/gradio_api"
FILE = f"{API}/file="
SERVER_FUNCTIONS = f"{API}/component_server"
QUEUED = (f"{API}/queue/join", f"{API}/call/")
STATIC = ("/assets/", "/static/", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt", f"{API}/theme.css")
HEALTH = "/health"
PICTURE = "/preview.jpg"  # what others show of the page
LOGIN = "/login"
# What the page and the public API use; Gradio has more, and what nobody uses is closed.
PATHS = ("/", "/config", "/logout", HEALTH, PICTURE, LOGIN)
ENDPOINTS = (
    "info", "openapi.json", "app_id", "user", "token", "login_check", "startup-events", "heartbeat/", "queue/",
    "call/", "cancel", "reset", "upload", "component_server", "file=", "mcp",
)  # fmt: skip
MEGABYTE = 1024 * 1024
THREE_PICTURES = 4 * MAX_BYTES + MEGABYTE  # as base64 in one JSON text
SMALL = MEGABYTE
FORM = 64 * 1024
CROWD = 64  # requests of the page that may be under way at once
LOGINS_PER_MINUTE = 10
MAX_CLIENTS = 10_000


def route_path(scope: Scope) -> str:
    """The path as routes see it: without the prefix that a proxy may leave in front."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def refusal(status: int, message: Message, headers: dict[str, str] | None = None) -> JSONResponse:
    """One sentence, for the page (`error`) and for programs (`detail`)."""
    body: dict[str, Any] = {"error": as_note(message), "zone": None, "expired": [], "detail": str(message)}
    return JSONResponse(body, status, headers)


def busy() -> JSONResponse:
    """The answer when there is too much to do."""
    return refusal(503, Message("server.busy", "The server is busy; try again in a moment."), {"Retry-After": "2"})


def refuse_downloads() -> None:
    """Keep Gradio from fetching addresses that a client names in place of a file."""

    async def refuse(*_: object, **__: object) -> NoReturn:
        text = "This server fetches no addresses; send the picture itself."
        raise gr.Error(Message("api.address", text), print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse


class Guard(ABC):
    """Base of the guards: HTTP passes through `check`, everything else is let through."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or hand on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif (refused := self.check(scope, route_path(scope))) is not None:
            await refused(scope, receive, send)
        else:
            await self.hand_on(scope, receive, send)

    @abstractmethod
    def check(self, scope: Scope, path: str) -> JSONResponse | None:
        """A refusal, or None."""

    async def hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through."""
        await self.app(scope, receive, send)


class Doors(Guard):
    """Closes every route that the page does not use, direct calls past the queue among them."""

    def check(self, scope: Scope, path: str) -> JSONResponse | None:
        """Unknown paths are not found; a file is named by path, never by address."""
        endpoint = path.removeprefix(f"{API}/")
        is_open = path in PATHS or path.startswith(STATIC) or (path != endpoint and endpoint.startswith(ENDPOINTS))
        if not is_open or scope["method"] not in ("GET", "HEAD", "POST", "OPTIONS"):
            return refusal(404, Message("request.closed", "There is nothing at this address."))
        if path.startswith(FILE) and "://" in path:
            return refusal(403, Message("api.address", "This server fetches no addresses; send the picture itself."))
        return None


class SizeLimit(Guard):
    """Refuses bodies that no honest request has, before and while they arrive.

    Args:
        app: the next application.
        max_file: bytes of the largest file that may be uploaded.
    """

    def __init__(self, app: ASGIApp, max_file: int) -> None:
        super().__init__(app)
        self.max_file = max_file

    def limit(self, scope: Scope, path: str) -> int:
        """Bytes that a request to this path may have."""
        kind = HTTPConnection(scope).headers.get("content-type", "")
        if path.startswith((SERVER_FUNCTIONS, f"{API}/upload")) and kind.startswith("multipart/"):
            return self.max_file + FORM  # what the form adds round the file
        return THREE_PICTURES if path.startswith(QUEUED) else SMALL

    def check(self, scope: Scope, path: str) -> JSONResponse | None:
        """By the length that the client declares."""
        declared = HTTPConnection(scope).headers.get("content-length", "0")
        limit = self.limit(scope, path)
        return self._too_big(limit) if not declared.isdecimal() or int(declared) > limit else None

    async def hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """By what really arrives, where no length was declared."""
        limit, arrived = self.limit(scope, route_path(scope)), 0
        answered = False

        async def counted() -> Event:
            nonlocal arrived, answered
            event = await receive()
            arrived += len(event.get("body", b""))
            if arrived > limit and not answered:
                answered = True
                await self._too_big(limit)(scope, receive, send)
            return {"type": "http.disconnect"} if answered else event

        async def unless_answered(event: Event) -> None:
            nonlocal answered
            if event["type"] == "http.response.start" and event["status"] == 413 and not answered:
                answered = True  # Gradio counts the file alone, in bytes; our sentence is plainer
                await self._too_big(self.max_file)(scope, receive, send)
            elif not answered:
                await send(event)

        try:
            await self.app(scope, counted, unless_answered)
        except Exception:
            if not answered:  # what the application says about a body that was cut short is of no interest
                raise

    @staticmethod
    def _too_big(limit: int) -> JSONResponse:
        text = "The request is larger than {limit} MB, the most this server takes; send less."
        message = Message("request.too_big", text, limit=limit // MEGABYTE)
        return refusal(413, message, {"Connection": "close"})


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
        key, now = ((scope.get("client") or ("",))[0], signing_in), self._clock()
        left, before = self._buckets.pop(key, (float(size), now))
        left = min(size, left + (now - before) * size / 60)
        self._buckets[key] = (max(0.0, left - 1), now) if left >= 1 else (left, now)
        while len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
        if left >= 1:
            return None
        seconds = int((1 - left) * 60 / size) + 1
        text = "Too many requests from this address; wait {seconds} seconds and try again."
        return refusal(429, Message("server.rate", text, seconds=seconds), {"Retry-After": str(seconds)})


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


def guards(*, max_file: int, per_minute: int = 0) -> list[Middleware]:
    """Which guards stand in which order, outermost first."""
    return [
        Middleware(Doors),
        Middleware(RateLimit, per_minute=per_minute),
        Middleware(SizeLimit, max_file=max_file),
        Middleware(Crowd),
    ]
