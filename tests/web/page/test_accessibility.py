"""Everyone: axe on every tab and dialog, light and dark; keys reach the grid and walk over all modalities."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sdtps.resources import PROJECT
from tests.web.conftest import OpenPage
from tests.web.helpers import click_patch, explained, show

AXE = PROJECT / "node_modules" / "axe-core" / "axe.min.js"
COUNTED = ("moderate", "serious", "critical")
ONLY_COLOURS = ["color-contrast"]  # a theme changes nothing else
RUN = """async ([counted, rules]) => {
  const all = { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } };
  const found = await axe.run(document, rules ? { runOnly: rules } : all);
  return found.violations.filter(({ impact }) => counted.includes(impact)).map(({ id, impact, nodes }) =>
    ({ id, impact, count: nodes.length,
      where: nodes.slice(0, 4).map(({ target, failureSummary }) => `${target} ${failureSummary}`) }));
}"""


def opened_parts(page: Page, rules: list[str] | None) -> dict[str, list[dict[str, Any]]]:
    """Every tab and dialog of a page, with what axe finds there."""
    found: dict[str, list[dict[str, Any]]] = {}

    def look(part: str) -> None:
        found[part] = page.evaluate(RUN, [list(COUNTED), rules])

    for name in page.locator("[role=tab]").evaluate_all("tabs => tabs.map((tab) => tab.dataset.view)"):
        show(page, name)
        page.wait_for_selector(f"#lens-view-{name}:not([hidden])")
        look(f"tab {name}")
    show(page, "selection")
    click_patch(page, "rgb", 4, 4)
    explained(page, modality="rgb")
    look("why")
    page.keyboard.press("Escape")
    steps = {"about": "[data-open=about]", "weights": "[data-open=weights]", "export": "[data-choice=export]"}
    for name, button in steps.items():
        page.locator(f"{button}:visible").first.click()
        page.wait_for_selector("dialog[open]")
        look(f"dialog {name}")
        if name != "about":  # the card leads to the weights
            page.keyboard.press("Escape")
            page.wait_for_selector("dialog[open]", state="detached")
    page.locator(".lens-grid").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".lens-focus:not([hidden])")
    look("focus")
    page.keyboard.press("Escape")
    return found


def test_axe_finds_nothing_on_any_tab_or_dialog_light_or_dark(open_page: OpenPage, tmp_path: Path) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; run npm ci.")
    page = open_page()
    page.evaluate(f"{AXE.read_text()};0")
    table = {}
    for theme in ("light", "dark"):
        page.evaluate("dark => document.body.classList.toggle('dark', dark)", theme == "dark")
        parts = opened_parts(page, ONLY_COLOURS if theme == "dark" else None)
        table |= {f"{theme}, {part}": found for part, found in parts.items()}
    (tmp_path / "axe.json").write_text(json.dumps(table, indent=1))
    assert {part: found for part, found in table.items() if found} == {}


def test_one_main_one_live_region_and_the_grid_two_keys_away(open_page: OpenPage) -> None:
    page = open_page()
    assert page.locator("main").count() == 1
    live = page.locator(".lens [aria-live], .lens [role=status], .lens [role=alert]")
    expect(live).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.locator(".lens-skip")).to_be_focused()
    page.keyboard.press("Enter")
    grid = page.locator(".lens-grid")
    expect(grid).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(grid).to_have_attribute("data-patch", "68")
    page.keyboard.press("Shift+ArrowDown")
    explained(page, modality="nir", patch=68)
    expect(live).to_contain_text("NIR cosines")
    for _ in range(8):
        page.keyboard.press("ArrowDown")
    explained(page, modality="tir", patch=4)
    page.keyboard.press("ArrowUp")
    explained(page, modality="nir", patch=124)
