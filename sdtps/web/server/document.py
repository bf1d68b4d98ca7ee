"""What others see of the page before they open it: title, description and picture of our own in place of Gradio's."""

import functools
import html
import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import FileResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from sdtps.web import static
from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.server.gate.routes import PICTURE, route_path

TITLE = "SDTPS Lens"
DESCRIPTION = (
    "See which patches of an RGB, near-infrared and thermal image set SDTPS keeps, which it drops, and why: "
    "a microscope for patch selection in multi-modal person re-identification."
)
FOREIGN = re.compile(rb'\s*(?:<meta\s+(?:property|name)="(?:og|twitter):[^"]*"[^>]*>|<title>[^<]*</title>)')
HEAD = re.compile(rb"<meta charset=[^>]*>")


@functools.lru_cache(maxsize=4)
def described(page: bytes, address: str) -> bytes:
    """The document with our own description.

    Args:
        page: HTML.
        address: of the page as its reader sees it, ending with a slash.
    """
    facts = {
        "og:type": "website",
        "og:site_name": TITLE,
        "og:title": TITLE,
        "og:description": DESCRIPTION,
        "og:image": f"{address}{PICTURE.lstrip('/')}",
    }
    own = [f"<title>{TITLE}</title>"]
    own += [f'<meta name="description" content="{html.escape(DESCRIPTION)}">']
    own += [f'<meta property="{name}" content="{html.escape(value)}">' for name, value in facts.items()]
    own.append('<meta name="twitter:card" content="summary_large_image">')
    return HEAD.sub(lambda found: found[0] + "".join(own).encode(), FOREIGN.sub(b"", page), count=1)


def picture_route() -> Route:
    """The picture of the page."""
    return Route(PICTURE, lambda _: FileResponse(static.STATIC / "preview.jpg", media_type="image/jpeg"))


class Document(HttpLayer):
    """Rewrites the head of the document at the root."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and rewrite the answer."""
        if scope["method"] != "GET" or route_path(scope) != "/":
            await self.app(scope, receive, send)
            return
        start: Message = {}
        page = bytearray()

        async def rewrite(event: Message) -> None:
            nonlocal start
            if event["type"] == "http.response.start":
                start = event
                return
            page.extend(event.get("body", b""))
            if event.get("more_body"):
                return
            body, headers = bytes(page), MutableHeaders(raw=start["headers"])
            if Headers(raw=start["headers"]).get("content-type", "").startswith("text/html"):
                body = described(body, str(HTTPConnection(scope).base_url))
                headers["content-length"] = str(len(body))
            await send({**start, "headers": headers.raw})
            await send({"type": "http.response.body", "body": body})

        await self.app(scope, receive, rewrite)
