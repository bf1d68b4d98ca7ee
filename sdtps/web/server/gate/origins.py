"""Who may talk to this server from a browser: its own pages, under names that are known to be its own.

A page of another site can make a browser send requests here, and a name that an attacker owns can be pointed at this
machine. Both show in headers that scripts cannot set: `Host`, `Origin` and `Sec-Fetch-Site`.
"""

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.types import Message as Event

from sdtps.support.messages import Message
from sdtps.web.server.gate.refusals import Guard, refusal

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
READING = ("GET", "HEAD")
OWN = ("same-origin", "none", "")  # `none`: typed in, or a bookmark
SIMPLE = ("application/json", "multipart/form-data", "application/x-www-form-urlencoded")
DEFAULT_PORTS = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that is bound to this host."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() in LOOPBACK


def is_address(host: str) -> bool:
    """Whether a host is a number: nobody can point a number at another machine."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def own_names(host: str) -> frozenset[str]:
    """The names that a server bound to this host has without being told."""
    if is_loopback(host):
        return LOOPBACK | {host.strip("[]").lower()}
    machine = {socket.gethostname().lower(), socket.getfqdn().lower()}
    return LOOPBACK | machine | ({host.lower()} if not is_address(host.strip("[]")) else set())


class Origins(Guard):
    """Refuses foreign names and pages, and takes back what the framework would tell them.

    Args:
        app: the next application.
        host: that the server is bound to.
        names: further host names, as a proxy or a name server knows it; `.example.org` stands for all below it.
    """

    def __init__(self, app: ASGIApp, host: str = "127.0.0.1", names: Collection[str] = ()) -> None:
        super().__init__(app)
        self.named = frozenset(n.lower() for n in names)
        self.names = own_names(host) | self.named
        self.numbers = not is_loopback(host)

    def check(self, scope: Scope, _path: str) -> JSONResponse | None:
        """By name, then by origin, then by what the browser says of the page that asks."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self.is_own(_name_of(host)):
            text = "This server is not known by the name in the address; its owner can add it with --host-name."
            return refusal(421, Message("request.host", text), {"Connection": "close"})
        origin = headers.get("origin")
        if origin is not None and not self._same(origin, host):
            return _foreign()
        visiting = scope["method"] in READING and headers.get("sec-fetch-mode") == "navigate"
        # A browser that sends no origin may still say that another site asks: pictures and scripts of its pages do.
        if origin is None and headers.get("sec-fetch-site", "") not in OWN and not visiting:
            return _foreign()
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if scope["method"] == "POST" and kind and kind not in SIMPLE:
            text = "The request must be JSON or a form; set its content type."
            return refusal(415, Message("request.kind", text))
        return None

    def is_own(self, name: str) -> bool:
        """Whether a host name is one of ours."""
        if name in self.names or (self.numbers and is_address(name)):
            return True
        return any(known.startswith(".") and name.endswith(known) for known in self.named)

    async def hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Without the permissions that the framework gives to other origins."""

        async def closed(event: Event) -> None:
            if event["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(event["headers"]))
                for name in [n for n in headers.keys() if n.startswith("access-control-")]:  # noqa: SIM118 - a multidict
                    del headers[name]
                event["headers"] = headers.raw
            await send(event)

        await self.app(scope, receive, closed)

    def _same(self, origin: str, host: str) -> bool:
        """Whether a page of this origin is our own: the address it was read from, or a name that the owner gave."""
        try:
            found = urlsplit(origin)
            port, own = found.port, urlsplit(f"{found.scheme}://{host}")
            default = DEFAULT_PORTS.get(found.scheme)
            same = (found.hostname, port or default) == (own.hostname, own.port or default)
        except ValueError:
            return False
        name = found.hostname or ""
        given = name in self.named or any(n.startswith(".") and name.endswith(n) for n in self.named)
        return found.scheme in DEFAULT_PORTS and (same or given)


def _name_of(host: str) -> str:
    """The name in a `Host` header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _foreign() -> JSONResponse:
    text = "A page of another site cannot use this server; if it is the server's own name, add it with --host-name."
    return refusal(403, Message("request.foreign", text))
