"""Slider to pixels in a real browser: our page beside a bare Gradio echo, interleaved in one run; and a drag.

A sample is the time from the slider's `input` event to the frame in which the new numbers are painted. The echo does
nothing but send its slider's value back, so it is the floor of what Gradio allows. A drag moves the slider in every
frame for two seconds; over the distant line, every byte takes a tenth of a second in each direction.
"""

import argparse
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.measure import Bar, Detail, Findings, percentile_ratio
from benchmarks.proxy import delayed
from tests.harness import READY, chromium, serving, serving_app

WARM_UP = 5
BAR = Bar(1.0)
DRAG_MILLISECONDS = 2000
AWAY_SECONDS = 0.1
SELECTORS = {"lens": "[data-setting=sparse_ratio]", "echo": "#in input[type=range]", "epoch": "[data-epoch]"}
EPOCHS, EPOCH = 12, "?run=final-s0&epoch=0"  # a run of the shipped lab
COLUMNS = ("drag of 2 s", "updates per second", "longest pause ms", "settled after ms", "last value right")
RATIO = "slider to pixels / bare Gradio echo"
EPOCH_RATIO = "epoch slider to pixels / bare Gradio echo"
NAMES = {"lens": "our page", "echo": "bare Gradio echo"}
SHOWN = """const shown = {
    lens: () => JSON.parse(document.querySelector('.lens-grid').dataset.settings).sparse_ratio,
    echo: () => Number(document.querySelector('#out input').value),
    epoch: () => Number(document.querySelector('.lens-epochs').dataset.shown.split('/')[1]),
  }[kind];
  const input = document.querySelector(selector);
  const move = (value) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, value);
    input.dispatchEvent(new Event('input', {bubbles: true}));
  };"""
MEASURE = f"""([selector, kind, value]) => new Promise(done => {{
  {SHOWN}
  const start = performance.now();
  move(value);
  const afterPaint = () => {{
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - start);
    channel.port2.postMessage(0);
  }};
  const frame = () => (shown() === value ? afterPaint() : requestAnimationFrame(frame));
  requestAnimationFrame(frame);
}})"""
# Times of the frames that showed something new; settled counts from the last move.
DRAG = f"""([selector, kind, length]) => new Promise(done => {{
  {SHOWN}
  const updates = [];
  let last = shown(), value = last, moved = 0, order = true;
  const start = performance.now();
  const frame = () => {{
    const now = performance.now() - start;
    const current = shown();
    if (current !== last) {{
      if (current < last) order = false;
      updates.push(now);
      last = current;
    }}
    if (now < length) {{
      const next = Math.round(20 + 70 * now / length) / 100;
      if (next !== value) {{ value = next; moved = now; move(value); }}
    }} else if (last === value || now > length + 10000) {{
      done({{ updates, settled: now - moved, right: last === value, order }});
      return;
    }}
    requestAnimationFrame(frame);
  }};
  move(0.2);
  const ready = () => (shown() === 0.2 ? (last = 0.2, value = 0.2, frame()) : requestAnimationFrame(ready));
  requestAnimationFrame(ready);
}})"""


def echo_app(port: int) -> None:
    """The floor: a slider whose value comes back."""
    import gradio as gr

    with gr.Blocks() as page:
        slider = gr.Slider(0, 1, 0.5, step=0.01, elem_id="in", interactive=True)
        number = gr.Number(elem_id="out")
        slider.input(lambda value: value, slider, number, trigger_mode="always_last", show_progress="hidden")
    page.launch(server_port=port, quiet=True, run_history=False, ssr_mode=False)


@contextmanager
def opened(browser: Any, urls: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Both pages, ready."""
    pages = {kind: browser.new_page() for kind in urls}
    for kind, page in pages.items():
        page.goto(urls[kind])
        ready = {"lens": READY, "epoch": ".lens-epochs[data-shown]"}.get(kind, SELECTORS[kind])
        page.wait_for_selector(ready, timeout=120_000)
    yield pages
    for page in pages.values():
        page.close()


def moves(pages: dict[str, Any], samples: int) -> dict[str, list[float]]:
    """Milliseconds from the event to the painted frame."""
    times: dict[str, list[float]] = {kind: [] for kind in pages}
    for i in range(WARM_UP + samples):
        value = round(0.2 + (i * 7 % 60) / 100, 2)  # never the same value twice in a row
        for kind, page in pages.items():
            page.bring_to_front()
            asked = (i + 1) * 5 % EPOCHS if kind == "epoch" else value
            elapsed = page.evaluate(MEASURE, [SELECTORS[kind], kind, asked])
            if i >= WARM_UP:
                times[kind].append(elapsed)
    return times


def drags(pages: dict[str, Any], times: int) -> dict[str, list[dict[str, Any]]]:
    """What each drag showed."""
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in pages}
    for _ in range(times):
        for kind, page in pages.items():
            page.bring_to_front()
            found[kind].append(page.evaluate(DRAG, [SELECTORS[kind], kind, DRAG_MILLISECONDS]))
    return found


def drag_line(name: str, found: list[dict[str, Any]]) -> tuple[str, ...]:
    """Medians over the drags."""
    rate = statistics.median(1e3 * len(d["updates"]) / (DRAG_MILLISECONDS + d["settled"]) for d in found)
    pause = statistics.median(max(b - a for a, b in zip([0, *d["updates"]], d["updates"], strict=False)) for d in found)
    settled = statistics.median(d["settled"] for d in found)
    right = all(d["right"] and d["order"] for d in found)
    return name, f"{rate:.1f}", f"{pause:.0f}", f"{settled:.0f}", "yes" if right else "**no**"


def run(quick: bool) -> Findings:
    """Single moves, then drags, near and far."""
    samples, repeats = (20, 1) if quick else (80, 5)
    with serving_app() as lens, serving("-m", "benchmarks.slider", "--echo", "{port}") as echo, chromium() as browser:
        with opened(browser, {"lens": lens, "echo": echo, "epoch": f"{lens}/{EPOCH}"}) as pages:
            times = moves(pages, samples)
            near = drags({kind: pages[kind] for kind in NAMES}, repeats)
        with (
            delayed(lens, AWAY_SECONDS) as far_lens,
            delayed(echo, AWAY_SECONDS) as far_echo,
            opened(browser, {"lens": far_lens, "echo": far_echo}) as pages,
        ):
            far = drags(pages, repeats)
    lines = [drag_line(NAMES[kind], found) for kind, found in near.items()]
    lines += [drag_line(f"{NAMES[kind]}, 100 ms away each way", found) for kind, found in far.items()]
    note = "*Last value right* also means that no older value was ever painted over a newer one."
    return Findings(
        (
            *(percentile_ratio(RATIO, times["lens"], times["echo"], p, bar) for p, bar in ((95, BAR), (50, None))),
            percentile_ratio(EPOCH_RATIO, times["epoch"], times["echo"], 95, BAR),
        ),
        (Detail("Dragging the slider", COLUMNS, tuple(lines), note),),
        data={"moves_ms": times, "near": near, "far": far},
    )


def main() -> None:
    """The echo as a server of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--echo", type=int, metavar="PORT", required=True, help=argparse.SUPPRESS)
    echo_app(parser.parse_args().echo)


if __name__ == "__main__":
    main()
