"""Everyone: axe on every tab and dialog, light and dark; keys reach the grid and walk over all modalities."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sdtps.resources import PROJECT
from tests.web.conftest import OpenPage
from tests.web.helpers import click_patch, explained, field, show

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
GALLERIES = {"matters": "gallery", "rank": "scenes", "cases": "gallery"}  # no other test indexes the scenes
FILL = {  # a tab that waits to be asked is looked at with its answer
    "compare": ("[data-compare=pin]", "[data-compared]"),
    "variants": (None, "[data-variants]"),
    "training": (None, ".lens-training[data-runs]"),
    "gradients": (None, "[data-gradients]"),
    "faithfulness": ("[data-faith=run]", ".lens-faith-body[data-report]"),
    "matters": ("[data-matters=run]", ".lens-matters-body[data-report]"),
    "rank": ("[data-rank=index]", ".lens-rank [data-verdict=query]"),
    "cases": ("[data-cases=run]", ".lens-cases-tiles[data-shown]"),
}
DIALOGS = {
    "about": "[data-open=about]",
    "weights": "[data-open=weights]",
    "export": "[data-choice=export]",
    "matrix": ".lens-token .lens-icon",
}


def fill(page: Page, view: str) -> None:
    """Ask what a tab is there to answer, once."""
    button, answer = FILL[view]
    if button and not page.locator(answer).count():
        if view in GALLERIES:
            option = page.locator(f"[data-{view}=gallery] option", has_text=GALLERIES[view]).first
            page.locator(f"[data-{view}=gallery]").select_option(option.get_attribute("value"))
        if view == "matters":
            page.locator("[data-matters=draws]").select_option("3")
            page.locator("[data-matters=ratios]").select_option("own")
        page.locator(button).click()
        if view == "compare":
            field(page, "sparse_ratio").fill("0.3")
    page.wait_for_selector(answer)
    if view == "rank" and page.locator(".lens-match").is_hidden():
        page.locator("[data-rank=explain]").first.click()
        page.wait_for_selector(".lens-match[data-shown]")


def opened_parts(page: Page, rules: list[str] | None) -> dict[str, list[dict[str, Any]]]:
    """Every tab with its answer, and every dialog, of a page, with what axe finds there."""
    found: dict[str, list[dict[str, Any]]] = {}

    def look(part: str) -> None:
        found[part] = page.evaluate(RUN, [list(COUNTED), rules])

    for name in page.locator("[role=tab]").evaluate_all("tabs => tabs.map((tab) => tab.dataset.view)"):
        show(page, name)
        page.wait_for_selector(f"#lens-view-{name}:not([hidden])")
        if name in FILL:
            fill(page, name)
        look(f"tab {name}")
    show(page, "selection")
    click_patch(page, "rgb", 4, 4)
    explained(page, modality="rgb")
    look("why")
    page.keyboard.press("Escape")
    for name, button in DIALOGS.items():
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
    page.locator("[data-choice=help]").click()
    page.locator("[data-tour=start]").click()
    look("tour")
    page.locator("[data-tour=skip]").click()
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
    tabs = {f"tab {name}" for name in (*FILL, "selection")}
    dialogs = {f"dialog {name}" for name in DIALOGS}
    assert {part.split(", ")[1] for part in table} == tabs | dialogs | {"why", "focus", "tour"}, (
        "a new tab is listed here"
    )
    found = {part: found for part, found in table.items() if found}
    assert found == {}, json.dumps(found, indent=1)


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
