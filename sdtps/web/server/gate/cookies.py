"""Cookies as strict as they can be: for this site only, over TLS where there is TLS, and for a limited time."""

import re
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.server.gate.routes import LOGOUT, route_path

HOURS = 12
# Gradio sets it twice, for servers with and without TLS, and on leaving looks at the first alone.
SIGNED_IN, PLAIN_COPY = b"access-token-", b"access-token-unsecure-"
OWN = re.compile(SIGNED_IN + rb"[\w-]{1,128}=[\w-]{1,128}")
FORGOTTEN = b"max-age=0;"  # of a cookie that is taken back


class Cookies(HttpLayer):
    """Rewrites the cookies of every answer, and lets in none but those.

    Args:
        app: the next application.
        embedded: whether pages of other sites may show this one in a frame, where cookies must cross sites.
    """

    def __init__(self, app: ASGIApp, embedded: bool = False) -> None:
        super().__init__(app)
        self.embedded = embedded

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and rewrite."""
        # A page that was read over TLS says so in its origin, also where the proxy that ends TLS was not named.
        safe = scope.get("scheme") == "https" or Headers(scope=scope).get("origin", "").startswith("https://")
        leaving = route_path(scope) == LOGOUT
        scope = {**scope, "headers": [(n, _own(v, leaving) if n == b"cookie" else v) for n, v in scope["headers"]]}

        async def rewrite(event: Message) -> None:
            if event["type"] == "http.response.start":
                event["headers"] = [
                    (name, value if name.lower() != b"set-cookie" else self._strict(value, safe))
                    for name, value in event["headers"]
                    if not value.startswith(SIGNED_IN) or _needed(value, safe)
                ]
            await send(event)

        await self.app(scope, receive, rewrite)

    def _strict(self, value: bytes, safe: bool) -> bytes:
        try:
            cookie: SimpleCookie = SimpleCookie(value.decode("latin-1"))
        except CookieError:
            return value
        for part in cookie.values():
            part["httponly"] = True
            part["path"] = part["path"] or "/"
            part["samesite"] = "None" if self.embedded and safe else "Lax"
            part["secure"] = safe
            if not part["max-age"] and not part["expires"]:
                part["max-age"] = HOURS * 3600
        return cookie.output(header="", sep="").strip().encode("latin-1")


def _own(value: bytes, leaving: bool) -> bytes:
    """What this server has set: 30 kB of quotes and backslashes from elsewhere take seconds to read."""
    cookies = b"; ".join(c for part in value.split(b";") if OWN.fullmatch(c := part.strip()))
    # Only on leaving: elsewhere a route would tell the token to scripts.
    return cookies.replace(PLAIN_COPY, SIGNED_IN) if leaving else cookies


def _needed(value: bytes, safe: bool) -> bool:
    """Of the two copies one is enough; both are taken back."""
    return value.startswith(PLAIN_COPY) != safe or FORGOTTEN in value.lower() + b";"
