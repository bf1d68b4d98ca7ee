"""The method as a flow: groups and formula, the card and the tour, focus, small screens."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import App, OpenPage
from tests.web.helpers import canvas, field, pictures, point_at, slider, wait_for_settings

pytestmark = pytest.mark.browser


def formula(page: Page) -> str:
    """What stands over the columns, from left to right."""
    return " → ".join(filter(None, page.locator(".lens-flow-formula").all_inner_texts()))


def focus(page: Page) -> dict[str, str]:
    return page.locator(".lens-focus").evaluate("node => ({ ...node.dataset })")


def test_the_formula_over_the_groups_follows_the_sliders_and_the_row(open_page: OpenPage) -> None:
    page = open_page()
    assert page.locator(".lens-flow-name").all_inner_texts() == ["Evidence", "Decision", "Output", "What if"]
    assert "Sparse and Dense Token-aware Patch Selection" in page.locator(".lens-name").inner_text()
    own = "0.50 × own + 0.25 × NIR + 0.25 × TIR + 0.50 × predictor"
    assert formula(page) == f"{own} → = score → top 64 → 25 tokens → at τ = 1"
    field(page, "beta").fill("0.1")
    field(page, "sparse_ratio").fill("0.3")
    wait_for_settings(page, beta=0.1, sparse_ratio=0.3)
    point_at(page, "nir", "score", 3, 3)
    expect(page.locator("[data-formula=evidence]")).to_have_text(
        "0.20 × own + 0.10 × RGB + 0.10 × TIR + 0.80 × predictor"
    )
    expect(page.locator("[data-formula=decision]")).to_have_text("= score → top 39")
    groups = page.locator(".lens-flow-group").evaluate_all("nodes => nodes.map(n => n.getBoundingClientRect().left)")
    heads = [page.locator(f".lens-head[data-panel={p}]").bounding_box() for p in ("input", "score", "aggregation")]
    for group, head in zip(groups, heads, strict=False):
        assert head is not None
        assert group == pytest.approx(head["x"], abs=1), "a group begins over its first column"
    choice = page.locator("[data-choice=variant]")
    assert choice.locator("option:checked").inner_text() == "Default"
    choice.select_option("first")
    expect(page.locator("[data-formula=output]")).to_have_text("39 as they are")
    assert page.locator(".lens-variant-label").inner_text() == "first · V4"


def test_the_card_says_what_is_seen_and_calls_the_tour(open_page: OpenPage) -> None:
    page = open_page()
    page.click("[data-open=about]")
    card = page.locator("[data-dialog=about]")
    expect(card.locator("[data-about=weights]")).to_contain_text("does not say what they were trained on")
    expect(card.locator("[data-about=pictures]")).to_contain_text("example that this server was started with")
    assert card.locator(".lens-about-strip canvas").count() == 4
    page.click("[data-open=weights]")
    expect(page.locator("[data-dialog=weights]")).to_contain_text("SHA-256")
    page.keyboard.press("Escape")
    page.click("[data-choice=help]")
    page.click("[data-tour=start]")
    tour = page.locator(".lens-tour")
    for step in ("pictures", "flow", "settings", "patch"):
        expect(tour).to_have_attribute("data-step", step)
        assert page.locator(".lens-toured").count() == 1
        page.click("[data-tour=next]")
    expect(tour).to_be_hidden()
    assert page.locator(".lens-toured").count() == 0


def test_a_first_visitor_is_shown_around_once(app: App, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US")
    context.add_init_script("Object.defineProperty(navigator, 'webdriver', { get: () => false })")  # as a person's
    page = context.new_page()
    page.goto(app.url)
    expect(page.locator(".lens-tour")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".lens-tour")).to_be_hidden()
    page.reload()
    page.wait_for_selector(".lens-grid[data-settings]")
    expect(page.locator(".lens-tour")).to_be_hidden()
    context.close()


def test_a_map_fills_the_window_and_arrows_walk_the_panels(open_page: OpenPage) -> None:
    page = open_page(viewport={"width": 1366, "height": 768})
    small = canvas(page, "rgb", "score").bounding_box()
    page.locator(".lens-head[data-panel=score] .lens-head-name").click()
    large = page.locator("canvas[data-focus=score]").bounding_box()
    assert small is not None
    assert large is not None
    assert large["height"] > 4 * small["height"]
    assert page.locator("canvas[data-focus=input]").is_visible(), "the photograph stands beside it"
    assert page.locator("[data-panel=score][data-written=true]").is_visible(), "numbers stand in the patches"
    threshold = page.locator(".lens-focus-facts .lens-hint").inner_text()
    assert threshold.startswith("RGB: 64 of 128 kept; threshold")
    page.mouse.move(large["x"] + large["width"] * 2.5 / 8, large["y"] + large["height"] * 4.5 / 16)
    expect(page.locator(".lens-focus-told")).to_contain_text("Patch row 5, column 3 · value")
    slider(page, "sparse_ratio").press("ArrowRight")
    wait_for_settings(page, sparse_ratio=0.51)
    expect(page.locator(".lens-focus-facts .lens-hint")).to_contain_text("66 of 128 kept")
    page.locator(".lens-focus").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert focus(page) == {"panel": "kept", "modality": "nir", "view": "map"}
    page.keyboard.press("Escape")
    expect(page.locator(".lens-focus")).to_be_hidden()
    assert page.evaluate("() => document.activeElement.closest('.lens-head')?.dataset.panel") == "score"
    point_at(page, "tir", "predictor", 4, 4)
    page.locator(".lens-grid").focus()
    page.keyboard.press("Enter")
    assert focus(page) == {"panel": "predictor", "modality": "tir", "view": "map"}
    page.locator("[data-focus-step=next]").click()  # the tray beside it leaves these to the mouse
    assert focus(page)["panel"] == "score"
    page.locator(".lens-focus-head .lens-icon").last.click()
    expect(page.locator(".lens-focus")).to_be_hidden()
    page.locator("[data-focus-row=nir]").click()
    assert page.locator(".lens-focus canvas").count() == 10
    assert focus(page)["modality"] == "nir"


def test_pictures_and_sliders_stay_in_sight_beside_a_long_tab(open_page: OpenPage) -> None:
    page = open_page("?view=training", viewport={"width": 1366, "height": 768})
    page.wait_for_selector(".lens-training[data-runs]")
    page.locator(".lens-lab").scroll_into_view_if_needed()
    assert page.evaluate("scrollY") > 400
    expect(page.locator(".lens-zones")).to_be_in_viewport()
    expect(slider(page, "sparse_ratio")).to_be_in_viewport()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (683, 384)])  # a phone; a laptop at 200 %
def test_small_screens_show_pictures_first(open_page: OpenPage, width: int, height: int) -> None:
    page = open_page(viewport={"width": width, "height": height})
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    picture = canvas(page, "rgb", "input").bounding_box()
    assert picture is not None
    assert picture["y"] < height, "no scrolling to the first picture"
    tray = page.locator(".lens-controls").bounding_box()
    assert tray is not None
    assert tray["y"] + tray["height"] == pytest.approx(height, abs=1), "the sliders stay in reach"
    assert tray["height"] < height / 3
    assert page.locator("[data-zone=rgb]").is_hidden()
    page.click("[data-choice=drawer]")
    page.locator("[data-example=night]").click()
    page.wait_for_selector("[data-example=night][aria-pressed=true]", state="attached")
    expect(page.locator("[data-zone=rgb]")).to_be_hidden()
    before = pictures(page)
    slider(page, "sparse_ratio").press("ArrowLeft")
    wait_for_settings(page, sparse_ratio=0.49)
    assert pictures(page)["rgb/kept"] != before["rgb/kept"]
    page.locator(".lens-tray-more").click()
    expect(page.locator("[data-choice=variant]")).to_be_visible()
