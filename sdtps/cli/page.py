"""`sdtps-lens`, `python app.py` and `sdtps serve`: the page. Every option can be given by environment, too.

The port answers at once; what is heavy is imported and loaded behind it.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sdtps.cli.options import add_selector, add_sources, run_selectors
from sdtps.resources import EXAMPLES, GALLERY
from sdtps.support.terminal import StartLine
from sdtps.web.server import LOCAL_HOSTS
from sdtps.web.server.address import check_port
from sdtps.web.server.waiting import Waiting

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend

MCP_HELP = "offer analyse and figure as tools of an MCP server, too (needs: pip install 'mcp<2')"
NO_MCP = "--mcp needs the package mcp, which is not installed; install it with: pip install 'mcp<2'"
INTERRUPTED = 130  # what a shell reports after Ctrl-C
USES = """examples:
  sdtps-lens                                        the embedded model on http://127.0.0.1:7860
  sdtps-lens --weights DeMobest.pth --config DeMo_SDTPS.yml --data RGBNT201
  sdtps-lens --host 0.0.0.0 --port 8000 --auth accounts.txt
  SDTPS_PORT=8000 sdtps-lens                        every option by environment, too
"""


def add_address(parser: argparse.ArgumentParser) -> None:
    """Where the page is."""
    env = os.environ.get
    parser.add_argument("--host", default=env("SDTPS_HOST") or env("GRADIO_SERVER_NAME") or "127.0.0.1")
    parser.add_argument("--port", type=int, default=int(env("SDTPS_PORT") or env("GRADIO_SERVER_PORT") or 7860))


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line, with the environment as default."""
    from sdtps.web.server.run import add_options

    env = os.environ.get
    on = ("1", "true", "yes", "on")
    parser = argparse.ArgumentParser(
        prog="sdtps-lens",
        description="SDTPS Lens: see which patches SDTPS keeps, and why.",
        epilog=USES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_address(parser)
    add_sources(parser)
    add_selector(parser)
    parser.add_argument(
        "--allow-upload-weights",
        action="store_true",
        default=env("SDTPS_ALLOW_UPLOAD_WEIGHTS", "").lower() in on,
        help="let visitors load a checkpoint from their computer",
    )
    parser.add_argument("--device", default=env("SDTPS_DEVICE", "auto"), help="auto, cpu, cuda, cuda:1, mps")
    parser.add_argument(
        "--share",
        action="store_true",
        default=env("SDTPS_SHARE", "").lower() in on,
        help="open the page to everyone with the link, through a relay on the internet",
    )
    parser.add_argument("--root-path", default=env("SDTPS_ROOT_PATH", ""), help="path prefix behind a proxy")
    parser.add_argument("--data", action="append", default=None, help="a data set folder; repeat for several")
    parser.add_argument(
        "--gallery",
        action="append",
        default=None,
        help="a further folder for rank lists; every --data folder is one (default: the shipped gallery)",
    )
    parser.add_argument(
        "--run",
        action="append",
        default=None,
        help="a recorded training (folder, train_log.txt, event files); repeat for several (default: the shipped lab)",
    )
    parser.add_argument("--cache", default=env("SDTPS_CACHE"), help="folder for features (~/.cache/sdtps-lens)")
    parser.add_argument(
        "--anonymous",
        action="store_true",
        default=env("SDTPS_ANONYMOUS", "").lower() in on,
        help="show no names of weights, folders and files, and no hashes, for double-blind review",
    )
    parser.add_argument("--mcp", action="store_true", default=env("SDTPS_MCP", "").lower() in on, help=MCP_HELP)
    add_options(parser)
    parser.add_argument("--examples", type=Path, default=Path(env("SDTPS_EXAMPLES") or EXAMPLES))
    options = parser.parse_args(arguments)
    paths = ("SDTPS_WEIGHTS", "SDTPS_DATA", "SDTPS_GALLERY", "SDTPS_RUN")
    listed = {name: [p for p in env(name, "").split(os.pathsep) if p] for name in paths}
    options.data = options.data or listed["SDTPS_DATA"]
    options.gallery = options.gallery or listed["SDTPS_GALLERY"]
    if not (options.data or options.gallery) and GALLERY.is_dir():
        options.gallery = [str(GALLERY)]
    options.run = options.run or listed["SDTPS_RUN"]
    if not options.sources and listed["SDTPS_WEIGHTS"]:
        from sdtps.checkpoints.load import WeightsSource

        options.sources = [WeightsSource(p) for p in listed["SDTPS_WEIGHTS"]]
    return options


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
    if "-h" in arguments or "--help" in arguments:
        parse_arguments(arguments)
    address = early.parse_known_args(arguments)[0]
    check_port(address.host, address.port)
    line = StartLine(steps=4)
    line.step("Starting")
    with Waiting(address.host, address.port) as waiting:
        options = parse_arguments(arguments)
        if options.mcp and not find_spec("mcp"):
            sys.exit(NO_MCP)
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
