"""From a page to a server: its options, guards, log, and a clean end."""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder
from starlette.middleware import Middleware

from sdtps.support.errors import InputError
from sdtps.web.server import access_log as logs
from sdtps.web.server.accounts import read_accounts, signing_in
from sdtps.web.server.api import health_route
from sdtps.web.server.compression import Compression
from sdtps.web.server.document import Document, picture_route
from sdtps.web.server.headers import SecurityHeaders
from sdtps.web.server.limits import guards
from sdtps.web.server.page import launch_options
from sdtps.web.server.temporary_files import TemporaryFiles
from sdtps.web.server.tools import give_structure
from sdtps.web.session.backend import PageBackend

GRACE_SECONDS = 2  # for answers under way when the server is asked to stop
LAST_SECONDS = 4  # then it ends, whatever still runs
FUNCTION_THREADS = 16  # apart from those that serve pages and files, which a crowd must not starve
SHARED = (
    "--share opens this server to everyone who has the link, through a relay outside your network; "
    "set a password with --auth FILE."
)
log = logging.getLogger(__name__)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options about who may come in and what is written down."""
    env = os.environ.get
    parser.add_argument(
        "--auth",
        metavar="FILE",
        default=env("SDTPS_AUTH"),
        help="ask for name and password; lines of the file come from: python -m sdtps password NAME",
    )
    parser.add_argument(
        "--embed-in",
        metavar="ORIGIN",
        action="append",
        default=[o for o in (env("SDTPS_EMBED_IN") or _around_a_space()).split(",") if o],
        type=_origin,
        help="let pages of this origin (https://example.org) show the page in a frame; repeat for several",
    )
    parser.add_argument(
        "--rate-limit",
        metavar="N",
        type=int,
        default=int(env("SDTPS_RATE_LIMIT") or 0),
        help="requests per minute and address (default: no limit; a dragged slider makes about 20 a second)",
    )
    parser.add_argument("--log-format", choices=logs.FORMATS, default=env("SDTPS_LOG_FORMAT") or "text")


def serve(
    page: gr.Blocks, backend: PageBackend, options: argparse.Namespace, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve until a signal says stop; then end within five seconds, whatever still runs.

    Args:
        page: the page.
        backend: answers it.
        options: of the command line.
        ready: told where the page is once it can be opened.
    """
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    settings = launch_options(upload_weights=options.allow_upload_weights)
    if options.share:
        print(f"Warning: {SHARED}", file=sys.stderr)
    _, local, shared = page.launch(
        server_name=options.host,
        server_port=options.port,
        share=options.share,
        root_path=options.root_path or None,
        mcp_server=options.mcp,
        prevent_thread_lock=True,
        quiet=True,
        max_threads=FUNCTION_THREADS,
        auth=_gate(options.auth),
        app_kwargs={
            "middleware": middleware(settings["max_file_size"], options),
            "routes": [health_route(backend, page), picture_route()],
        },
        **settings,
    )
    give_structure(page)
    ready(f"Open {local}")
    page.server.config.timeout_graceful_shutdown = GRACE_SECONDS
    logs.configure(options.log_format)
    folder = Path(get_upload_folder())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = TemporaryFiles(folder, page.temp_file_sets)
    temporary.start()
    log.info("serving", extra={"facts": {"url": local, "shared": shared}})
    stop.wait()
    _end(page, [temporary.stop, backend.close, _close_fonts])


def middleware(max_file: int, options: argparse.Namespace) -> list[Middleware]:
    """Everything around the routes, outermost first."""
    headers = Middleware(SecurityHeaders, embed_in=tuple(options.embed_in))
    around = [Middleware(logs.RequestLog), Middleware(Compression), headers, Middleware(Document)]
    return around + guards(max_file=max_file, per_minute=options.rate_limit)


def _end(page: gr.Blocks, closing: list[Callable[[], Any]]) -> None:
    log.info("stopping")
    for close in closing:
        close()
    closer = threading.Thread(target=page.close, args=(False,), daemon=True)
    closer.start()
    closer.join(LAST_SECONDS)
    log.info("stopped")
    logging.shutdown()
    # Threads inside a forward pass or a figure cannot be interrupted, and Python would wait for them.
    os._exit(0)


def _close_fonts() -> None:
    """Only where a figure was drawn: otherwise the end would import what the start left out."""
    if (fonts := sys.modules.get("sdtps.export.figure.fonts")) is not None:
        fonts.close()


def _gate(path: str | None) -> Any:
    if path is None:
        return None
    try:
        return signing_in(read_accounts(path))
    except (InputError, OSError) as error:
        raise SystemExit(f"--auth: {error}") from None


def _around_a_space() -> str:
    """A Gradio Space is shown in a frame of the site that hosts it."""
    return "https://huggingface.co" if os.environ.get("SPACE_ID") else ""


def _origin(text: str) -> str:
    scheme, _, host = text.partition("://")
    if scheme not in ("http", "https") or not host or set(host) & set("/ ;,'\""):
        raise argparse.ArgumentTypeError(f"{text!r} is not an origin such as https://example.org")
    return text
