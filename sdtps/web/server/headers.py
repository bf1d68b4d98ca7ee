"""Security headers: what a browser may load, run and embed.

Gradio's page starts from inline scripts and compiles its components' code, so a policy that works must allow both. The
inline scripts of each page are allowed by their hash: scripts or event handlers that get in later do not run.
"""

import base64
import functools
import hashlib
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sdtps.web.server.gate.http_layer import HttpLayer

SCRIPT = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-eval'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob:",
    "worker-src": "'self' blob:",
    "media-src": "'none'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
}
PLAIN = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # links hold settings and record names
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
HTML = "text/html"


@functools.lru_cache(maxsize=4)
def script_hashes(page: bytes) -> tuple[str, ...]:
    """What a policy says about the inline scripts of a page."""
    digests = (hashlib.sha256(text).digest() for text in SCRIPT.findall(page))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


class SecurityHeaders(HttpLayer):
    """Adds the headers to every answer.

    Args:
        app: the next application.
        embed_in: origins whose pages may show this one in a frame; none by default.
    """

    def __init__(self, app: ASGIApp, embed_in: tuple[str, ...] = ()) -> None:
        super().__init__(app)
        self.ancestors = " ".join(("'self'", *embed_in))
        self.plain = PLAIN if embed_in else PLAIN | {"X-Frame-Options": "SAMEORIGIN"}  # it cannot name an origin

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and add to the answer."""
        start: Message | None = None
        page = bytearray()

        async def add(event: Message) -> None:
            nonlocal start
            if event["type"] == "http.response.start":
                if Headers(raw=event["headers"]).get("content-type", "").startswith(HTML):
                    start = event  # held back until the scripts of the page are known
                    return
                self._seal(event, b"")
            elif start is not None:
                page.extend(event.get("body", b""))
                if event.get("more_body"):
                    return
                self._seal(start, bytes(page))
                await send(start)
                event = {"type": "http.response.body", "body": bytes(page)}
            await send(event)

        await self.app(scope, receive, add)

    def _seal(self, start: Message, page: bytes) -> None:
        headers = MutableHeaders(raw=start["headers"])
        for name, value in self.plain.items():
            headers[name] = value
        headers["Content-Security-Policy"] = self.policy(page)
        start["headers"] = headers.raw

    def policy(self, page: bytes) -> str:
        """The policy of a page, with the hashes of its scripts."""
        allowed = " ".join((POLICY["script-src"], *script_hashes(page)))
        rules = POLICY | {"script-src": allowed, "frame-ancestors": self.ancestors}
        return "; ".join(f"{name} {value}" for name, value in rules.items())
