"""The one place where every failure becomes a sentence: for the page, for programs and for forms.

Whatever an answer of 400 or more says, and whatever a route raises, leaves as JSON with a sentence; what the framework
would have told (paths, names of functions, nothing at all) stays here.
"""

import json
import logging
from typing import Any

from gradio import queueing, routes, utils
from gradio.exceptions import Error as PageError
from gradio.server_messages import UnexpectedErrorMessage
from starlette.responses import JSONResponse
from starlette.types import Message as Event
from starlette.types import Receive, Scope, Send

from sdtps.support.errors import FULL, OUT_OF_MEMORY, LensError, full_sentence, sentence
from sdtps.support.messages import Message
from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.server.gate.refusals import refusal
from sdtps.web.server.gate.routes import LOGIN, QUEUED, route_path

LONGEST = 64 * 1024  # of an answer that says what went wrong
log = logging.getLogger(__name__)


def misunderstood() -> Message:
    """The sentence for a request whose fields are not what the function takes."""
    return Message("request.fields", "The request was not understood; check the names and the kinds of its fields.")


def of_exception(error: BaseException, path: str) -> JSONResponse:
    """The answer for what a route raised. Our own functions raise nothing, so the request itself must be wrong."""
    if isinstance(error, OSError) and error.errno in FULL:
        return refusal(507, sentence(error))
    if isinstance(error, LensError) or type(error).__name__ in OUT_OF_MEMORY:
        return refusal(500, full_sentence(error))
    if isinstance(error, LookupError | TypeError | ValueError | AttributeError | RecursionError | PageError):
        return of_status(400, path)
    return refusal(500, sentence(error))


def of_status(status: int, path: str) -> JSONResponse:
    """The answer for a status that the framework gave."""
    messages = {
        401: Message("server.signed_out", "You are signed out; reload the page and sign in."),
        403: Message("request.forbidden", "This server does not give that out."),
        404: Message("request.closed", "There is nothing at this address."),
        429: Message(
            "server.rate", "Too many requests from this address; wait {seconds} seconds and try again.", seconds=60
        ),
        503: Message("server.busy", "The server is busy; try again in a moment."),
    }
    if path == LOGIN and status == 400:
        return refusal(400, Message("server.credentials", "The name or the password is wrong; try again."))
    if status in messages:
        return refusal(status, messages[status])
    if status < 500:
        text = "The request was not understood; reload the page."
        return refusal(status, misunderstood() if path.startswith(QUEUED) else Message("request.malformed", text))
    return refusal(status, Message("server.failed", "The server could not finish this; try again."))


class Failures(HttpLayer):
    """Holds answers of failures back until it is known what happened, and gives them their words."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on; translate what fails."""
        answer = _Held(send)
        path = route_path(scope)
        try:
            await self.app(scope, receive, answer)
        except Exception as error:
            log.exception("A request failed.")
            if answer.sent:  # a stream says its error itself; what is left is to end it in order
                await send({"type": "http.response.body", "body": b""})
            else:
                await of_exception(error, path)(scope, receive, send)
            return
        if answer.start is not None:
            if answer.is_ours():
                await send(answer.start)
                await send({"type": "http.response.body", "body": bytes(answer.body)})
            else:
                await of_status(answer.start["status"], path)(scope, receive, send)


class _Held:
    """Passes answers on, except those of failures."""

    def __init__(self, send: Send) -> None:
        self.send, self.sent = send, False
        self.start: Event | None = None
        self.body = bytearray()

    async def __call__(self, event: Event) -> None:
        if event["type"] == "http.response.start" and event["status"] >= 400:
            self.start = event
            self.body.clear()
        elif self.start is None:
            self.sent = True
            await self.send(event)
        elif len(self.body) < LONGEST:
            self.body += event.get("body", b"")

    def is_ours(self) -> bool:
        """Whether it has its sentence already."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return False
        return isinstance(found, dict) and isinstance(found.get("error"), dict) and bool(found["error"].get("text"))


class LostWork(UnexpectedErrorMessage):
    """What a stream says that cannot go on: our sentence, whatever the framework would have said."""

    def model_post_init(self, _context: object) -> None:
        """Put the sentence in."""
        text = "The server no longer knows this work; start it again."
        self.message = str(Message("job.unknown", text))


def give_words() -> None:
    """Failures inside the queue get their sentence, too: Gradio would send an error without words."""
    silent = utils.error_payload

    def spoken(error: BaseException | None, show_error: bool) -> dict[str, Any]:
        _let_go(error)
        if isinstance(error, PageError) or error is None:
            return silent(error, show_error)
        wrong = isinstance(error, LookupError | TypeError | ValueError | AttributeError)
        return {"error": str(misunderstood() if wrong and not isinstance(error, LensError) else full_sentence(error))}

    queueing.error_payload = spoken
    routes.UnexpectedErrorMessage = LostWork  # type: ignore[misc]


def _let_go(error: BaseException | None) -> None:
    """The queue keeps an error beside all that was sent; without its way there, both go as soon as it is told."""
    while error is not None:
        error.__traceback__ = None
        error = error.__context__
