"""In which order the layers of the gate stand round the application."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from sdtps.web.server.access_log import RequestLog
from sdtps.web.server.compression import Compression
from sdtps.web.server.document import Document
from sdtps.web.server.gate import connections
from sdtps.web.server.gate.aliases import Aliases
from sdtps.web.server.gate.cookies import Cookies
from sdtps.web.server.gate.failures import Failures
from sdtps.web.server.gate.identity import Identity
from sdtps.web.server.gate.large_answers import LargeAnswers
from sdtps.web.server.gate.origins import Origins
from sdtps.web.server.headers import SecurityHeaders
from sdtps.web.server.limits import guards


@dataclass(frozen=True)
class GateOptions:
    """What the owner of a server decides about it.

    Attributes:
        host: that it is bound to.
        names: further host names it is known by.
        embed_in: origins whose pages may show it in a frame.
        per_minute: requests per minute and address; 0 for no limit.
        max_file: bytes of the largest upload.
        root_path: prefix that a proxy leaves in front of every path.
        folder: for bodies that do not fit into memory.
    """

    host: str = "127.0.0.1"
    names: Sequence[str] = ()
    embed_in: Sequence[str] = ()
    per_minute: int = 0
    max_file: int = 24 * 1024 * 1024
    root_path: str = ""
    folder: Path | None = None


def gate(app: ASGIApp, options: GateOptions) -> ASGIApp:
    """The application with everything around it."""
    layers: list[Callable[[ASGIApp], ASGIApp]] = [
        lambda inner: RootPath(inner, options.root_path),
        Identity,
        RequestLog,
        LargeAnswers,
        Compression,
        lambda inner: SecurityHeaders(inner, tuple(options.embed_in)),
        Document,
        Failures,
        lambda inner: Cookies(inner, embedded=bool(options.embed_in)),
        lambda inner: Origins(inner, options.host, options.names),
    ]
    app = Aliases(app, options.folder)
    listeners = connections.room() * 2 // 3  # the rest is for those who ask
    limits = guards(
        max_file=options.max_file, per_minute=options.per_minute, folder=options.folder, listeners=listeners
    )
    for guard in reversed(limits):
        app = guard.cls(app, *guard.args, **guard.kwargs)
    for layer in reversed(layers):
        app = layer(app)
    return app


class RootPath:
    """Says which prefix a proxy leaves in front, as the framework further in does: the guards look at paths, too."""

    def __init__(self, app: ASGIApp, root_path: str) -> None:
        self.app = app
        self.root_path = root_path.rstrip("/") if root_path.startswith("/") else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on."""
        if self.root_path and "root_path" in scope:
            scope["root_path"] = self.root_path
        await self.app(scope, receive, send)
