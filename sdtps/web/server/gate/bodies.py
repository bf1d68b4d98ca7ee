"""What visitors send is collected here, within limits of size, structure and time, before anything further in sees it.

A request that breaks off leaves nothing behind: what does not fit into memory is in a file without a name. Nothing
further in ever waits for a slow sender.
"""

import re
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from python_multipart.multipart import parse_options_header
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from sdtps.images.read import MAX_BYTES
from sdtps.support.errors import FULL, sentence
from sdtps.support.messages import Message
from sdtps.web.server.gate.arrivals import BASE_SECONDS, PAUSE_SECONDS, Arrival, Arrivals, NoRoom
from sdtps.web.server.gate.identity import visitor_of
from sdtps.web.server.gate.refusals import Guard, busy, refusal
from sdtps.web.server.gate.routes import API, QUEUED, SERVER_FUNCTIONS, route_path

MEGABYTE = 1024 * 1024
THREE_PICTURES = 4 * MAX_BYTES + MEGABYTE  # as base64 in one JSON text
SMALL = MEGABYTE
FORM = 64 * 1024
MAX_PARTS = 16  # of a form; the page sends five
MAX_STRUCTURE = 20_000  # brackets, commas and quotes of a JSON text; base64 has none of them
STRUCTURE = (b"[", b"{", b",", b'"')
IN_MEMORY = 256 * 1024
PIECE = 256 * 1024
BOUNDARY = re.compile(rb"[\w'()+,./:=?-]{1,70}")
HELD_BYTES = 512 * MEGABYTE  # of all bodies that are under way


class TooMuch(Exception):
    """A body that is refused; holds the answer."""

    def __init__(self, answer: JSONResponse) -> None:
        super().__init__()
        self.answer = answer


class Gone(Exception):
    """The sender hung up."""


class SizeLimit(Guard):
    """Refuses bodies that no honest request has, before and while they arrive, and hands on whole ones only.

    Args:
        app: the next application.
        max_file: bytes of the largest file that may be uploaded.
        folder: where bodies wait that are too large for memory; the system's own by default.
        pause: seconds that a sender may be silent.
        base: seconds that any body may take.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_file: int,
        folder: Path | None = None,
        pause: float = PAUSE_SECONDS,
        base: float = BASE_SECONDS,
    ) -> None:
        super().__init__(app)
        self.max_file, self.folder = max_file, folder
        self.pause, self.base = pause, base
        self.arrivals = Arrivals(max(HELD_BYTES, 2 * max_file))

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Everything further in reads the form as it is counted here."""
        await super().answer(_with_one_boundary(scope), receive, send)

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
        return _too_big(limit) if not declared.isdecimal() or int(declared) > limit else None

    async def hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Collect, then replay."""
        if scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        folder = str(self.folder) if self.folder else None
        arrival = Arrival(visitor_of(scope).address, self.pause, self.base)
        with self.arrivals.holding(arrival), tempfile.SpooledTemporaryFile(IN_MEMORY, dir=folder) as body:
            try:
                async with self.arrivals.keeping_pace(arrival):
                    async for piece in self._pieces(scope, receive):
                        self.arrivals.add(arrival, len(piece))
                        body.write(piece)
                body.seek(0)
            except TooMuch as refused:
                await refused.answer(scope, receive, send)
                return
            except NoRoom:
                await busy()(scope, receive, send)
                return
            except TimeoutError:
                await _too_slow()(scope, receive, send)
                return
            except Gone:
                return
            except OSError as error:
                if error.errno not in FULL:
                    raise
                await _closing(507, sentence(error))(scope, receive, send)
                return
            await self.app(scope, _replay(body, arrival.bytes, receive), self._plainer(scope, receive, send))

    async def _pieces(self, scope: Scope, receive: Receive) -> AsyncIterator[bytes]:
        """The body piece by piece, as long as it keeps within its limits."""
        limit, inspect = self.limit(scope, route_path(scope)), _inspector(scope)
        arrived, more = 0, True
        while more:
            event = await receive()
            if event["type"] == "http.disconnect":
                raise Gone
            piece, more = event.get("body", b""), event.get("more_body", False)
            arrived += len(piece)
            if arrived > limit:
                raise TooMuch(_too_big(limit))
            inspect.add(piece)
            yield piece

    def _plainer(self, scope: Scope, receive: Receive, send: Send) -> Send:
        """Our sentence where Gradio counts the bytes of the file alone."""
        answered = False

        async def said(event: Event) -> None:
            nonlocal answered
            if event["type"] == "http.response.start" and event["status"] == 413:
                answered = True
                await _too_big(self.max_file)(scope, receive, send)
            elif not answered:
                await send(event)

        return said


class JsonStructure:
    """Counts what becomes an object of its own: a few bytes of text can be a hundred in memory."""

    def __init__(self) -> None:
        self.found = 0

    def add(self, piece: bytes) -> None:
        """One more piece of the text."""
        self.found += sum(piece.count(mark) for mark in STRUCTURE)
        if self.found > MAX_STRUCTURE:
            text = "The request has more than {limit} parts, the most this server takes; send less."
            raise TooMuch(_closing(413, Message("request.structure", text, limit=MAX_STRUCTURE)))


class FormParts:
    """Counts the parts of a form: each is a file of its own while it is read."""

    def __init__(self, boundary: bytes) -> None:
        self.mark, self.tail, self.found = b"--" + boundary, b"", 0

    def add(self, piece: bytes) -> None:
        """One more piece of the form."""
        text = self.tail + piece
        self.found += text.count(self.mark)
        self.tail = text[len(text) - len(self.mark) + 1 :] if len(text) >= len(self.mark) else text
        if self.found > MAX_PARTS + 1:  # the last mark ends the form
            words = "The form has more than {limit} parts, the most this server takes; send less."
            raise TooMuch(_closing(413, Message("request.parts", words, limit=MAX_PARTS)))


def _with_one_boundary(scope: Scope) -> Scope:
    """A request whose form can be read in one way only.

    Boundaries that are named twice, kinds in capitals and sets of characters would mean one thing to who counts and
    another to who reads.
    """
    kind, options = parse_options_header(HTTPConnection(scope).headers.get("content-type"))
    if not kind.startswith(b"multipart/"):
        return scope
    boundary = options.get(b"boundary", b"")
    plain = b'multipart/form-data; boundary="%b"' % boundary if BOUNDARY.fullmatch(boundary) else b"multipart/none"
    others = [(name, value) for name, value in scope["headers"] if name.lower() != b"content-type"]
    return {**scope, "headers": [*others, (b"content-type", plain)]}


def _inspector(scope: Scope) -> JsonStructure | FormParts:
    kind, options = parse_options_header(HTTPConnection(scope).headers.get("content-type"))
    if not kind.startswith(b"multipart/"):
        return JsonStructure()
    if b"boundary" not in options:
        text = "The request was not understood; reload the page."
        raise TooMuch(_closing(400, Message("request.malformed", text)))
    return FormParts(options[b"boundary"])


def _replay(body: IO[bytes], length: int, receive: Receive) -> Receive:
    """What a collected body looks like to the application; afterwards it hears when the visitor leaves."""
    left, finished = length, False

    async def next_piece() -> Event:
        nonlocal left, finished
        if finished:
            return await receive()
        piece = body.read(PIECE)
        left -= len(piece)
        finished = left <= 0 or not piece
        return {"type": "http.request", "body": piece, "more_body": not finished}

    return next_piece


def _closing(status: int, message: Message) -> JSONResponse:
    """A refusal after which nothing more is read."""
    return refusal(status, message, {"Connection": "close"})


def _too_big(limit: int) -> JSONResponse:
    text = "The request is larger than {limit} MB, the most this server takes; send less."
    return _closing(413, Message("request.too_big", text, limit=limit // MEGABYTE))


def _too_slow() -> JSONResponse:
    return _closing(408, Message("request.slow", "The request took too long to arrive; send it again."))
