"""Ten replacements of the selection against indexing once, and the map of 10,000 image sets while it is panned."""

import tempfile
from pathlib import Path

import numpy as np

import sdtps
from benchmarks.measure import Bar, Detail, Findings, compare
from sdtps.datasets import Dataset, open_dataset
from sdtps.matters.measure import measure
from sdtps.matters.replacements import Plan
from sdtps.resources import GALLERY, PROJECT
from sdtps.retrieval.feature_store import FeatureStore

BAR = Bar(1.5)
SETS, QUICK_SETS = 1000, 48
DOTS, FRAMES = 10_000, 120
FRAME_RATE = 30
PAGE = """
import {{ makeCasesMap }} from '/js/views/cases_map.js';
const shades = Float32Array.from({{ length: 768 }}, (_, i) => i % 256);
const lens = {{ tables: {{ viridis: shades }}, store: {{ state: {{ display: {{ colormap: 'viridis' }} }} }} }};
const map = makeCasesMap(lens, {{ onPick() {{}}, onLasso() {{}} }});
document.body.append(map.node);
const values = Float32Array.from({{ length: {dots} }}, () => Math.random());
map.take(Float32Array.from({{ length: 2 * {dots} }}, () => 2 * Math.random() - 1));
map.colour(values);
const send = (kind, x, y) => map.node.dispatchEvent(new PointerEvent(kind, {{ clientX: x, clientY: y, pointerId: 1 }}));
map.node.setPointerCapture = () => {{}};
window.pan = async (frames) => {{
  const times = [];
  send('pointerdown', 200, 200);
  for (let i = 0; i < frames; i += 1) {{
    send('pointermove', 200 + i, 200 + (i % 20));
    times.push(await new Promise((resolve) => {{ requestAnimationFrame(resolve); }}));
  }}
  send('pointerup', 300, 200);
  return times;
}};
window.ready = true;
"""


def thousand(folder: Path, count: int) -> Dataset:
    """The shipped gallery's pictures under as many names as it takes."""
    source = open_dataset(GALLERY).listing("test").records
    for i in range(count):
        record = source[i % len(source)]
        for path, name in zip(record.paths, ("RGB", "NI", "TI"), strict=True):
            target = folder / "RGBNT201" / "test" / name / f"{i // 4:06d}_cam{i % 4 + 1}_0_00{path.suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path.resolve())
    return open_dataset(folder)


def frames(dots: int, count: int) -> list[float]:
    """Milliseconds between the frames of a browser that pans a map."""
    from playwright.sync_api import sync_playwright

    static = PROJECT / "sdtps" / "web" / "static"
    with sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()

        def serve(route: object) -> None:
            path = route.request.url.split("http://map.test", 1)[1]  # type: ignore[attr-defined]
            if path == "/":
                route.fulfill(content_type="text/html", body="<body></body>")  # type: ignore[attr-defined]
            else:
                kind, text = "text/javascript", (static / path.lstrip("/")).read_text()
                route.fulfill(content_type=kind, body=text)  # type: ignore[attr-defined]

        page.route("http://map.test/**", serve)
        page.goto("http://map.test/")
        page.add_script_tag(content=PAGE.format(dots=dots), type="module")
        page.wait_for_function("window.ready === true")
        times = page.evaluate(f"window.pan({count})")
        browser.close()
    return [float(step) for step in np.diff(times)]


def run(quick: bool) -> Findings:
    """Cost of ten replacements, and frames of the map."""
    count = QUICK_SETS if quick else SETS
    model = sdtps.load_model()
    plan = Plan(model.settings, (), 7)
    assert len(plan.replacements()) == 11  # as it is, and ten others
    with tempfile.TemporaryDirectory() as folder:
        data = thousand(Path(folder) / "data", count)
        turns = iter(range(10_000))

        def ours() -> None:
            measure(model, data, "test", plan, cache=f"{folder}/ours{next(turns)}")

        def index() -> None:
            FeatureStore(f"{folder}/index{next(turns)}").features(model, data, "test", model.settings)

        name = f"ten replacements of {count} image sets / indexing them once"
        row = compare(name, ours, index, BAR, rounds=1, warm_up=0)
    found = frames(DOTS, 30 if quick else FRAMES)
    rate = 1000 / float(np.median(found))
    slow = 1000 / float(np.quantile(found, 0.95))
    verdict = "met" if rate >= FRAME_RATE else "not met"
    told = (("median", f"{rate:.0f}"), ("slowest twentieth", f"{slow:.0f}"), (f"at least {FRAME_RATE}", verdict))
    detail = Detail(f"Frames per second while a map of {DOTS:,} image sets is panned", ("", "frames per second"), told)
    return Findings((row,), (detail,))
