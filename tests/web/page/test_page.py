"""Display options, links, languages, dark mode, keyboard, sizes."""

import pytest

from tests.web.conftest import App, OpenPage
from tests.web.helpers import (
    PANELS,
    canvas,
    changed_panels,
    pictures,
    shown_settings,
    slider,
    wait_for_link,
    wait_for_settings,
)

pytestmark = pytest.mark.browser

HEAT = {"self", "cross1", "cross2", "predictor", "score", "aggregation", "soft", "frequency"}


def ends(page, panel: str) -> list[str]:
    return page.locator(f".lens-cell[data-panel={panel}] .lens-ends").all_inner_texts()


def test_display_options(open_page: OpenPage) -> None:
    page = open_page()
    plain = pictures(page)
    page.locator("[data-option=smooth] input[value=smooth]").check()
    assert changed_panels(plain, pictures(page)) == HEAT
    page.locator("[data-option=smooth] input[value=squares]").check()
    assert pictures(page) == plain
    opacity = page.locator("input[data-option=opacity]")
    assert opacity.is_hidden(), "it means something only where maps are mixed"
    for over in ("relief", "blend"):
        page.locator(f"[data-option=over] input[value={over}]").check()
        assert changed_panels(plain, pictures(page)) == HEAT
    page.get_by_text("Colours are mixed with the photograph").wait_for()
    mixed = pictures(page)
    opacity.fill("0.2")
    assert changed_panels(mixed, pictures(page)) == HEAT
    wait_for_link(page, "opacity=0.2")
    page.locator("[data-option=over] input[value=lines]").check()
    assert pictures(page) == plain
    page.select_option("[data-option=colormap]", "inferno")
    assert changed_panels(plain, pictures(page)) == HEAT
    page.select_option("[data-option=colormap]", "viridis")
    page.locator("[data-option=dropped] input[value=black]").check()
    assert changed_panels(plain, pictures(page)) == {"kept", "aggregation"}
    page.locator("[data-option=dropped] input[value=dim]").check()
    assert ends(page, "predictor")[0] != ends(page, "predictor")[1]
    page.locator("[data-option=scale] input[value=shared]").check()
    assert ends(page, "predictor") == ["0\n1.00"] * 3
    assert ends(page, "score") == ["0\n1.50"] * 3
    assert "predictor" in changed_panels(plain, pictures(page))
    wait_for_link(page, "scale=shared")


def test_squares_are_hard(open_page: OpenPage) -> None:
    """Within a patch of a fully opaque map there is one colour."""
    page = open_page("?opacity=1")
    colours = canvas(page, "rgb", "score").evaluate(
        """c => { const x = c.getContext('2d'), w = c.width / 8, h = c.height / 16, seen = new Set();
          const left = Math.round(3 * w) + 1, top = Math.round(5 * h) + 1;
          const d = x.getImageData(left, top, Math.floor(w) - 2, Math.floor(h) - 2).data;
          for (let i = 0; i < d.length; i += 4) seen.add(d.slice(i, i + 3).join()); return seen.size; }"""
    )
    assert colours == 1


def test_link_restores_settings_and_example(open_page: OpenPage) -> None:
    page = open_page(
        "?example=night&sparse=0.3&aggr=0.6&beta=0.1&tau=2.5&variant=importance&colormap=cividis&missing=tir"
    )
    expected = {"sparse_ratio": 0.3, "aggr_ratio": 0.6, "beta": 0.1, "tau": 2.5, "variant": "importance"}
    wait_for_settings(page, **expected)
    assert page.locator("[data-example=night]").get_attribute("aria-pressed") == "true"
    assert page.locator("[data-option=colormap]").input_value() == "cividis"
    assert page.locator("[data-toggle=tir]").get_attribute("aria-checked") == "false"
    shown = pictures(page)
    slider(page, "beta").press("ArrowRight")
    wait_for_settings(page, beta=0.11)
    wait_for_link(page, "beta=0.11")
    link = page.url.split("/", 3)[3]
    again = open_page(link)
    assert shown_settings(again) == expected | {"beta": 0.11}
    assert pictures(again) == pictures(page) != shown


@pytest.mark.parametrize(("part", "wide"), [("controls", 1100), ("heads", 1280)])
def test_pictures_make_room_for_texts_that_grow(open_page: OpenPage, part: str, wide: int) -> None:
    """Lines wrap in another language or at another slider position, and a font that comes late changes their height."""
    page = open_page("?example=day", viewport={"width": wide, "height": 800})  # the sliders stand above or beside
    wide = canvas(page, "rgb", "input").evaluate("c => c.width")
    for more, compare in ((60, "<"), (None, "===")):
        page.locator(f".lens-{part}").evaluate(
            "(node, more) => { node.style.minHeight = more && `${node.offsetHeight + more}px`; }", more
        )
        if part == "heads":  # what a font changes is noticed when it has come
            page.evaluate("() => document.fonts.dispatchEvent(new Event('loadingdone'))")
        script = f"wide => document.querySelector('canvas[data-panel=input]').width {compare} wide"
        page.wait_for_function(script, arg=wide)
    assert canvas(page, "rgb", "input").evaluate("c => c.width") == wide


def test_nonsense_in_a_link_is_clamped_and_said(open_page: OpenPage) -> None:
    page = open_page("?example=../../etc&sparse=NaN&beta=99&tau=-1&variant=<b>&colormap=x&missing=rgb,nir,tir&fit=y")
    assert shown_settings(page) == {
        "sparse_ratio": 0.5, "aggr_ratio": 0.4, "beta": 0.5, "tau": 0.05, "variant": "final",
    }  # fmt: skip
    assert page.locator("[data-error]").count() == 4  # the example, two numbers out of range, the variant


def test_chinese_by_browser_language_and_by_switch(open_page: OpenPage) -> None:
    page = open_page(locale="zh-CN")
    assert "128 个中的 64 个" in page.locator(".lens-controls").inner_text()
    assert "融合分数" in page.locator(".lens-heads").inner_text()
    assert page.locator("[data-example=day]").inner_text() == "白天"
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    for m in ("rgb", "nir", "tir"):
        page.locator(f"[data-toggle={m}]").click()
    page.locator("[data-error=page]").wait_for()
    assert page.locator("[data-error=page]").inner_text().strip() == "三张图像都缺失；请至少给一张。"
    page.locator("[data-choice=language]").click()
    assert "All three images are missing" in page.locator("[data-error=page]").inner_text()
    assert "share of patches kept: 64 of 128" in page.locator(".lens-controls").inner_text()
    page.reload()
    page.wait_for_selector(".lens-grid[data-settings], [data-error]")
    assert "Score" in page.locator(".lens-heads").inner_text(), "the choice is remembered"


def test_dark_mode_follows_the_system_and_the_link(open_page: OpenPage) -> None:
    brightness = (
        "() => getComputedStyle(document.querySelector('.lens')).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    page = open_page()
    assert min(page.evaluate(brightness)) > 200
    page.locator("[data-choice=theme]").click()
    assert max(page.evaluate(brightness)) < 60
    assert max(open_page(color_scheme="dark").evaluate(brightness)) < 60
    assert max(open_page("?__theme=dark").evaluate(brightness)) < 60


def test_keyboard_only(open_page: OpenPage) -> None:
    page = open_page()

    def tab_to(selector: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(f"Tab never reached {selector}")

    tab_to("[data-zone=rgb] input")
    tab_to("[data-example=night]")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-example=night][aria-pressed=true]")
    tab_to("[data-setting=sparse_ratio]")
    page.keyboard.press("ArrowRight")
    wait_for_settings(page, sparse_ratio=0.51)
    tab_to("[data-setting=tau]")
    page.keyboard.press("ArrowLeft")
    wait_for_settings(page, tau=0.977)
    tab_to(".lens-grid")
    page.keyboard.press("ArrowUp")
    assert page.locator(".lens-grid").get_attribute("data-patch") == str(8 * 8 + 4)
    page.keyboard.press("ArrowUp")
    assert page.locator(".lens-grid").get_attribute("data-patch") == str(7 * 8 + 4)
    assert "Patch row 8, column 5" in page.locator(".lens-readout").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".lens-grid").get_attribute("data-patch") is None


@pytest.mark.parametrize(("width", "height", "least"), [(1280, 800, 70), (1920, 1080, 110)])
def test_whole_grid_without_scrolling(open_page: OpenPage, width: int, height: int, least: int) -> None:
    page = open_page(viewport={"width": width, "height": height})
    size = page.evaluate("() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert size == [width, height]
    for panel in PANELS:
        box = canvas(page, "tir", panel).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < height
        assert box["x"] + box["width"] < width
        assert box["width"] >= least


def test_phone_shows_one_modality_at_a_time(open_page: OpenPage) -> None:
    page = open_page(viewport={"width": 390, "height": 844}, device_scale_factor=2, has_touch=True)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    assert canvas(page, "rgb", "score").is_visible()
    assert canvas(page, "tir", "score").is_hidden()
    page.locator(".lens-tabs [data-modality=tir]").tap()
    assert canvas(page, "tir", "score").is_visible()
    assert canvas(page, "rgb", "score").is_hidden()


def test_weights_are_named_at_all_times(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    header = page.locator(".lens-header")
    assert model.weights.short_hash in header.inner_text()
    assert header.locator(".lens-badge").inner_text() == "loaded completely"
    assert header.locator("[data-choice=weights] option:checked").inner_text() == "person.safetensors"
