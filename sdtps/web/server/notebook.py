"""The page inside a notebook: started from a cell, shown below it, and gone with `close()`; the kernel goes on.

Jupyter and VS Code show it in a frame from this machine; Colab forwards the port itself.
"""

import atexit
import os
import socket
import sys
from collections.abc import Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from sdtps.checkpoints.load import WeightsSource
from sdtps.datasets import open_dataset
from sdtps.datasets.examples import find_examples
from sdtps.models.reid import LoadedModel
from sdtps.resources import EXAMPLES
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.web.server.api import health_route
from sdtps.web.server.document import picture_route
from sdtps.web.server.gate import connections
from sdtps.web.server.gate.layers import GateOptions, gate
from sdtps.web.server.gate.turns import FairQueue
from sdtps.web.server.page import build_page, launch_options
from sdtps.web.server.run import FUNCTION_THREADS, GRACE_SECONDS
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.data_registry import DataRegistry
from sdtps.web.session.model_registry import ModelRegistry, open_registry
from sdtps.web.session.run_registry import RunRegistry

HOST = "127.0.0.1"
HEIGHT = 820
PathLike = str | os.PathLike[str]
# Where notebooks are shown: on this machine under any port, in VS Code, in Colab. The server itself listens here alone.
FRAMES = (
    "http://localhost:*",
    "http://127.0.0.1:*",
    "https://localhost:*",
    "vscode-webview:",
    "https://colab.research.google.com",
    "https://*.googleusercontent.com",
    "https://*.colab.dev",
)
COLAB_NAMES = (".googleusercontent.com", ".colab.dev")  # under which Colab forwards a port of its machine


class LivePage:
    """A running page.

    Attributes:
        url: its address on this machine.
        port: its port.
    """

    def __init__(self, page: Any, backend: PageBackend, port: int, height: int) -> None:
        self.port = port
        self.url = f"http://{HOST}:{port}"
        self._page, self._backend, self._height = page, backend, height
        self._open = True
        atexit.register(self.close)

    def __repr__(self) -> str:
        return f"<SDTPS Lens at {self.url}>" if self._open else "<SDTPS Lens, closed>"

    def _frame(self) -> str:
        # Not `_repr_html_`: a cell that ends with `launch()` would show a second page below the first.
        if not self._open:
            return f"<p>{escape(repr(self))}</p>"
        look = f"width:100%;height:{self._height}px;border:0"
        return f'<iframe title="SDTPS Lens" src="{self.url}" style="{look}" allow="clipboard-write"></iframe>'

    def show(self) -> None:
        """Show it again, below another cell."""
        if (colab := _colab()) is not None:
            colab.serve_kernel_port_as_iframe(self.port, height=str(self._height))
        elif "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
            display: Any = import_module("IPython.display")
            display.display(display.HTML(self._frame()))
        else:
            print(f"SDTPS Lens: {self.url}")

    def close(self) -> None:
        """Stop the server and free its port; the kernel and everything in it stay."""
        if self._open:
            self._open = False
            atexit.unregister(self.close)
            self._backend.close()
            self._page.close(verbose=False)


def launch(
    model: LoadedModel | PathLike | Sequence[LoadedModel | PathLike] | None = None,
    *,
    data: Sequence[PathLike] = (),
    runs: Sequence[PathLike] = (),
    device: str = "auto",
    port: int = 0,
    height: int = HEIGHT,
    inline: bool = True,
) -> LivePage:
    """Start the page from a notebook and show it below the cell.

    Args:
        model: weights that `load_model` loaded, or checkpoint files; the embedded model by default.
        data: data set folders to browse and to rank against.
        runs: recorded trainings for the *Training* tab.
        device: where to load files.
        port: 0 takes a free one.
        height: of the frame in pixels.
        inline: show it at once; else `page.show()` or the address does.

    Returns:
        The running page; `page.close()` ends it, and the end of the kernel does, too.
    """
    one = model is None or isinstance(model, LoadedModel | str | os.PathLike)
    models: list[Any] = [m for m in ([model] if one else model) if m is not None]  # type: ignore[union-attr]
    loaded = [m for m in models if isinstance(m, LoadedModel)]
    files = [WeightsSource(m) for m in models if not isinstance(m, LoadedModel)]
    registry = ModelRegistry(loaded, device) if loaded else open_registry(files, device)
    for source in files if loaded else ():
        registry.add(source)
    folders = DataRegistry([open_dataset(Path(f), confined=True) for f in data], [], FeatureStore())
    backend = PageBackend(registry, find_examples(EXAMPLES), folders, runs=RunRegistry([str(r) for r in runs]))
    page = build_page(backend)
    settings = launch_options()
    port = port or _free_port()
    names = () if _colab() is None else COLAB_NAMES
    around = GateOptions(HOST, names, FRAMES, max_file=settings["max_file_size"])
    FairQueue(page)
    with connections.installed(lambda app: gate(app, around)):
        page.launch(
            server_name=HOST,
            server_port=port,
            share=False,  # Colab would open a tunnel by itself
            inline=False,
            prevent_thread_lock=True,
            quiet=True,
            max_threads=FUNCTION_THREADS,
            app_kwargs={"routes": [health_route(backend, page), picture_route()]},
            **settings,
        )
    page.server.config.timeout_graceful_shutdown = GRACE_SECONDS
    live = LivePage(page, backend, port, height)
    if inline:
        live.show()
    return live


def _colab() -> Any:
    """Colab's way to a port of its machine; None elsewhere."""
    if "google.colab" not in sys.modules:
        return None
    return import_module("google.colab.output")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
