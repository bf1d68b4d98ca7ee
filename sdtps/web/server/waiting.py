"""The page before the page: answers within a moment of the start, while packages are imported and weights are loaded.

Every answer is 503 with `Retry-After`, so that proxies and health checks wait; a browser sees what is being done and
goes to the page as soon as it is there. Imports nothing heavy.
"""

import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from sdtps.web.server.address import family_of
from sdtps.web.static import STATIC

RETRY_SECONDS = 2
SECONDS = 10  # for a question and for its answer


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

        class Server(ThreadingHTTPServer):
            address_family = family_of(host, port)
            daemon_threads = True

            def server_bind(self) -> None:
                """Without asking who this machine is, which takes seconds where no name server answers."""
                socketserver.TCPServer.server_bind(self)
                self.server_name, self.server_port = host, port

        self._server: ThreadingHTTPServer | None = Server((host.strip("[]"), port), Answer)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        """Let go of the port."""
        if (server := self._server) is not None:
            self._server = None
            server.shutdown()
            server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
