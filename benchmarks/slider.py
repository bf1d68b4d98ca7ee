"""Slider to pixels in a real browser: our page beside a bare Gradio echo, interleaved in one run.

A sample is the time from the slider's `input` event to the frame in which the new numbers are painted. The echo does
nothing but send its slider's value back, so it is the floor of what Gradio allows.
"""

import argparse
import statistics
from typing import Any

from sdtps.ui.harness import READY, chromium, serving, serving_app

WARM_UP = 5
BAR = 1.5
MEASURE = """([selector, value, kind]) => new Promise(done => {
  const input = document.querySelector(selector);
  const shown = {
    lens: () => JSON.parse(document.querySelector('.lens-grid').dataset.settings).sparse_ratio === value,
    echo: () => Number(document.querySelector('#out input').value) === value,
  }[kind];
  const start = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, value);
  input.dispatchEvent(new Event('input', {bubbles: true}));
  const afterPaint = () => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - start);
    channel.port2.postMessage(0);
  };
  const frame = () => (shown() ? afterPaint() : requestAnimationFrame(frame));
  requestAnimationFrame(frame);
})"""


def echo_app(port: int) -> None:
    """The floor: a slider whose value comes back."""
    import gradio as gr

    with gr.Blocks() as page:
        slider = gr.Slider(0, 1, 0.5, step=0.01, elem_id="in", interactive=True)
        number = gr.Number(elem_id="out")
        slider.input(lambda value: value, slider, number, trigger_mode="always_last", show_progress="hidden")
    page.launch(server_port=port, quiet=True, run_history=False, ssr_mode=False)


def run(quick: bool = False) -> dict[str, Any]:
    """Measure both; times in milliseconds.

    Args:
        quick: fewer samples, for tests.
    """
    samples = 20 if quick else 80
    times: dict[str, list[float]] = {"lens": [], "echo": []}
    with serving_app() as lens, serving("-m", "benchmarks.slider", "--echo", "{port}") as echo, chromium() as browser:
        pages = {"lens": browser.new_page(), "echo": browser.new_page()}
        pages["lens"].goto(lens)
        pages["lens"].wait_for_selector(READY)
        pages["echo"].goto(echo)
        pages["echo"].wait_for_selector("#in input[type=range]")
        selectors = {"lens": "[data-setting=sparse_ratio]", "echo": "#in input[type=range]"}
        for i in range(WARM_UP + samples):
            value = round(0.2 + (i * 7 % 60) / 100, 2)  # never the same value twice in a row
            for kind, page in pages.items():
                page.bring_to_front()
                elapsed = page.evaluate(MEASURE, [selectors[kind], value, kind])
                if i >= WARM_UP:
                    times[kind].append(elapsed)
    result: dict[str, Any] = {kind: {"p50": _quantile(t, 50), "p95": _quantile(t, 95)} for kind, t in times.items()}
    ratio = {p: result["lens"][p] / result["echo"][p] for p in ("p50", "p95")}
    return result | {"samples": samples, "ratio": ratio, "bar": BAR, "passed": ratio["p95"] <= BAR}


def _quantile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def table(result: dict[str, Any]) -> str:
    """The result as Markdown."""
    rows = [
        f"Slider to pixels, {result['samples']} samples each, interleaved",
        "",
        "| | p50 ms | p95 ms |",
        "|---|---|---|",
        *(
            f"| {name} | {result[kind]['p50']:.0f} | {result[kind]['p95']:.0f} |"
            for kind, name in (("lens", "our page"), ("echo", "bare Gradio echo"))
        ),
        f"| ratio (bar: p95 ≤ {result['bar']}) | {result['ratio']['p50']:.2f} | {result['ratio']['p95']:.2f} |",
    ]
    return "\n".join(rows)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    parser.add_argument("--echo", type=int, metavar="PORT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.echo:
        echo_app(options.echo)
    else:
        print(table(run(options.quick)))


if __name__ == "__main__":
    main()
