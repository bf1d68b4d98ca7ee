"""Memory and start-up, each in a process of its own: import, load, first analysis, fifty triplets, first page."""

import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from typing import Any

from benchmarks.measure import Bar, Detail, Findings, ratio
from benchmarks.processes import peak_megabytes, probe
from benchmarks.subjects import FILES, ROOT
from tests.harness import READY, chromium, free_port, serving_app

STEPS = ("import", "load", "first analysis", "50 triplets")
TRIPLETS = 50
LARGEST = 8
STARTED = Bar(1.2)
IMPORT_LINE = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \| +([\w.]+)")


def memory_after(step: str) -> dict[str, float]:
    """Peak resident megabytes and seconds of a process that goes as far as a step."""
    begin = time.perf_counter()
    import sdtps
    import sdtps.pipeline

    if step != "import":
        model = sdtps.load_model(device="cpu")
        if step != "load":
            triplets = TRIPLETS if step == STEPS[-1] else 1
            for i in range(triplets):
                # Moved by one column each, so that no triplet is in the cache.
                rgb, nir, tir = (_moved(file, i) for file in FILES)
                sdtps.analyse(model, rgb, nir, tir)
    return {"megabytes": peak_megabytes(), "seconds": time.perf_counter() - begin}


def _moved(file: Any, columns: int) -> Any:
    import numpy as np
    from PIL import Image

    return np.roll(np.asarray(Image.open(file).convert("RGB")), columns, axis=1)


def import_costs(text: str) -> dict[str, float]:
    """Seconds of own time by top-level package, largest first, from the output of `-X importtime`."""
    costs: dict[str, float] = defaultdict(float)
    for own, _, name in IMPORT_LINE.findall(text):
        costs[name.partition(".")[0]] += int(own) / 1e6
    return dict(sorted(costs.items(), key=lambda item: -item[1]))


def import_report() -> dict[str, float]:
    """What dominates the start: all that the page needs."""
    command = [sys.executable, "-X", "importtime", "-c", "import sdtps.web.server.run"]
    return import_costs(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stderr)


def start_up() -> dict[str, float]:
    """Seconds from the command to the first page and, in a browser that is open already, to the first picture."""
    with chromium() as browser:
        page = browser.new_page()
        begin = time.perf_counter()
        with serving_app() as url:
            urllib.request.urlopen(url, timeout=60).close()
            first_page = time.perf_counter() - begin
            page.goto(url)
            page.wait_for_selector(READY, timeout=120_000)
            return {"first page": first_page, "first picture": time.perf_counter() - begin}


def first_answer() -> float:
    """Seconds from the command to the first answer, which says that it is starting."""
    port = free_port()
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "app.py", "--port", str(port), "--device", "cpu"], cwd=ROOT)
    try:
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
            except urllib.error.HTTPError:
                pass  # 503 is an answer
            except OSError:
                time.sleep(0.01)
                continue
            return time.perf_counter() - begin
    finally:
        process.terminate()
        process.wait(20)


def gradio_alone() -> float:
    """Seconds of a process that imports Gradio."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import gradio"], check=True)
    return time.perf_counter() - begin


def run(quick: bool) -> Findings:
    """Peaks, then the start."""
    answers, imported = zip(*((first_answer(), gradio_alone()) for _ in range(2 if quick else 5)), strict=True)
    row = ratio("first answer of the server / `import gradio`", answers, imported, STARTED)
    memory = {step: probe("benchmarks.footprint:memory_after", step) for step in (STEPS[:3] if quick else STEPS)}
    starts = [start_up() for _ in range(1 if quick else 3)]
    started = {name: sorted(s[name] for s in starts)[len(starts) // 2] for name in starts[0]}
    imports = import_report()
    whole = sum(imports.values())
    shares = [(name, f"{value:.2f}", f"{100 * value / whole:.0f} %") for name, value in list(imports.items())[:LARGEST]]
    note = f"Own time of all modules of a package under `-X importtime`, {whole:.1f} s in all."
    return Findings(
        (row,),
        details=(
            Detail(
                "Peak memory",
                ("a process that goes as far as", "MB", "s"),
                tuple((step, f"{f['megabytes']:.0f}", f"{f['seconds']:.1f}") for step, f in memory.items()),
            ),
            Detail(
                "Start of `app.py`", ("until", "s"), tuple((name, f"{value:.1f}") for name, value in started.items())
            ),
            Detail("What the start imports", ("package", "s", "share"), tuple(shares), note),
        ),
        data={"memory": memory, "starts": starts, "imports": imports},
    )
