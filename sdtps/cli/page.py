"""`sdtps-lens`, `python app.py` and `sdtps serve`: the page.

The port answers at once; what is heavy is imported and loaded behind it.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

from sdtps.cli.options import run_selectors
from sdtps.cli.page_options import add_address, parse_arguments
from sdtps.support.terminal import INTERRUPTED, StartLine
from sdtps.web.server import LOCAL_HOSTS
from sdtps.web.server.address import check_port
from sdtps.web.server.waiting import Waiting

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend

NO_MCP = "--mcp needs the package mcp, which is not installed; install it with: pip install 'mcp<2'"
MCP_SIGNED = "--mcp does not go with --auth, because clients of MCP cannot sign in; leave one of the two out."


def open_backend(options: argparse.Namespace, arguments: Sequence[str] | None) -> "PageBackend":
    """Weights, data and runs behind the page; what is not there is a sentence."""
    from sdtps.datasets import open_dataset
    from sdtps.datasets.examples import find_examples
    from sdtps.retrieval.feature_store import FeatureStore
    from sdtps.support.errors import LensError
    from sdtps.web.session import model_registry as registries
    from sdtps.web.session.backend import PageBackend
    from sdtps.web.session.data_registry import DataRegistry
    from sdtps.web.session.run_registry import RunRegistry

    try:
        run_selectors(arguments)
        browsed, galleries = ([open_dataset(f, confined=True) for f in fs] for fs in (options.data, options.gallery))
        if options.anonymous:
            models = registries.anonymous_registry(options.sources, options.device)
        else:
            uploads = options.allow_upload_weights
            models = registries.open_registry(options.sources, options.device, uploads=uploads)
        runs = RunRegistry(options.run, anonymous=options.anonymous)
        runs.check()
    except (LensError, OSError) as error:
        sys.exit(str(error))
    data = DataRegistry(browsed, galleries, FeatureStore(options.cache), anonymous=options.anonymous)
    return PageBackend(models, find_examples(options.examples), data, runs=runs)


def warm_up(backend: "PageBackend") -> None:
    """Analyse the first example once and list the data folders, so that the first visitor does not wait for it."""
    import threading

    from sdtps.images.confined import decoders

    decoders().warm()
    threading.Thread(target=backend.data.warm, daemon=True).start()
    for name in list(backend.examples)[:1]:
        picture = {"example": name}
        backend.analyse({"pictures": {"rgb": picture, "nir": picture, "tir": picture}})


def main(arguments: Sequence[str] | None = None) -> None:
    """Answer, load, wire, serve."""
    # At once: an exception could be swallowed by whatever is being imported.
    before = signal.signal(signal.SIGINT, _stopped)
    try:
        _main(sys.argv[1:] if arguments is None else list(arguments))
    finally:
        signal.signal(signal.SIGINT, before)


def _main(arguments: list[str]) -> None:
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_address(early)
    if {"-h", "--help", "--version"} & set(arguments):
        parse_arguments(arguments)
    address = early.parse_known_args(arguments)[0]
    check_port(address.host, address.port)
    line = StartLine(steps=4)
    line.step("Starting")
    with Waiting(address.host, address.port) as waiting:
        options = parse_arguments(arguments)
        if options.mcp and not find_spec("mcp"):
            sys.exit(NO_MCP)
        if options.mcp and options.auth:
            sys.exit(MCP_SIGNED)
        if options.selector and (options.share or options.host not in LOCAL_HOSTS.split(",")):
            sys.exit(
                "--selector runs a Python file, so it is off on a page that others can reach; use it on this machine."
            )
        waiting.doing = "weights"
        line.step("Loading the weights")
        backend = open_backend(options, arguments)
        waiting.doing = "example"
        line.step("Analysing the first example")
        warm_up(backend)
        from sdtps.web.server.page import build_page
        from sdtps.web.server.run import serve

        line.step("Opening the page")
        page = build_page(backend)
        waiting.close()  # the port is the page's now
        serve(page, backend, options, line.done)


def _stopped(*_: object) -> NoReturn:
    print("Stopped before the page was ready.", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
