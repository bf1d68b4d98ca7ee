"""The little of RFC 6455 that talking to a browser takes: text frames over one local socket."""

import base64
import os
import socket
import struct
from typing import Self
from urllib.parse import urlsplit

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
FINAL, MASKED = 0x80, 0x80


class WebSocket:
    """A client's end.

    Args:
        url: `ws://host:port/path`.
        timeout: seconds that one message may take.
    """

    def __init__(self, url: str, timeout: float = 60.0) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout)
        self._buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {parts.path or '/'} HTTP/1.1", f"Host: {parts.netloc}", "Upgrade: websocket", "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", "",
        ]  # fmt: skip
        self._socket.sendall("\r\n".join(lines).encode())
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self._read()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        if b" 101 " not in head.partition(b"\r\n")[0]:
            raise ConnectionError(f"The browser refused to talk: {head[:80]!r}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, text: str) -> None:
        """One message."""
        self._frame(TEXT, text.encode())

    def receive(self) -> str:
        """The next message, whole."""
        message = b""
        while True:
            first, length = self._take(2)
            size = length & 0x7F
            if size >= 126:
                size = int.from_bytes(self._take(2 if size == 126 else 8))
            content = self._take(size)
            kind = first & 0x0F
            if kind == CLOSE:
                raise ConnectionError("The browser closed the line.")
            if kind == PING:
                self._frame(PONG, content)
            elif kind != PONG:
                message += content
                if first & FINAL:
                    return message.decode()

    def _frame(self, kind: int, content: bytes) -> None:
        """Clients mask what they send; the mask need not be secret on this machine."""
        mask = os.urandom(4)
        size = len(content)
        if size < 126:
            head = struct.pack("!BB", FINAL | kind, MASKED | size)
        elif size < 2**16:
            head = struct.pack("!BBH", FINAL | kind, MASKED | 126, size)
        else:
            head = struct.pack("!BBQ", FINAL | kind, MASKED | 127, size)
        repeated = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(content) ^ int.from_bytes(repeated)).to_bytes(size)
        self._socket.sendall(head + mask + masked)

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._buffer += self._read()
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def _read(self) -> bytes:
        chunk = self._socket.recv(2**16)
        if not chunk:
            raise ConnectionError("The browser is gone.")
        return chunk
