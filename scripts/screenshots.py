"""Pictures for the README: a day, a night and a black-RGB example, light and dark, at 1280x800."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sdtps.ui.harness import READY, chromium, serving_app  # noqa: E402 - the package lies beside this folder

EXAMPLES = ("day", "night", "black-rgb")
THEMES = ("light", "dark")


def take(out: Path, *arguments: str) -> list[Path]:
    """Start the app with these arguments and write the pictures."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    with serving_app(*arguments) as url, chromium() as browser:
        for theme in THEMES:
            context = browser.new_context(
                viewport={"width": 1280, "height": 800}, color_scheme=theme, locale="en-US", device_scale_factor=1
            )
            page = context.new_page()
            for example in EXAMPLES:
                page.goto(f"{url}/?example={example}")
                page.wait_for_selector(READY)
                page.wait_for_selector(f"[data-example={example}][aria-pressed=true]")
                page.evaluate("() => document.fonts.ready")
                file = out / f"{example}-{theme}.png"
                page.screenshot(path=file)
                written.append(file)
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
