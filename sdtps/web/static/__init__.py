"""The page's scripts, styles and texts.

The scripts are ES modules below `js/`; `modules.join` makes one script of them, so that the same text runs inside
Gradio and in a self-contained page.
"""

import json
from functools import lru_cache
from pathlib import Path

from sdtps.web.static.modules import join

STATIC = Path(__file__).parent
LANGUAGES = ("en", "zh")
STYLES = (
    "lens.css",
    "weights.css",
    "data.css",
    "why.css",
    "export.css",
    "training.css",
    "matters.css",
    "flow.css",
    "focus.css",
    "small.css",
    "state.css",
)
TEXTS = ("texts", "why", "selectors", "training", "matters", "flow", "about", "state")  # one file per area and language


def read_static(name: str) -> str:
    """The text of a style sheet or of texts, by its name below the folder of its kind."""
    folder = {"css": "css", "json": "texts"}[name.rsplit(".", 1)[1]]
    return (STATIC / folder / name).read_text(encoding="utf-8")


@lru_cache
def gradio_script() -> str:
    """The body of a function with `element` and `props`, as a Gradio HTML component runs it."""
    return join(STATIC / "js", "gradio.js", "start(element, props)")


@lru_cache
def sealed_script() -> str:
    """The same page, started without a server."""
    return join(STATIC / "js", "sealed.js", "start(document)")


@lru_cache
def styles() -> str:
    """The style sheets."""
    return "\n".join(read_static(name) for name in STYLES)


@lru_cache
def texts() -> dict[str, dict[str, str]]:
    """Every sentence of the page, by language and key."""
    return {
        language: {
            key: text for area in TEXTS for key, text in json.loads(read_static(f"{area}.{language}.json")).items()
        }
        for language in LANGUAGES
    }
