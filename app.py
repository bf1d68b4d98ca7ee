"""Start the page: `python app.py`. Every option can be given by environment, too: `SDTPS_PORT=8000 python app.py`."""

import argparse
import os
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

from sdtps.checkpoints.load import WeightsSource
from sdtps.cli.options import add_selector, add_sources, run_selectors
from sdtps.datasets import open_dataset
from sdtps.datasets.examples import find_examples
from sdtps.images.confined import decoders
from sdtps.resources import EXAMPLES
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.support.errors import LensError
from sdtps.web.server import LOCAL_HOSTS
from sdtps.web.server.page import build_page
from sdtps.web.server.run import add_options, check_port, serve
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.data_registry import DataRegistry
from sdtps.web.session.model_registry import anonymous_registry, open_registry
from sdtps.web.session.run_registry import RunRegistry

MCP_HELP = "offer analyse and figure as tools of an MCP server, too (needs: pip install 'gradio[mcp]')"


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line, with the environment as default."""
    env = os.environ.get
    on = ("1", "true", "yes", "on")
    parser = argparse.ArgumentParser(description="SDTPS Lens: see which patches SDTPS keeps, and why.")
    parser.add_argument("--host", default=env("SDTPS_HOST") or env("GRADIO_SERVER_NAME") or "127.0.0.1")
    parser.add_argument("--port", type=int, default=int(env("SDTPS_PORT") or env("GRADIO_SERVER_PORT") or 7860))
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
        "--gallery", action="append", default=None, help="a further folder for rank lists; every --data folder is one"
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
    options.run = options.run or listed["SDTPS_RUN"]
    options.sources = options.sources or [WeightsSource(p) for p in listed["SDTPS_WEIGHTS"]]
    return options


def warm_up(backend: PageBackend) -> None:
    """Analyse the first example once and list the data folders, so that the first visitor does not wait for it."""
    threading.Thread(target=backend.data.warm, daemon=True).start()
    decoders().warm()
    for name in list(backend.examples)[:1]:
        picture = {"example": name}
        backend.analyse({"pictures": {"rgb": picture, "nir": picture, "tir": picture}})


def main(arguments: list[str] | None = None) -> None:
    """Load, wire, serve."""
    options = parse_arguments(arguments)
    if options.mcp and not find_spec("mcp"):
        sys.exit("--mcp needs the package mcp, which is not installed; install it with: pip install 'gradio[mcp]'")
    check_port(options.host, options.port)
    if options.selector and (options.share or options.host not in LOCAL_HOSTS.split(",")):
        sys.exit("--selector runs a Python file, so it is off on a page that others can reach; use it on this machine.")
    try:
        run_selectors(arguments)
        browsed, galleries = ([open_dataset(f, confined=True) for f in fs] for fs in (options.data, options.gallery))
        if options.anonymous:
            models = anonymous_registry(options.sources, options.device)
        else:
            models = open_registry(options.sources, options.device, uploads=options.allow_upload_weights)
        runs = RunRegistry(options.run, anonymous=options.anonymous)
        runs.check()
    except (LensError, OSError) as error:
        sys.exit(str(error))
    data = DataRegistry(browsed, galleries, FeatureStore(options.cache), anonymous=options.anonymous)
    backend = PageBackend(models, find_examples(options.examples), data, runs=runs)
    warm_up(backend)
    serve(build_page(backend), backend, options)


if __name__ == "__main__":
    main()
