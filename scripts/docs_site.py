"""Hooks of the documents' site: `make docs` reads the same Markdown files that the repository shows.

Pictures and further documents lie outside `docs/`; they are taken along, and links to them are turned to where they
are on the site. What a fence says besides its language (`norun: …`) is for the tests that run the documents.
"""

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs/"
TAKEN = (
    "assets/screenshots/*.png",
    "assets/floor-plan.svg",
    "assets/lab/*.svg",
    "benchmarks/*.svg",
    "checkpoints/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "LICENSE",
)
FENCE = re.compile(r"^(\s*)(```+)(\w+) [^\n`]*$", re.MULTILINE)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:|#)([^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def taken_along() -> Iterator[str]:
    """Paths of the files outside `docs/` that the site shows, from the repository's root."""
    for pattern in TAKEN:
        for file in sorted(ROOT.glob(pattern)):
            yield file.relative_to(ROOT).as_posix()


def links(text: str) -> Iterator[re.Match[str]]:
    """The local links and pictures of a document, without those inside code."""
    code = [found.span() for found in CODE.finditer(text)]
    for found in LINK.finditer(text):
        if not any(begin <= found.start() < end for begin, end in code):
            yield found


def target_of(document: str, link: str) -> str:
    """The path that a link of a document leads to; both from the repository's root."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(document), link))


def place_of(path: str) -> str | None:
    """Where a file is on the site; None where it is not."""
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    return path if path in set(taken_along()) else None


def turned(text: str, document: str) -> str:
    """The text of a document with links as the site needs them; what is not on the site is named without a link."""
    here = posixpath.dirname(place_of(document) or "")
    for found in reversed(list(links(text))):
        picture, label, link, anchor = found.groups()
        place = place_of(target_of(document, link))
        if place is None or place.endswith(".ipynb"):
            new = label if not picture else ""
        else:
            new = f"{picture}[{label}]({posixpath.relpath(place, here or '.')}{anchor or ''})"
        text = text[: found.start()] + new + text[found.end() :]
    return FENCE.sub(r"\1\2\3", text)


def on_files(files: Any, config: Any) -> Any:
    """Take along what lies outside `docs/`."""
    from mkdocs.structure.files import File

    for path in taken_along():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn the links of a page."""
    del config, files
    source = page.file.src_uri
    return turned(markdown, source if (ROOT / source).is_file() and source in set(taken_along()) else DOCS + source)
