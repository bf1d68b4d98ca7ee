"""The page's scripts, styles and texts, read from `static/` and joined without a bundler.

Each script is a plain file of functions with one responsibility. They share one function scope and are joined in the
order below, so that the same text runs inside Gradio and in a self-contained page.
"""

import json
from functools import lru_cache
from pathlib import Path

STATIC = Path(__file__).parent
LANGUAGES = ("en", "zh")
SCRIPTS = (
    "dom.js",
    "i18n.js",
    "arrays.js",
    "colormap.js",
    "permalink.js",
    "requester.js",
    "paint.js",
    "columns.js",
    "grid.js",
    "hover.js",
    "matrix.js",
    "controls.js",
    "display.js",
    "zones.js",
    "browser.js",
    "sources.js",
    "weights.js",
    "header.js",
    "views.js",
    "jobs.js",
    "about.js",
    "chart.js",
    "minimap.js",
    "provenance.js",
    "sweep.js",
    "compare.js",
    "variants.js",
    "story.js",
    "gradients.js",
    "faithfulness.js",
    "rank.js",
    "export.js",
    "lens.js",
)
GRADIO_SCRIPT = "gradio.js"
SEALED_SCRIPT = "sealed.js"
STYLES = ("lens.css", "weights.css", "data.css", "why.css", "export.css")
TEXTS = ("texts", "why", "selectors")  # one file per area and language


def read_static(name: str) -> str:
    """The text of a file, by its name below the folder of its kind."""
    folder = {"js": "js", "css": "css", "json": "texts"}[name.rsplit(".", 1)[1]]
    return (STATIC / folder / name).read_text(encoding="utf-8")


@lru_cache
def lens_script() -> str:
    """All scripts; they define `mountLens(root, config, server)`."""
    return "'use strict';\n" + "\n".join(read_static(name) for name in SCRIPTS)


@lru_cache
def gradio_script() -> str:
    """The same, started inside a Gradio HTML component."""
    return lens_script() + "\n" + read_static(GRADIO_SCRIPT)


@lru_cache
def sealed_script() -> str:
    """The same, started in a page without a server."""
    return lens_script() + "\n" + read_static(SEALED_SCRIPT)


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
