"""Where this machine keeps temporary files is nobody's business: visitors see and send another name for the folder."""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sdtps.web.server.gate.http_layer import HttpLayer

ALIAS = "/lens-files"
TEXT = ("application/json", "text/event-stream")


class Aliases(HttpLayer):
    """Puts the alias into answers, and the folder into addresses and questions.

    Args:
        app: the next application.
        folder: of temporary files; None leaves everything as it is.
    """

    def __init__(self, app: ASGIApp, folder: Path | None = None) -> None:
        super().__init__(app)
        self.folder = None if folder is None else str(folder)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and translate on both ways."""
        if self.folder is None:
            await self.app(scope, receive, send)
            return
        inside, outside = f"{self.folder}/".encode(), f"{ALIAS}/".encode()
        if f"file={ALIAS}/" in scope["path"]:
            path = scope["path"].replace(f"file={ALIAS}/", f"file={self.folder}/", 1)
            scope = {**scope, "path": path, "raw_path": path.encode("utf-8", errors="replace")}
        if Headers(scope=scope).get("content-type", "").startswith(TEXT):
            for before in (b'"', b"file="):  # a path, or the address of a file
                receive = _translated(receive, before + outside, before + inside)
        held: Message | None = None
        streaming = False

        async def say(event: Message) -> None:
            nonlocal held, streaming
            if event["type"] == "http.response.start":
                kind = Headers(raw=event["headers"]).get("content-type", "")
                streaming = kind.startswith(TEXT[1])
                if kind.startswith(TEXT[0]):
                    held = {**event, "body": b""}
                    return
            elif held is not None:
                held["body"] += event.get("body", b"")
                if event.get("more_body"):
                    return
                body = held.pop("body").replace(inside, outside)
                headers = MutableHeaders(raw=list(held["headers"]))
                headers["content-length"] = str(len(body))
                await send({**held, "headers": headers.raw})
                held = None
                event = {"type": "http.response.body", "body": body}
            elif streaming:  # a message of a stream is one piece
                event = {**event, "body": event.get("body", b"").replace(inside, outside)}
            await send(event)

        await self.app(scope, receive, say)


def _translated(receive: Receive, old: bytes, new: bytes) -> Receive:
    """A body with some bytes in place of others, wherever it is cut into pieces."""
    kept = b""

    async def next_piece() -> Message:
        nonlocal kept
        event = await receive()
        if event["type"] != "http.request":
            return event
        body = (kept + event.get("body", b"")).replace(old, new)
        kept = b""
        if event.get("more_body"):
            cut = max(0, len(body) - len(old) + 1)
            body, kept = body[:cut], body[cut:]
        return {**event, "body": body}

    return next_piece
