"""Short words for what a person does on the page, and for what they see."""

import json
import threading
from typing import Any

from playwright.sync_api import Locator, Page

from sdtps.web.session.backend import PageBackend

PANELS = ("input", "self", "cross1", "cross2", "predictor", "score", "kept", "aggregation")
TAU_PANELS = ("soft", "frequency")
MODALITIES = ("rgb", "nir", "tir")
DEFAULTS = {"sparse_ratio": 0.5, "aggr_ratio": 0.4, "beta": 0.25, "tau": 1.0, "variant": "final"}


def finished_job(bench: PageBackend, started: dict[str, Any]) -> dict[str, Any]:
    """The answer of a job, once it is there."""
    while True:
        answer = bench.ask({"task": "job.poll", "job": started["job"]})
        if answer.keys() & {"result", "error", "cancelled"}:
            return answer
        threading.Event().wait(0.02)


def canvas(page: Page, modality: str, panel: str) -> Locator:
    return page.locator(f"canvas[data-modality={modality}][data-panel={panel}]")


def slider(page: Page, name: str) -> Locator:
    return page.locator(f"input[type=range][data-setting={name}]")


def field(page: Page, name: str) -> Locator:
    return page.locator(f"[data-setting-field={name}]")


def shown_settings(page: Page) -> dict[str, Any]:
    return json.loads(page.locator(".lens-grid").get_attribute("data-settings") or "{}")


def wait_for_settings(page: Page, **expected: Any) -> None:
    """Until the grid shows these settings."""
    page.wait_for_function(
        """expected => {
          const text = document.querySelector('.lens-grid').dataset.settings;
          const shown = text ? JSON.parse(text) : {};
          return Object.entries(expected).every(([name, value]) => shown[name] === value);
        }""",
        arg=expected,
    )


def wait_idle(page: Page) -> None:
    """Until no analysis runs."""
    page.wait_for_selector(".lens-grid[aria-busy=false]")


def pictures(page: Page) -> dict[str, str]:
    """Every canvas of the columns on show as a data URL, by `modality/panel`."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.lens-cell:not([hidden]) canvas')].map(
          c => [`${c.dataset.modality}/${c.dataset.panel}`, c.toDataURL()]))"""
    )


def changed_panels(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {key.split("/")[1] for key in before if before[key] != after[key]}


def point_at(page: Page, modality: str, panel: str, row: int, col: int, *, rows: int = 16, cols: int = 8) -> None:
    """Put the mouse on the middle of a patch."""
    box = canvas(page, modality, panel).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * (col + 0.5) / cols, box["y"] + box["height"] * (row + 0.5) / rows)


def shown_values(page: Page) -> dict[str, float | None]:
    """The numbers of the patch in hand, by `modality/panel`, at full precision."""
    texts = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.lens-cell')].map(cell => {
          const c = cell.querySelector('canvas');
          return [`${c.dataset.modality}/${c.dataset.panel}`, cell.querySelector('.lens-value').dataset.value ?? null];
        }))"""
    )
    return {key: float(text) if text else None for key, text in texts.items()}


def wait_for_link(page: Page, part: str) -> None:
    """Until the address bar holds this."""
    page.wait_for_function("part => location.search.includes(part)", arg=part)


def upload(page: Page, zone: str, path: str | list[str]) -> None:
    page.set_input_files(f"[data-zone={zone}] input", path)


def wait_for_preview(page: Page, zone: str) -> None:
    """Until the zone shows a picture that was uploaded (previews are PNG data URLs; examples come later)."""
    page.wait_for_function("zone => document.querySelector(`[data-zone=${zone}] img`).naturalWidth > 0", arg=zone)


def error_beside(page: Page, zone: str) -> str:
    message = page.locator(f"[data-error={zone}]")
    message.wait_for()
    return message.inner_text()


def click_patch(page: Page, modality: str, row: int, col: int, panel: str = "score") -> None:
    point_at(page, modality, panel, row, col)
    page.mouse.down()
    page.mouse.up()


def explained(page: Page, **about: Any) -> Locator:
    """The panel, once it is about this."""
    page.wait_for_function(
        """about => { const text = document.querySelector('.lens-why').dataset.about;
          return text && Object.entries(about).every(([k, v]) => JSON.parse(text)[k] === v); }""",
        arg=about,
    )
    return page.locator(".lens-why")


def value_of(node: Locator) -> float:
    """A number at full precision."""
    return float(node.get_attribute("data-value") or "nan")


def show(page: Page, view: str) -> None:
    page.locator(f"[data-view={view}]").click()


def wait_compared(page: Page, **settings: Any) -> None:
    page.wait_for_function(
        """expected => { const node = document.querySelector('[data-compared]');
          const shown = node ? JSON.parse(node.dataset.compared) : {};
          return node && Object.entries(expected).every(([k, v]) => shown[k] === v); }""",
        arg=settings,
    )
