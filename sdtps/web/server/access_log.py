"""One line per request and per analysis: what, how long, how large, how it ended. Never names, paths or contents.

A request's line is begun by the middleware and completed by whoever answers it (`remark`). Work that the queue runs
outside of a request has a line of its own (`logged`).
"""

import functools
import hashlib
import json
import logging
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, ParamSpec, TypeVar

from gradio.context import LocalContext
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sdtps.web.server.limits import API, FILE, HEALTH, STATIC, route_path

FORMATS = ("text", "json")
PEEK = 4096  # bytes kept of both ends of a body, to find the session in
SESSION = re.compile(rb'session_hash(?:"\s*:\s*"|"\r\n\r\n)([\w-]{1,64})')
SESSION_IN_ADDRESS = re.compile(r"(?:heartbeat/|session_hash=)([\w-]{1,64})")
log = logging.getLogger("sdtps.requests")
_entry: ContextVar[dict[str, Any] | None] = ContextVar("entry", default=None)
P = ParamSpec("P")
R = TypeVar("R")


def remark(task: str, answer: Mapping[str, Any]) -> None:
    """Note what was asked for and how it ended, for the line of the request under way."""
    entry = _entry.get()
    if entry is not None:
        entry.update(task=task, outcome=outcome(answer))


def outcome(answer: Mapping[str, Any]) -> str:
    """`ok`, or the code of the sentence."""
    error = answer.get("error")
    return str(error.get("code", "error")) if isinstance(error, Mapping) else "ok"


@contextmanager
def logged(task: str) -> Iterator[dict[str, Any]]:
    """A line for work that the queue runs; facts such as `outcome` may be added to what is yielded."""
    request = LocalContext.request.get(None)
    facts: dict[str, Any] = {"task": task, "session": short_session(getattr(request, "session_hash", None))}
    start = time.perf_counter()
    try:
        yield facts
        facts.setdefault("outcome", "ok")
    except Exception as error:
        facts["outcome"] = type(error).__name__
        raise
    finally:
        facts["ms"] = _milliseconds(start)
        log.info("analysis", extra={"facts": facts})


def with_log(task: str, work: Callable[P, R]) -> Callable[P, R]:
    """The same function, with a line for each call."""

    @functools.wraps(work)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with logged(task):
            return work(*args, **kwargs)

    return wrapped


def short_session(session: object) -> str | None:
    """Enough to follow a visitor through the log, not enough to listen in."""
    return hashlib.sha256(str(session).encode()).hexdigest()[:8] if session else None


class RequestLog:
    """Writes the line of each request; static files and health checks have none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, watch and write."""
        path = route_path(scope) if scope["type"] == "http" else ""
        if scope["type"] != "http" or path.startswith(STATIC) or path == HEALTH:
            await self.app(scope, receive, send)
            return
        facts: dict[str, Any] = {"method": scope["method"], "route": _route(path), "status": 500}
        facts |= {"received": 0, "sent": 0}
        ends = _Ends()

        async def heard() -> Message:
            event = await receive()
            body = event.get("body", b"")
            facts["received"] += len(body)
            ends.add(body)
            return event

        async def said(event: Message) -> None:
            if event["type"] == "http.response.start":
                facts["status"] = event["status"]
            facts["sent"] += len(event.get("body", b""))
            await send(event)

        token, start = _entry.set(facts), time.perf_counter()
        try:
            await self.app(scope, heard, said)
        finally:
            _entry.reset(token)
            address = f"{path}?{scope['query_string'].decode('latin-1')}"
            facts |= {"ms": _milliseconds(start), "session": short_session(ends.session() or _in_address(address))}
            log.info("request", extra={"facts": facts})


class _Ends:
    """Both ends of a body that streams by: the page's JSON names the session early, its forms late."""

    def __init__(self) -> None:
        self.head, self.tail = b"", b""

    def add(self, body: bytes) -> None:
        self.head = (self.head + body[:PEEK])[:PEEK] if len(self.head) < PEEK else self.head
        self.tail = (self.tail + body[-PEEK:])[-PEEK:]

    def session(self) -> str | None:
        found = SESSION.findall(self.head) or SESSION.findall(self.tail)
        return found[-1].decode() if found else None


class LineFormatter(logging.Formatter):
    """Text for people or JSON for programs; of an exception its type and where in the code, never its words."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        facts = {k: v for k, v in getattr(record, "facts", {}).items() if v is not None}
        if record.exc_info and record.exc_info[0] is not None:
            facts |= {"exception": record.exc_info[0].__name__, "at": _places(record.exc_info[2])}
        # Other libraries may put anything into their words.
        words = record.getMessage() if record.name.startswith("sdtps") else f"{record.name} {record.levelname.lower()}"
        if self.kind == "json":
            return json.dumps({"time": when, "level": record.levelname.lower(), "event": words, **facts})
        return " ".join([when, record.levelname.lower(), words, *(f"{k}={v}" for k, v in facts.items())])


def configure(kind: str) -> None:
    """Send our log, and what Gradio and its server have to say, to stderr in one format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(kind))
    for name, level in (("sdtps", logging.INFO), ("uvicorn", logging.WARNING), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler] if name != "uvicorn.error" else [], name == "uvicorn.error"
        logger.setLevel(level)
    _quiet_gradio()


def _quiet_gradio() -> None:
    """Gradio prints exceptions, whose words can hold paths; they become lines like any other."""
    from gradio import queueing, routes

    class Quiet:
        def print_exc(self, *_: object, **__: object) -> None:
            logging.getLogger("sdtps.gradio").warning("refused", exc_info=True)

        def __getattr__(self, name: str) -> Any:
            return getattr(traceback, name)

    for module in (queueing, routes):
        module.traceback = Quiet()


def _places(trace: Any) -> str:
    frames = traceback.extract_tb(trace)[-4:]
    return " > ".join(f"{f.filename.rpartition('/')[2]}:{f.lineno}" for f in frames)


def _route(path: str) -> str:
    """The path without what a visitor put into it."""
    if path.startswith(FILE):
        return FILE
    if path.startswith(f"{API}/"):
        return "/".join(path.split("/")[:4]) if path.startswith(f"{API}/queue/") else "/".join(path.split("/")[:3])
    return path if path.count("/") == 1 and len(path) <= 16 else "other"


def _in_address(address: str) -> str | None:
    found = SESSION_IN_ADDRESS.search(address)
    return found[1] if found else None


def _milliseconds(start: float) -> float:
    return round(1000 * (time.perf_counter() - start), 1)
