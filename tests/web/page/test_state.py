"""State that can be trusted and shared: links, Back and Forward, own pictures over a reload, a lost server."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from PIL import Image
from playwright.sync_api import Page, Route, expect

from tests.web.conftest import App, OpenPage
from tests.web.helpers import (
    click_patch,
    explained,
    field,
    show,
    shown_settings,
    slider,
    upload,
    wait_compared,
    wait_for_link,
    wait_for_settings,
    wait_idle,
)


def example(page: Page, name: str) -> None:
    """Open an example and wait for it."""
    page.locator(f"[data-example={name}]").click()
    wait_for_link(page, f"example={name}")
    wait_idle(page)


def tab(page: Page) -> str | None:
    return page.locator("[role=tab][aria-selected=true]").get_attribute("data-view")


def test_a_link_shows_tab_patch_token_and_a_to_somebody_else(open_page: OpenPage) -> None:
    page = open_page("?beta=0.1&example=night", permissions=["clipboard-read", "clipboard-write"])
    click_patch(page, "nir", 3, 2)
    explained(page, modality="nir", patch=26)
    page.locator("[data-token-choice], .lens-token select").first.select_option("2")
    show(page, "compare")
    page.locator("[data-compare=pin]").click()
    field(page, "beta").fill("0.4")
    wait_compared(page, beta=0.4)
    wait_for_link(page, "beta=0.4")
    page.locator("[data-choice=copy]").click()
    expect(page.locator(".lens-notice")).to_have_text("Link copied.")
    link = page.evaluate("() => navigator.clipboard.readText()")
    said = parse_qs(urlsplit(link).query)
    assert said["view"] == ["compare"]
    assert said["patch"] == ["nir-26"]
    assert said["token"] == ["2"]
    assert parse_qs(said["a"][0]) == {"example": ["night"], "beta": ["0.1"]}

    other = open_page(f"?{urlsplit(link).query}")
    wait_compared(other, beta=0.4)
    assert tab(other) == "compare"
    expect(other.locator(".lens-who")).to_contain_text("β 0.1")
    show(other, "selection")
    assert other.locator(".lens-grid.lens-pinned, .lens-pinned").count() > 0
    assert other.locator(".lens-token select").input_value() == "2"


def test_back_and_forward_walk_sets_tabs_and_settled_positions(open_page: OpenPage) -> None:
    page = open_page("?example=day")
    wait_for_link(page, "example=day")
    before = page.evaluate("history.length")
    handle = slider(page, "beta")
    box = handle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(box["x"] + box["width"] * (0.5 + step / 20), box["y"] + box["height"] / 2)
    page.mouse.up()
    beta = float(handle.input_value())
    wait_for_settings(page, beta=beta)
    wait_for_link(page, f"beta={beta}")
    example(page, "night")
    show(page, "variants")
    wait_for_link(page, "view=variants")
    assert page.evaluate("history.length") - before == 3, "a drag is one entry, an example and a tab one each"

    page.go_back()
    expect(page.locator("[data-view=selection]")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.locator("[data-example=day]")).to_have_attribute("aria-pressed", "true")
    wait_idle(page)
    page.go_back()
    wait_for_settings(page, beta=0.25)
    assert handle.input_value() == "0.25"
    page.go_forward()
    wait_for_settings(page, beta=beta)
    page.go_forward()
    expect(page.locator("[data-example=night]")).to_have_attribute("aria-pressed", "true")
    wait_idle(page)
    assert shown_settings(page)["beta"] == beta


def test_a_link_that_cannot_be_honoured_says_so(open_page: OpenPage) -> None:
    page = open_page("?example=gone&sparse=7&view=nowhere&patch=rgb-999&own=abcd12&a=example%3Dnobody")
    errors = page.locator(".lens-errors")
    for words in ("the example gone", "ρ = 7", "the tab nowhere", "a patch or a token", "compares with"):
        expect(errors).to_contain_text(words)
    foreign = open_page("?own=abcd12")
    expect(foreign.locator(".lens-errors")).to_contain_text("stayed in the browser")
    wait_for_link(foreign, "example=day")
    assert "own=" not in foreign.url


def test_own_pictures_outlive_a_reload_until_another_set_is_opened(open_page: OpenPage, app: App) -> None:
    page = open_page()
    upload(page, "rgb", list(app.files("night")))
    expect(page.locator(".lens-notes")).to_contain_text("RGB: rgb.png, told by its name.")
    wait_for_link(page, "own=")
    wait_idle(page)
    page.locator("[data-toggle=nir]").click()
    wait_for_link(page, "missing=nir")
    kept = "async () => (await indexedDB.databases()).length && new Promise((done) => { const o = indexedDB.open('sdtps-lens'); o.onsuccess = () => { const q = o.result.transaction('uploads').objectStore('uploads').getAll(); q.onsuccess = () => { o.result.close(); done(q.result.map((s) => s.files.length).join()); }; }; })"  # noqa: E501 - one expression
    page.wait_for_function(f"({kept})().then((sets) => sets === '3')")
    page.reload()
    page.wait_for_selector(".lens-grid[data-settings]")
    wait_idle(page)
    assert "own=" in page.url
    assert page.locator("[data-zone=tir] img").get_attribute("src").startswith("data:image")  # type: ignore[union-attr]
    expect(page.locator("[data-toggle=nir]")).to_have_attribute("aria-checked", "false")
    expect(page.locator("[data-example][aria-pressed=true]")).to_have_count(0)

    example(page, "day")
    page.wait_for_function(f"({kept})().then((sets) => sets === '')")
    page.go_back()
    wait_for_link(page, "own=")
    wait_idle(page)
    expect(page.locator("[data-example][aria-pressed=true]")).to_have_count(0)


def test_a_server_that_goes_away_has_one_banner_and_the_page_goes_on(open_page: OpenPage) -> None:
    page = open_page(allow="Failed to load resource")
    gone = re.compile(r".*/(gradio_api|health).*")

    def fail(route: Route) -> None:
        route.abort()

    page.route(gone, fail)
    field(page, "beta").fill("0.4")
    banner = page.locator(".lens-connection")
    expect(banner).to_be_visible()
    expect(slider(page, "beta")).to_have_value("0.25")  # what the pictures show
    page.locator("[data-example=night]").click()
    expect(page.locator("[data-example=day]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".lens-errors p")).to_have_count(0)
    page.unroute(gone, fail)
    expect(banner).to_be_hidden()
    expect(page.locator(".lens-notice")).to_have_text("The server is back.")
    field(page, "beta").fill("0.4")
    wait_for_settings(page, beta=0.4)


def test_pictures_dropped_anywhere_are_told_apart_and_a_wide_one_can_be_split(
    open_page: OpenPage, app: App, tmp_path: Path
) -> None:
    page = open_page()
    drop = """async (files) => {
      const data = new DataTransfer();
      for (const [name, url] of files) {
        const blob = await (await fetch(url)).blob();
        data.items.add(new File([blob], name, { type: 'image/png' }));
      }
      const target = document.querySelector('.lens-readout');
      for (const kind of ['dragenter', 'dragover', 'drop']) {
        target.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
        if (kind === 'dragover') window.seen = !document.querySelector('.lens-drop').hidden;
      }
    }"""
    photo = page.evaluate("() => document.querySelector('canvas[data-modality=rgb]').toDataURL()")
    page.evaluate(drop, [["x_thermal.png", photo], ["photo.png", photo], ["x_ni.png", photo], ["more.png", photo]])
    assert page.evaluate("window.seen")
    assert page.locator(".lens-drop").is_hidden()
    notes = page.locator(".lens-notes")
    for words in ("RGB: photo.png, told by its place", "NIR: x_ni.png, told by its name", "TIR: x_thermal.png, told"):
        expect(notes).to_contain_text(words)
    expect(page.locator(".lens-errors")).to_contain_text("files left over: 1")

    wide = tmp_path / "wide.png"
    Image.new("RGB", (384, 256), (90, 60, 30)).save(wide)
    wait_idle(page)
    upload(page, "rgb", str(wide))
    expect(page.locator(".lens-offer")).to_contain_text("RGB is 384 × 256")
    page.locator("[data-split]").click()
    expect(page.locator(".lens-offer")).to_be_hidden()
    wait_idle(page)
    sizes = page.evaluate(
        "() => [...document.querySelectorAll('.lens-zones img')].map((i) => i.naturalWidth / i.naturalHeight)"
    )
    assert sizes == [0.5, 0.5, 0.5]
