"""Start the page: `python app.py`. Every option can be given by environment, too: `SDTPS_PORT=8000 python app.py`."""

import argparse
import os
import sys
import threading
from pathlib import Path

from sdtps.checkpoints import EMBEDDED, CheckpointError, load_model, random_model
from sdtps.datasets import open_dataset
from sdtps.messages import InputError
from sdtps.model import LoadedModel, ModelConfig
from sdtps.store import FeatureStore
from sdtps.ui.examples import EXAMPLES, find_examples
from sdtps.ui.library import Library
from sdtps.ui.page import build_page, launch_options
from sdtps.ui.workbench import Workbench

DEFAULT_CONFIG = ModelConfig(kind="hiera", name="sam2_hiera_tiny", backbone_options={"adapter_dim": 256})


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line, with the environment as default."""
    env = os.environ.get
    on = ("1", "true", "yes", "on")
    parser = argparse.ArgumentParser(description="SDTPS Lens: see which patches SDTPS keeps, and why.")
    parser.add_argument("--host", default=env("SDTPS_HOST") or env("GRADIO_SERVER_NAME") or "127.0.0.1")
    parser.add_argument("--port", type=int, default=int(env("SDTPS_PORT") or env("GRADIO_SERVER_PORT") or 7860))
    parser.add_argument(
        "--weights",
        action="append",
        default=None,
        help="a checkpoint; repeat for several, the first is shown (default: the embedded model)",
    )
    parser.add_argument("--device", default=env("SDTPS_DEVICE", "auto"), help="auto, cpu, cuda, cuda:1, mps")
    parser.add_argument("--share", action="store_true", default=env("SDTPS_SHARE", "").lower() in on)
    parser.add_argument("--root-path", default=env("SDTPS_ROOT_PATH", ""), help="path prefix behind a proxy")
    parser.add_argument("--data", action="append", default=None, help="a data set folder; repeat for several")
    parser.add_argument(
        "--gallery", action="append", default=None, help="a further folder for rank lists; every --data folder is one"
    )
    parser.add_argument("--cache", default=env("SDTPS_CACHE"), help="folder for features (~/.cache/sdtps-lens)")
    parser.add_argument("--examples", type=Path, default=Path(env("SDTPS_EXAMPLES") or EXAMPLES))
    options = parser.parse_args(arguments)
    for name in ("weights", "data", "gallery"):
        listed = env(f"SDTPS_{name.upper()}", "").split(os.pathsep)
        setattr(options, name, getattr(options, name) or [p for p in listed if p])
    return options


def load_models(paths: list[str], device: str) -> list[LoadedModel]:
    """The weights asked for, or the embedded ones; without any, random ones, which the page says on a banner."""
    if paths:
        return [load_model(p, device) for p in paths]
    return [load_model(device=device) if EMBEDDED.is_file() else random_model(DEFAULT_CONFIG, device=device)]


def warm_up(workbench: Workbench) -> None:
    """Analyse the first example once and list the data folders, so that the first visitor does not wait for it."""
    threading.Thread(target=workbench.library.warm, daemon=True).start()
    for name in list(workbench.examples)[:1]:
        picture = {"example": name}
        workbench.analyse({"pictures": {"rgb": picture, "nir": picture, "tir": picture}})


def main(arguments: list[str] | None = None) -> None:
    """Load, wire, serve."""
    options = parse_arguments(arguments)
    try:
        browsed, galleries = ([open_dataset(f, confined=True) for f in fs] for fs in (options.data, options.gallery))
        models = load_models(options.weights, options.device)
    except (CheckpointError, InputError, OSError) as error:
        sys.exit(str(error))
    library = Library(browsed, galleries, FeatureStore(options.cache))
    workbench = Workbench(models, find_examples(options.examples), library)
    warm_up(workbench)
    try:
        build_page(workbench).launch(
            server_name=options.host,
            server_port=options.port,
            share=options.share,
            root_path=options.root_path or None,
            **launch_options(),
        )
    except OSError:
        sys.exit(f"Port {options.port} on {options.host} cannot be used; choose another with --port.")


if __name__ == "__main__":
    main()
