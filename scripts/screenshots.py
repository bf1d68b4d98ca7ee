"""Pictures for the documents at 1280x800: a day, a night and a black-RGB example, light and dark, and each view once.

For the Chinese guide the day and the views once more, in Chinese.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.harness import READY, chromium, serving_app  # noqa: E402 - the package lies beside this folder

EXAMPLES = ("day", "night", "black-rgb")
SIZE = {"width": 1280, "height": 800}
ENGLISH = "en-US"
LOOKS = (("light", ENGLISH, ""), ("dark", ENGLISH, ""), ("light", "zh-CN", "zh-"))  # theme, locale, before the name


def explain_a_patch(page: Any) -> None:
    """Click a patch of the chest."""
    canvas = page.locator("canvas[data-modality=rgb][data-panel=score]")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.56, "y": box["height"] * 0.34})
    page.wait_for_selector(".lens-why[data-about]")


def compare_two(page: Any) -> None:
    """Pin, move two sliders, compare."""
    page.locator("[data-view=compare]").click()
    page.locator("[data-compare=pin]").click()
    for name, value in (("beta", "0.5"), ("sparse_ratio", "0.35")):
        page.locator(f"[data-setting-field={name}]").fill(value)
    page.wait_for_function(
        """() => {
          const compared = document.querySelector('[data-compared]');
          const sweep = document.querySelector('[data-sweep]');
          return compared && JSON.parse(compared.dataset.compared).sparse_ratio === 0.35
            && sweep && JSON.parse(sweep.dataset.sweep).now === 0.35; }"""
    )


def open_view(name: str, ready: str) -> Callable[[Any], None]:
    """Show a view and wait until it is filled."""

    def steps(page: Any) -> None:
        page.locator(f"[data-view={name}]").click()
        page.wait_for_selector(ready)

    return steps


def measure(page: Any) -> None:
    """Run the faithfulness of the triplet."""
    page.locator("[data-view=faithfulness]").click()
    page.locator("[data-faith=run]").click()
    page.wait_for_selector("[data-report]")
    page.locator("[data-option='faith.target'] input[value=person]").check()


VIEWS: dict[str, Callable[[Any], None]] = {
    "why": explain_a_patch,
    "compare": compare_two,
    "variants": open_view("variants", "[data-variants]"),
    "gradients": open_view("gradients", "[data-gradients]"),
    "faithfulness": measure,
}


def take(out: Path, *arguments: str) -> list[Path]:
    """Start the app with these arguments and write the pictures."""
    out.mkdir(parents=True, exist_ok=True)
    written = []

    def shot(page: Any, name: str) -> None:
        page.evaluate("() => document.fonts.ready")
        page.screenshot(path=out / f"{name}.png")
        written.append(out / f"{name}.png")

    with serving_app(*arguments) as url, chromium() as browser:
        for theme, locale, prefix in LOOKS:
            context = browser.new_context(viewport=SIZE, color_scheme=theme, locale=locale, device_scale_factor=1)
            page = context.new_page()
            for example in EXAMPLES if locale == ENGLISH else EXAMPLES[:1]:
                page.goto(f"{url}/?example={example}")
                page.wait_for_selector(READY)
                page.wait_for_selector(f"[data-example={example}][aria-pressed=true]")
                shot(page, f"{prefix}{example}-{theme}")
            for name, steps in VIEWS.items() if theme == "light" else ():
                page = context.new_page()
                page.goto(f"{url}/?example={EXAMPLES[0]}")
                page.wait_for_selector(READY)
                steps(page)
                shot(page, f"{prefix}{name}")
                page.close()
            context.close()
    return written


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "assets" / "screenshots")
    parser.add_argument("app", nargs="*", help="arguments for app.py, after --")
    options = parser.parse_args()
    for file in take(options.out, *options.app):
        print(file)


if __name__ == "__main__":
    main()
