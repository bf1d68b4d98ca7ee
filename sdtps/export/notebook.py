"""An analysis in a notebook: the interactive grid without a server, a figure, a file.

The frame holds the page of the supplement, compressed; a few lines of script unpack it. It runs in a sandbox of its
own, so nothing of the notebook reaches it, nor it the notebook.
"""

import base64
import gzip
import importlib
import os
import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path
from typing import Any

from sdtps.export.bundle import write_bundle
from sdtps.export.figure import FORMATS, FigureOptions, Sheet, grid_figure
from sdtps.export.supplement import Plan, pages, write_supplement
from sdtps.images.encode import Pixels
from sdtps.pipeline import OpenSet
from sdtps.support.errors import InputError
from sdtps.support.files import write_whole
from sdtps.types import Analysis

MAX_BYTES = 1_000_000
HEIGHT = 860
RATIO_STRIDE = 2
PLANS: tuple[Plan, ...] = (
    ((0.2, 0.4, 0.8), (0.0, 0.25, 0.5), (0.1, 0.3, 1.0)),
    ((0.4,), (0.0, 0.25, 0.5), (1.0,)),
    ((), (), ()),
)
UNPACK = (
    "(async()=>{const b=Uint8Array.from(atob('%s'),c=>c.charCodeAt(0));"
    "const t=await new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream('gzip'))).text();"
    "document.open();document.write(t);document.close()})()"
)
BUNDLE, SUPPLEMENT = ".zip", ".html"


def page(analysis: Analysis, height: int = HEIGHT) -> str | None:
    """HTML for a cell: the grid with sliders; a picture of the figure where the model is not at hand; else None."""
    if not isinstance(analysis.opened, OpenSet):
        return None if analysis.pictures is None else _picture(analysis)
    for content in pages(analysis.opened, analysis, plans=PLANS, stride=RATIO_STRIDE):
        frame = _frame(content, height)
        if len(frame) <= MAX_BYTES:
            return frame
    return _picture(analysis)  # large photographs


def show(analysis: Analysis, height: int = HEIGHT) -> None:
    """In the cell of a notebook, or in a browser from a temporary file."""
    if (display := _display()) is not None:
        display.display(display.HTML(page(analysis, height) or f"<pre>{analysis!r}</pre>"))
        return
    folder = Path(tempfile.mkdtemp(prefix="sdtps-lens-"))
    path = save(analysis, folder / f"analysis{SUPPLEMENT}")
    print(f"written: {path}")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("darwin", "win32"):
        webbrowser.open(path.as_uri())


def figure(analysis: Analysis, **options: Any) -> Sheet:
    """The grid as a figure; options are fields of `FigureOptions`."""
    return grid_figure(analysis, _pictures(analysis), FigureOptions(**options))


def save(analysis: Analysis, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a bundle, a supplement or a figure, by the ending of the path."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind == BUNDLE:
        write_whole(path, write_bundle(analysis, _pictures(analysis), FigureOptions(**options)))
    elif kind == SUPPLEMENT:
        if not isinstance(analysis.opened, OpenSet):
            text = "An analysis from a file has no model at hand to compute a page from; analyse its pictures again."
            raise InputError("notebook.no_model", text)
        write_whole(path, write_supplement(analysis.opened, analysis).encode())
    elif kind.lstrip(".") in FORMATS:
        figure(analysis, **options).save(path)
    else:
        text = "There is nothing to write as {suffix!r}; use .zip for a bundle, .html for a page, .pdf, .svg or .png."
        raise InputError("notebook.ending", text, suffix=kind or path.name)
    return path


def _pictures(analysis: Analysis) -> dict[str, Pixels | None]:
    if analysis.pictures is None:
        raise InputError("notebook.no_pictures", "This analysis came without its pictures; analyse them again.")
    return dict(analysis.pictures)


def _frame(content: str, height: int) -> str:
    packed = base64.b64encode(gzip.compress(content.encode(), 9, mtime=0)).decode()
    inner = f"<!doctype html><meta charset=utf-8><script>{UNPACK % packed}</script>"
    look = f"width:100%;height:{height}px;border:0"
    return f'<iframe sandbox="allow-scripts" title="SDTPS Lens" style="{look}" srcdoc="{inner}"></iframe>'


def _picture(analysis: Analysis) -> str:
    content = base64.b64encode(figure(analysis).render("png", dpi=150)).decode()
    return f'<img alt="{escape(analysis.weights.name)}" style="max-width:100%" src="data:image/png;base64,{content}">'


def _display() -> Any:
    """IPython's display, inside a notebook; None elsewhere, also in IPython's terminal, which shows no HTML."""
    python = sys.modules.get("IPython")
    shell = None if python is None else python.get_ipython()
    return importlib.import_module("IPython.display") if shell is not None and hasattr(shell, "kernel") else None
