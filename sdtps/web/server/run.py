"""From a page to a server: guards, log, and a clean end."""

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

from sdtps.support.errors import InputError
from sdtps.web.server import access_log as logs
from sdtps.web.server.accounts import read_accounts, signing_in
from sdtps.web.server.api import health_route
from sdtps.web.server.document import picture_route
from sdtps.web.server.gate import connections
from sdtps.web.server.gate.failures import give_words
from sdtps.web.server.gate.layers import GateOptions, gate
from sdtps.web.server.gate.turns import FairQueue
from sdtps.web.server.page import launch_options
from sdtps.web.server.temporary_files import TemporaryFiles, own_folder
from sdtps.web.server.tools import give_structure
from sdtps.web.session.backend import PageBackend

GRACE_SECONDS = 2  # for answers under way when the server is asked to stop
LAST_SECONDS = 4  # then it ends, whatever still runs
FUNCTION_THREADS = 16  # apart from those that serve pages and files, which a crowd must not starve
RELAY = ".gradio.live"  # names that --share gives
SHARED = (
    "--share opens this server to everyone who has the link, through a relay outside your network; "
    "set a password with --auth FILE."
)
log = logging.getLogger(__name__)


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
    folder = own_folder(Path(get_upload_folder()))
    around = GateOptions(
        options.host,
        (*options.host_name, *((RELAY,) if options.share else ())),
        options.embed_in,
        options.rate_limit,
        settings["max_file_size"],
        options.root_path,
        folder,
    )
    give_words()
    FairQueue(page)
    if options.share:
        print(f"Warning: {SHARED}", file=sys.stderr)
    with connections.installed(lambda app: gate(app, around), options.proxy):
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
            app_kwargs={"routes": [health_route(backend, page), picture_route()]},
            **settings,
        )
    give_structure(page, folder)
    ready(f"Open {local}")
    page.server.config.timeout_graceful_shutdown = GRACE_SECONDS
    logs.configure(options.log_format)
    temporary = TemporaryFiles(folder, page.temp_file_sets)
    temporary.start()
    log.info("serving", extra={"facts": {"url": local, "shared": shared}})
    stop.wait()
    _end(page, [temporary.stop, backend.close, _close_fonts])


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
