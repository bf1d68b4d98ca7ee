"""Who a visitor is: the address of the connection (a network of 64 bits for IPv6) and the session in what it sends."""

import ipaddress
import re
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from sdtps.web.server.gate.http_layer import HttpLayer
from sdtps.web.session.visitor import Visitor, answering

PEEK = 4096  # bytes kept of both ends of a body, to find the session in
SESSION = re.compile(rb'session_hash(?:"\s*:\s*"|"\r\n\r\n)([\w-]{1,64})')
SESSION_IN_ADDRESS = re.compile(r"(?:heartbeat/|session_hash=)([\w-]{1,64})")
IN_SCOPE = "sdtps.visitor"
NETWORK_BITS = 64  # what one subscriber gets of IPv6


def address_of(client: Any) -> str:
    """The address of a connection as a key: addresses of one IPv6 network are one visitor."""
    text = str(client[0]) if client else "unknown"
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text[:64]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(address), NETWORK_BITS), strict=False))
    return str(address)


def visitor_of(scope: Any) -> Visitor:
    """The visitor of a request that passed the gate."""
    found = scope.get(IN_SCOPE) if isinstance(scope, dict) else None
    return found if isinstance(found, Visitor) else Visitor()


class Identity(HttpLayer):
    """Says who asks, for everything further in."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on, and look for the session in passing."""
        query = scope.get("query_string", b"").decode("latin-1")
        found = SESSION_IN_ADDRESS.search(f"{scope['path']}?{query}")
        who = Visitor(address_of(scope.get("client")), found[1] if found else "")
        scope[IN_SCOPE] = who
        ends = _Ends()

        async def heard() -> Message:
            event = await receive()
            if body := event.get("body", b""):
                ends.add(body)
                who.session = ends.session() or who.session
            return event

        with answering(who):
            await self.app(scope, heard, send)


class _Ends:
    """Both ends of a body that streams by: the page's JSON names the session early or late, its forms late."""

    def __init__(self) -> None:
        self.head, self.tail = b"", b""

    def add(self, body: bytes) -> None:
        self.head = (self.head + body[:PEEK])[:PEEK] if len(self.head) < PEEK else self.head
        self.tail = (self.tail + body[-PEEK:])[-PEEK:]

    def session(self) -> str | None:
        found = SESSION.findall(self.head) or SESSION.findall(self.tail)
        return found[-1].decode() if found else None
