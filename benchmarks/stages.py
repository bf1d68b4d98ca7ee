"""Where the time of a first analysis goes, from the file in the browser to the painted grid.

The page is served from this process, so that a stopwatch around the real functions sees every stage, while a real
browser uploads one wide picture and paints the answer.
"""

import io
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from PIL import Image

from benchmarks.measure import Detail, Findings
from benchmarks.subjects import FILES, embedded
from sdtps import pipeline
from sdtps.export import payload
from sdtps.images import read as inputs
from sdtps.web.server.page import build_page, launch_options
from sdtps.web.session import backend
from tests.harness import READY, chromium

# Stage → the functions whose time it is, less that of stages called from inside them.
STAGES: dict[str, tuple[tuple[Any, str], ...]] = {
    "decode": ((backend, "read_wide"),),
    "resize": ((pipeline, "prepare"), (inputs.Prepared, "tensor")),
    "forward": ((pipeline, "forward"),),
    "head": ((pipeline, "_decide"),),
    "record": ((pipeline, "_as_numpy"),),
    "encode": ((payload, "still"), (payload, "moving"), (payload, "merge")),
}
ORDER = (*STAGES, "send", "paint")
COLOURS = ("#88ccee", "#44aa99", "#332288", "#117733", "#999933", "#ddcc77", "#cc6677", "#aa4499")
ARRIVAL = """(() => {
  const parse = JSON.parse;
  JSON.parse = (text, ...rest) => {
    const begin = performance.now();
    const value = parse(text, ...rest);
    if (value && value.modalities && value.key) window.lensArrived = begin;
    return value;
  };
})()"""
WATCH = """() => {
  delete document.querySelector('.lens-grid').dataset.settings;
  document.addEventListener('change', () => { window.lensBegan = performance.now(); }, { capture: true, once: true });
}"""
# Waits without asking for frames: they would be taken from the forward pass.
PAINTED = """() => new Promise((done) => {
  const grid = document.querySelector('.lens-grid');
  const painted = () => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      const now = performance.now();
      done({ total: now - window.lensBegan, paint: now - window.lensArrived });
    };
    channel.port2.postMessage(0);
  });
  if (grid.dataset.settings) { painted(); return; }
  const observer = new MutationObserver(() => {
    if (grid.dataset.settings) { observer.disconnect(); painted(); }
  });
  observer.observe(grid, { attributes: true });
})"""


class Stopwatch:
    """Seconds per stage, each less what other stages took inside it; all threads together."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._lock = threading.Lock()
        self._inner = threading.local()

    def around(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its time counted."""

        def wrapped(*args: Any, **options: Any) -> Any:
            stack: list[float] = self._inner.__dict__.setdefault("stack", [])
            stack.append(0.0)
            begin = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                whole = time.perf_counter() - begin
                inside = stack.pop()
                if stack:
                    stack[-1] += whole
                with self._lock:
                    self.seconds[stage] = self.seconds.get(stage, 0.0) + whole - inside

        return wrapped


@contextmanager
def watching(stages: Mapping[str, tuple[tuple[Any, str], ...]]) -> Iterator[Stopwatch]:
    """Put a stopwatch around the functions of each stage."""
    watch = Stopwatch()
    with ExitStack() as stack:
        for stage, places in stages.items():
            for owner, name in places:
                stack.enter_context(patch.object(owner, name, watch.around(stage, getattr(owner, name))))
        yield watch


@contextmanager
def page_here() -> Iterator[str]:
    """The page, served from this process."""
    from sdtps.datasets.examples import find_examples

    page = build_page(backend.PageBackend([embedded()], find_examples()))
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, **launch_options())
    try:
        yield url
    finally:
        page.close()


def wide_picture() -> bytes:
    """The example's three pictures side by side, as a PNG file."""
    stream = io.BytesIO()
    parts = [np.asarray(Image.open(file).convert("RGB")) for file in FILES]
    Image.fromarray(np.concatenate(parts, axis=1)).save(stream, "PNG")
    return stream.getvalue()


def measure(rounds: int, warm_up: int = 1) -> dict[str, list[float]]:
    """Milliseconds per stage, one value per round."""
    found: dict[str, list[float]] = {stage: [] for stage in ORDER}
    file = {"name": "wide.png", "mimeType": "image/png", "buffer": wide_picture()}
    with page_here() as url, chromium() as browser:
        page = browser.new_page()
        page.add_init_script(ARRIVAL)
        page.goto(url)
        page.wait_for_selector(READY, timeout=120_000)
        for i in range(warm_up + rounds):
            pipeline.forget()
            page.evaluate(WATCH)
            with watching(STAGES) as watch:
                page.locator("[data-zone=wide] input").set_input_files(file)
                seen = page.evaluate(PAINTED)
            here = {stage: 1e3 * seconds for stage, seconds in watch.seconds.items()}
            here |= {"paint": seen["paint"], "send": seen["total"] - seen["paint"] - sum(here.values())}
            if i >= warm_up:
                for stage in ORDER:
                    found[stage].append(here.get(stage, 0.0))
    return found


def picture(stages: Mapping[str, float]) -> bytes:
    """The stages as one bar, and without the forward pass as a second one, as SVG."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 2.3), layout="constrained", facecolor="white")
    FigureCanvasSVG(figure)
    rest = {stage: value for stage, value in stages.items() if stage != "forward"}
    shades = dict(zip(stages, COLOURS, strict=True))
    for axes, part, title in zip(figure.subplots(2, 1), (stages, rest), ("all", "without\nforward"), strict=True):
        left = 0.0
        for stage, value in part.items():
            axes.barh([title], [value], left=left, color=shades[stage], label=f"{stage} {value:.1f} ms")
            left += value
        axes.set_xlim(0, left)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.tick_params(axis="y", length=0)
    figure.axes[1].set_xlabel("milliseconds")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "stages", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def run(quick: bool) -> Findings:
    """The table and the picture."""
    found = measure(3 if quick else 15)
    medians = {stage: statistics.median(values) for stage, values in found.items()}
    total = sum(medians.values())
    rows = tuple((stage, f"{value:.1f}", f"{100 * value / total:.1f} %") for stage, value in medians.items())
    note = (
        "One wide PNG dropped on the page, embedded model; medians. *Encode* makes previews, photographs and packed "
        "arrays; *send* is everything between browser and functions: upload, Gradio's queue, JSON, the stream back."
    )
    title = "Where the time of a first analysis goes"
    return Findings(
        details=(Detail(title, ("stage", "ms", "share"), rows, note),),
        notes=("![Where the time goes](stages.svg)",),
        data=found,
        pictures={"stages.svg": picture(medians)},
    )
