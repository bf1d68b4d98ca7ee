"""Attacks by connections: half-sent requests, listeners, slow readers, uploads that break off."""

import contextlib
import socket
import time

from sdtps.web.server.gate.connections import READER_SECONDS, descriptors
from tests.attack.target import FUNCTIONS, Target
from tests.visitor import API

FORM = "multipart/form-data; boundary=edge"


def _head(target: Target, path: str, length: int, kind: str = "application/json") -> bytes:
    host, port = target.place
    lines = (f"POST {path} HTTP/1.1", f"Host: {host}:{port}", f"Content-Type: {kind}", f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def half_sent(target: Target) -> str | None:
    """A hundred requests of which half arrives."""
    with target.connections(100, _head(target, FUNCTIONS, 100) + b'{"data":'):
        return target.still_serves()


def crumbs(target: Target) -> str | None:
    """Bodies of ten senders in pieces of one byte."""
    before = target.processor_seconds()
    head = _head(target, FUNCTIONS, 0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    with target.connections(10, head + b"1\r\nx\r\n" * 60_000):
        if wrong := target.still_serves():
            return wrong
    took = target.processor_seconds() - before
    return f"took {took:.1f} seconds of the processor" if took > 1 else None


def half_headers(target: Target) -> str | None:
    """Two hundred connections that never finish their headers; they are closed after a while."""
    host, port = target.place
    with target.connections(200, f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\nX-Slow: ".encode()) as opened:
        if wrong := target.still_serves():
            return wrong
        opened[-1].settimeout(30)
        try:
            if opened[-1].recv(1):
                return "something was answered"
        except TimeoutError:
            return "they are open after 30 seconds"
        except ConnectionError:
            return None
    return None


def listeners(target: Target, count: int = 1100) -> str | None:
    """Eleven hundred listeners that hear nothing, of one address and of eleven, where there are 1,024 descriptors."""
    if descriptors() < count + 100:
        return "this machine does not let the attacker open that many connections"
    host, port = target.place
    heads = f"GET {API}/heartbeat/x HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
    for sources in (("",), tuple(f"127.0.0.{i}" for i in range(2, 13))):
        with target.connections(count, heads, sources) as opened:
            deadline = time.monotonic() + 10  # for all of them
            let_in = sum(_status(connection, deadline) == 200 for connection in opened)
            if wrong := target.still_serves():
                return f"{let_in} listeners were let in: {wrong}"
            if let_in > count // 2:
                return f"{let_in} listeners were let in"
    return None


def slow_readers(target: Target) -> str | None:
    """Fifty readers who ask for megabytes and read nothing; they are given up after a while."""
    host, port = target.place
    asked = f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode() * 40
    before = target.open_files()
    with target.connections(50, asked):
        deadline = time.monotonic() + READER_SECONDS * 3
        if wrong := target.still_serves():
            return wrong
        while (held := target.open_files() - before) > 25:
            if time.monotonic() > deadline:
                return f"{held} connections are held for them"
            time.sleep(0.2)
    return None


def _status(connection: socket.socket, deadline: float) -> int:
    connection.settimeout(max(0.01, deadline - time.monotonic()))
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(connection.recv(64).split()[1])
    return 0


def broken_uploads(target: Target) -> str | None:
    """Forty uploads of which a megabyte arrives, and then the line is cut."""
    before = target.left_behind()
    part = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="x.png"\r\n\r\n'
    for path in (FUNCTIONS, f"{API}/upload"):
        with target.connections(20, _head(target, path, 2**21, FORM) + part + b"x" * 2**20):
            if wrong := target.still_serves():  # and so it has read what was sent
                return wrong
    if wrong := target.still_serves():
        return wrong
    deadline = time.monotonic() + 10
    while left := target.left_behind() - before:
        if time.monotonic() > deadline:
            return f"{len(left)} files are left"
        time.sleep(0.1)
    return None
