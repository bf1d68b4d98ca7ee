"""Cookies as strict as they can be: for this site only, over TLS where there is TLS, and for a limited time."""

from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HOURS = 12
SIGNED_IN, PLAIN_COPY = b"access-token-", b"-unsecure-"  # Gradio sets it twice, for servers with and without TLS


class Cookies:
    """Rewrites the cookies of every answer.

    Args:
        app: the next application.
        embedded: whether pages of other sites may show this one in a frame, where cookies must cross sites.
    """

    def __init__(self, app: ASGIApp, embedded: bool = False) -> None:
        self.app = app
        self.embedded = embedded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and rewrite."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # A page that was read over TLS says so in its origin, also where the proxy that ends TLS was not named.
        safe = scope.get("scheme") == "https" or Headers(scope=scope).get("origin", "").startswith("https://")

        async def rewrite(event: Message) -> None:
            if event["type"] == "http.response.start":
                event["headers"] = [
                    (name, value if name.lower() != b"set-cookie" else self._strict(value, safe))
                    for name, value in event["headers"]
                    if not value.startswith(SIGNED_IN) or (PLAIN_COPY in value) != safe
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
