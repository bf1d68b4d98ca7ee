"""One line per request and per analysis: what, how long, how large, how it ended. Never names, paths or contents.

A request's line is begun by the middleware and completed by whoever answers it (`remark`). Work that the queue runs
outside of a request has a line of its own (`logged`).
"""

import functools
import hashlib
import json
import logging
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, ParamSpec, TypeVar

from gradio.context import LocalContext
from starlette.types import Message, Receive, Scope, Send

from sdtps.support.messages import plain
from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.server.gate.identity import visitor_of
from sdtps.web.server.gate.routes import HEALTH, METHODS, OTHER, STATIC, route_name, route_path
from sdtps.web.session.visitor import Visitor, answering

LONGEST = 2000  # characters of a line
HUNG_UP = 499  # the visitor left before there was an answer
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
    who = _queued_visitor()
    facts: dict[str, Any] = {"task": task, "session": short_session(who.session)}
    start = time.perf_counter()
    try:
        with answering(who):
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


def _queued_visitor() -> Visitor:
    """Who asked for the work that the queue runs now: the queue does not tell, but the request knows."""
    request = LocalContext.request.get(None)
    inner = getattr(request, "request", None) or request
    who = visitor_of(getattr(inner, "scope", None))
    return Visitor(who.address, str(getattr(request, "session_hash", None) or who.session))


def short_session(session: object) -> str | None:
    """Enough to follow a visitor through the log, not enough to listen in."""
    return hashlib.sha256(str(session).encode()).hexdigest()[:8] if session else None


class RequestLog(HttpLayer):
    """Writes the line of each request; static files and health checks have none."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, watch and write."""
        path = route_path(scope)
        if path.startswith(STATIC) or path == HEALTH:
            await self.app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in METHODS else OTHER
        facts: dict[str, Any] = {"method": method, "route": route_name(path), "status": HUNG_UP}
        facts |= {"received": 0, "sent": 0}

        async def heard() -> Message:
            event = await receive()
            facts["received"] += len(event.get("body", b""))
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
            facts |= {"ms": _milliseconds(start), "session": short_session(visitor_of(scope).session)}
            log.info("request", extra={"facts": facts})


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
        line = " ".join([when, record.levelname.lower(), words, *(f"{k}={v}" for k, v in facts.items())])
        return plain(line, LONGEST)


def configure(kind: str) -> None:
    """Send our log, and what all libraries have to say, warnings included, to stderr in one format."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(kind))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.captureWarnings(True)
    for name in [n for n in logging.root.manager.loggerDict if not n.startswith("sdtps")]:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True  # libraries bring formats of their own
    logging.getLogger("sdtps").setLevel(logging.INFO)
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


def _milliseconds(start: float) -> float:
    return round(1000 * (time.perf_counter() - start), 1)
