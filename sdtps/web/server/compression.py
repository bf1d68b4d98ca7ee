"""The page and its files travel compressed; what a slider moves does not, because it would wait for it."""

import functools
import gzip

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sdtps.support.byte_lru import ByteLru
from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.server.gate.routes import STATIC, route_path

DOCUMENT = "/"
TEXTS = ("text/html", "text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml")
LEVEL = 6
MINIMUM = 1024  # bytes: less does not shrink
KEPT_BYTES = 16 * 1024 * 1024


class Compression(HttpLayer):
    """Compresses the document and static files for clients that can read it; files are compressed once."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._kept: ByteLru[bytes] = ByteLru(KEPT_BYTES, len)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and compress the answer where that pays."""
        path = route_path(scope)
        if scope["method"] != "GET" or not (path == DOCUMENT or path.startswith(STATIC)):
            await self.app(scope, receive, send)
            return
        readable = "gzip" in Headers(scope=scope).get("accept-encoding", "")
        start: Message = {}
        body = bytearray()

        async def pack(event: Message) -> None:
            nonlocal start
            if event["type"] == "http.response.start":
                headers = MutableHeaders(raw=event["headers"])
                headers.add_vary_header("Accept-Encoding")
                event["headers"] = headers.raw
                if not (readable and _pays(event["status"], headers)):
                    await send(event)
                    return
                start = event  # its length is not known before the last byte
            elif not start:
                await send(event)
            else:
                body.extend(event.get("body", b""))
                if not event.get("more_body"):
                    await self._send(path, start, bytes(body), send)

        await self.app(scope, receive, pack)

    async def _send(self, path: str, start: Message, body: bytes, send: Send) -> None:
        headers = MutableHeaders(raw=start["headers"])
        if len(body) >= MINIMUM:
            tag = headers.get("etag")
            packed = self._kept.get((path, tag)) if tag else None
            if packed is None:
                packed = gzip.compress(body, LEVEL, mtime=0) if tag else _packed_page(body)
                if tag:
                    self._kept.put((path, tag), packed)
            if tag and not tag.startswith("W/"):
                headers["etag"] = f"W/{tag}"  # the same file in other bytes
            headers["content-encoding"] = "gzip"
            body = packed
        headers["content-length"] = str(len(body))
        await send({**start, "headers": headers.raw})
        await send({"type": "http.response.body", "body": body})


@functools.lru_cache(maxsize=4)
def _packed_page(page: bytes) -> bytes:
    """The document has no tag, but is the same for most readers."""
    return gzip.compress(page, LEVEL, mtime=0)


def _pays(status: int, headers: Headers) -> bool:
    kind = headers.get("content-type", "").partition(";")[0]
    return status == 200 and kind in TEXTS and "content-encoding" not in headers
