"""One patch in every panel: hover, pin, arrow keys, and that its numbers are those of `analyse()`."""

import numpy as np
import pytest

import sdtps
from tests.web.conftest import App, OpenPage
from tests.web.helpers import MODALITIES, PANELS, canvas, point_at, shown_values

pytestmark = pytest.mark.browser


def hairs(page) -> list[tuple[int, int]]:
    """Row and column of the cross-hair in each visible panel."""
    return [
        tuple(pair)
        for pair in page.evaluate(
            """() => [...document.querySelectorAll('.lens-hair')]
              .filter(h => h.getClientRects().length && getComputedStyle(h).visibility === 'visible')
              .map(h => { const p = h.parentElement.getBoundingClientRect(), b = h.getBoundingClientRect();
                return [Math.round((b.top - p.top) / p.height * 16), Math.round((b.left - p.left) / p.width * 8)]; })"""
        )
    ]


def test_hover_shows_the_patch_in_every_panel_with_the_numbers_of_analyse(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    analysis = sdtps.analyse(model, *app.files("day"))
    for row, col in ((0, 0), (9, 4), (15, 7)):
        point_at(page, "nir", "cross1", row, col)
        assert hairs(page) == [(row, col)] * 30
        patch, values = row * 8 + col, shown_values(page)
        for m in MODALITIES:
            trace, (first, second) = analysis[m], sdtps.Modality(m).others
            expected = {
                "input": trace.token_norm,
                "self": trace.self_attention,
                "cross1": trace.cross_attention[first],
                "cross2": trace.cross_attention[second],
                "predictor": trace.predictor,
                "score": trace.score,
                "aggregation": trace.aggregation_total,
                "soft": trace.soft_mask,
                "frequency": trace.selection_frequency,
            }
            for panel, array in expected.items():
                assert np.float32(values[f"{m}/{panel}"]) == array[patch], (m, panel)
            assert values[f"{m}/kept"] == trace.rank[patch] + 1
        text = page.locator(".lens-readout").inner_text()
        assert f"Patch row {row + 1}, column {col + 1}" in text
        assert f"NIR cosines: own {analysis['nir'].raw_self_attention[patch]:.3f}" in text
    page.mouse.move(640, 60)
    assert hairs(page) == []


def test_readout_does_not_move_the_grid(open_page: OpenPage) -> None:
    page = open_page()
    still = canvas(page, "tir", "kept").bounding_box()
    point_at(page, "rgb", "score", 5, 5)
    assert canvas(page, "tir", "kept").bounding_box() == still


def test_click_pins_and_escape_lets_go(open_page: OpenPage) -> None:
    page = open_page()
    point_at(page, "rgb", "score", 4, 2)
    page.mouse.down()
    page.mouse.up()
    point_at(page, "rgb", "score", 10, 6)
    assert hairs(page) == [(4, 2)] * 30, "a pinned patch stays while the mouse moves on"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert hairs(page) == [(5, 3)] * 30
    page.keyboard.press("Escape")
    assert hairs(page) == []


def test_every_panel_is_named_for_scripts_and_screen_readers(open_page: OpenPage) -> None:
    page = open_page()
    for m in MODALITIES:
        for panel in PANELS:
            node = canvas(page, m, panel)
            assert node.count() == 1
            assert node.get_attribute("role") == "img"
            assert (node.get_attribute("aria-label") or "").startswith(m.upper())
    assert "from 0 to 1.00" in (canvas(page, "rgb", "self").get_attribute("aria-label") or "")
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('.lens input, .lens select, .lens button')].filter(e =>
          !(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length)))
          .map(e => e.outerHTML)"""
    )
    assert unnamed == []


def test_column_heads_explain_themselves(open_page: OpenPage) -> None:
    page = open_page()
    for panel in PANELS:
        head = page.locator(f".lens-head[data-panel={panel}]")
        head.locator(".lens-head-name").focus()
        tip = head.locator(".lens-tip")
        tip.wait_for(state="visible")
        assert len(tip.locator("p").first.inner_text()) > 30
        assert panel == "input" or tip.locator(".lens-equation").inner_text()
    page.locator(".lens-head[data-panel=score] .lens-head-name").hover()
    assert "(1 − 2β)" in page.locator(".lens-head[data-panel=score] .lens-equation").inner_text()
