"""The page before the page: answers within a moment of the start, while packages are imported and weights are loaded.

Every answer is 503 with `Retry-After`, so that proxies and health checks wait; a browser sees what is being done and
goes to the page as soon as it is there. Imports nothing heavy.
"""

import contextlib
import json
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from sdtps.web.server.address import family_of
from sdtps.web.static import STATIC

RETRY_SECONDS = 2
SECONDS = 10  # for a question and for its answer
MOST = 64  # connections at once: what is being imported needs descriptors, too


class Waiting:
    """A small server that says what is being done, until the real one takes over the port.

    Args:
        host: name or address to listen at.
        port: its port.
    """

    def __init__(self, host: str, port: int) -> None:
        self.doing = "packages"
        page = (STATIC / "waiting.html").read_bytes()
        waiting = self

        class Answer(BaseHTTPRequestHandler):
            timeout = SECONDS  # or who says nothing now holds a place for as long as the page is served

            def do_GET(self) -> None:
                """What is being done, for programs and for people."""
                is_health = self.path.split("?")[0].rstrip("/").endswith("/health")
                body = json.dumps({"status": "starting", "doing": waiting.doing}).encode() if is_health else page
                self.send_response(503)
                self.send_header("Content-Type", "application/json" if is_health else "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Retry-After", str(RETRY_SECONDS))
                self.send_header("Cache-Control", "no-store")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_POST = do_GET

            def log_message(self, *_: object) -> None:
                """Nothing happened yet that is worth a line."""

        self._server: _Server | None = _Server(host, port, Answer)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        """Let go of the port."""
        if (server := self._server) is not None:
            self._server = None
            server.shutdown()
            server.server_close()
            late = threading.Timer(SECONDS, server.cut, (0,))  # who is being answered may read to the end
            late.daemon = True
            late.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    """Has few places: where there is none, the oldest connection goes."""

    daemon_threads = True

    def __init__(self, host: str, port: int, answer: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = family_of(host, port)
        self.names = host, port
        self._open: dict[Any, None] = {}  # the oldest first
        self._lock = threading.Lock()
        super().__init__((host.strip("[]"), port), answer)

    def server_bind(self) -> None:
        """Without asking who this machine is, which takes seconds where no name server answers."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.names

    def process_request(self, request: Any, client_address: Any) -> None:
        """Take a connection in."""
        with self._lock:
            self._open[request] = None
        self.cut(MOST)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """It is gone."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def cut(self, left: int) -> None:
        """End the oldest connections until so many are left."""
        with self._lock:
            while len(self._open) > left:
                oldest = next(iter(self._open))
                del self._open[oldest]
                with contextlib.suppress(OSError):  # gone by itself
                    oldest.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        """Somebody hung up: no traceback for that."""
