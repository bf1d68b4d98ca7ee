"""What a reader does first, in any browser: seven short flows on one page, in this order."""

from collections.abc import Callable
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from tests.web.browsers.drivers import Hands


class Served(Protocol):
    """A running page with examples on disk."""

    @property
    def url(self) -> str: ...

    def files(self, name: str) -> tuple[str, str, str]: ...


GRID = "document.querySelector('.lens-grid')"
SHOWN = f"JSON.parse({GRID}?.dataset.settings || 'null')"
IDLE = f"{GRID}?.getAttribute('aria-busy') === 'false'"
PICTURE = "document.querySelector('canvas[data-modality=rgb][data-panel=score]').toDataURL()"
SLIDER = "input[data-setting=sparse_ratio]"
KEPT = """indexedDB.databases().then((all) => all.some(({ name }) => name === 'sdtps-lens') && new Promise((done) => {
  const opening = indexedDB.open('sdtps-lens');
  opening.onsuccess = () => {
    const counting = opening.result.transaction('uploads').objectStore('uploads').count();
    counting.onsuccess = () => { opening.result.close(); done(counting.result > 0); };
  };
}))"""
WATCH_FILES = """(() => {
  window.saved = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { saved.push([blob.type, blob.size]); return make(blob); };
  return 1;
})()"""


def load(page: Hands, served: Served) -> None:
    """The first example is on screen, and its panels are painted."""
    page.open(f"{served.url}/?lang=en")
    page.wait(f"{SHOWN} !== null && {IDLE}")
    assert page.ask("document.title") == "SDTPS Lens"
    assert (
        page.ask(
            "new Set([...document.querySelectorAll('.lens-cell:not([hidden]) canvas')].map((c) => c.toDataURL())).size"
        )
        > 8
    )


def drag(page: Hands, _: Served) -> None:
    """Pixels follow the slider, and the last position is the one shown."""
    before = page.ask("document.querySelector('canvas[data-modality=rgb][data-panel=kept]').toDataURL()")
    value = float(page.ask(f"document.querySelector('{SLIDER}').value"))
    start = page.middle(SLIDER, (value - 0.05) / 0.95 * 0.98 + 0.01)
    end = page.middle(SLIDER, 0.9)
    page.pointer([start, *((start[0] + (end[0] - start[0]) * i / 8, end[1]) for i in range(1, 9))], press=True)
    page.wait(
        f"{SHOWN}.sparse_ratio > 0.8 && {SHOWN}.sparse_ratio === Number(document.querySelector('{SLIDER}').value)"
    )
    assert page.ask("document.querySelector('canvas[data-modality=rgb][data-panel=kept]').toDataURL()") != before


def hover(page: Hands, _: Served) -> None:
    """One patch's numbers in all panels."""
    page.pointer([page.middle("canvas[data-modality=rgb][data-panel=score]", 0.31, 0.53)], press=False)
    page.wait(f"{GRID}.dataset.patch === '66'")
    assert page.ask("document.querySelectorAll('.lens-value[data-value]').length") >= 8


def click(page: Hands, _: Served) -> None:
    """Why this patch."""
    score = "canvas[data-modality=nir][data-panel=score]"
    page.pointer([page.middle(score, 0.31, 0.53)], press=False)
    page.wait(f"{GRID}.dataset.patch === '66'")
    page.click(score, 0.31, 0.53)
    page.wait("JSON.parse(document.querySelector('.lens-why').dataset.about || '{}').patch === 66")


def upload(page: Hands, served: Served) -> None:
    """Three files at once, told apart, and a reload keeps them."""
    page.give("[data-zone=rgb] input", served.files("night"))
    page.wait("document.querySelector('.lens-notes').textContent.includes('told by its name')")
    page.wait(f"location.search.includes('own=') && {IDLE}")
    page.wait(KEPT)
    page.open(page.ask("location.href"))
    page.wait(f"{SHOWN} !== null && {IDLE} && document.querySelectorAll('.lens-zones img:not([hidden])').length === 3")
    assert page.ask("document.querySelector('[data-example][aria-pressed=true]')") is None


def export(page: Hands, _: Served) -> None:
    """A figure arrives as a file."""
    page.ask(WATCH_FILES)
    page.click("[data-choice=export]")
    page.wait("document.querySelector('dialog[open] [data-do=figure]:not(:disabled)') !== null")
    page.click("[data-do=figure]")
    kind, size = page.wait("saved.length && saved[0]")
    assert (kind, size > 5000) == ("application/pdf", True)
    page.ask("(document.querySelector('dialog[open]').close(), 1)")


def links(page: Hands, served: Served) -> None:
    """Back and Forward walk, and a link shows the same again."""
    page.open(f"{served.url}/?lang=en&example=day&beta=0.1&patch=tir-20")
    page.wait(f"{SHOWN}?.beta === 0.1 && {IDLE} && {GRID}.dataset.patch === '20'")
    page.click("[data-view=variants]")
    page.wait("location.search.includes('view=variants')")
    page.ask("(history.back(), 1)")
    page.wait("document.querySelector('[data-view=selection]').getAttribute('aria-selected') === 'true'")
    said = parse_qs(urlsplit(page.ask("location.href")).query)
    assert (said["example"], said["beta"], said["patch"]) == (["day"], ["0.1"], ["tir-20"])


FLOWS: dict[str, Callable[[Hands, Served], None]] = {
    flow.__name__: flow for flow in (load, drag, hover, click, upload, export, links)
}
