"""Colours on the page mean their value; what is flat, dropped or missing looks and says so."""

import numpy as np
import pytest
from playwright.sync_api import expect

import sdtps
from scripts.colour_truth import canvas_pixels, choose, page_panels, read_brightness, read_panel
from sdtps.images.read import read_triplet
from sdtps.metrics.flatness import flat_maps
from sdtps.pipeline import OpenSet
from tests.web.conftest import App, OpenPage
from tests.web.helpers import MODALITIES, canvas, changed_panels, click_patch, explained, pictures, wait_for_settings

pytestmark = pytest.mark.browser

HEAT = {"self", "cross1", "cross2", "predictor", "score", "aggregation", "soft", "frequency"}


@pytest.mark.parametrize("example", ["day", "night"])
def test_every_heat_panel_has_the_colours_of_its_bar(app: App, open_page: OpenPage, model, example: str) -> None:
    page = open_page(f"?example={example}", viewport={"width": 1920, "height": 1080})
    opened = OpenSet.of(model, read_triplet(*app.files(example)))
    analysis, photos = opened.analyse(model.settings), opened.prepared.pixels
    for over, most in (("lines", 3), ("relief", 3)):
        choose(page, "over", over)
        found = [read_panel(shown, analysis.grid) for shown in page_panels(page, analysis, photos, over)]
        assert len(found) == 3 * len(HEAT)
        assert max(f.distance for f in found) < most, over
    choose(page, "over", "blend")
    blended = [read_panel(shown, analysis.grid) for shown in page_panels(page, analysis, photos, "blend")]
    assert np.mean([f.distance for f in blended]) > 10, "what the measurement finds where colours are mixed"


@pytest.mark.parametrize("example", ["day", "night", "black-rgb"])
def test_dropped_is_darker_than_kept(app: App, open_page: OpenPage, model, example: str) -> None:
    page = open_page(f"?example={example}")
    analysis = sdtps.analyse(model, *app.files(example))
    for style in ("dim", "black"):
        choose(page, "dropped", style)
        for m in MODALITIES:
            found = read_brightness(m, canvas_pixels(page, m, "kept"), analysis[m].mask, analysis.grid)
            assert found.dropped < found.kept, (style, m)


def test_the_photograph_is_seen_while_a_key_or_button_is_held(open_page: OpenPage) -> None:
    page = open_page()
    maps = pictures(page)
    page.keyboard.down("p")
    seen = pictures(page)
    assert changed_panels(maps, seen) == HEAT | {"kept"}
    assert len({seen[f"rgb/{name}"] for name in (*HEAT, "input", "kept")}) == 1, "all show the photograph"
    page.keyboard.up("p")
    assert pictures(page) == maps
    button = page.get_by_role("button", name="Photo (hold P)")
    button.hover()
    page.mouse.down()
    assert pictures(page) == seen
    expect(button).to_have_attribute("aria-pressed", "true")
    page.mouse.up()
    assert pictures(page) == maps
    page.locator("[data-setting-field=beta]").press("p")
    assert pictures(page) == maps, "typing is not holding"


def test_a_missing_modality_is_collapsed_and_marked(open_page: OpenPage) -> None:
    page = open_page("?missing=nir", viewport={"width": 1700, "height": 800})  # the height is what is short
    row = page.locator(".lens-row[data-modality=nir]")
    expect(row).to_contain_text("No picture: the model gets zeros, this row shows only its prior")
    assert canvas(page, "nir", "score").is_hidden()
    high = canvas(page, "rgb", "score").bounding_box()["height"]
    captions = page.locator(".lens-row[data-modality=rgb] [data-panel=cross1] .lens-caption")
    assert captions.inner_text() == "to NIR: no picture"
    page.locator("[data-prior=nir]").click()
    expect(canvas(page, "nir", "score")).to_be_visible()
    assert canvas(page, "rgb", "score").bounding_box()["height"] < high, "the other rows made room"
    page.locator("[data-prior=nir]").click()
    expect(canvas(page, "nir", "score")).to_be_hidden()
    page.locator("[data-toggle=nir]").click()
    expect(canvas(page, "nir", "score")).to_be_visible()
    assert page.locator("[data-prior=nir]").is_hidden()


def test_flat_maps_are_said_to_be_flat(app: App, open_page: OpenPage, model) -> None:
    """The predictor of these untrained weights hardly tells patches apart."""
    page = open_page("?tau=10")
    wait_for_settings(page, tau=10)
    analysis = sdtps.analyse(model, *app.files("day"), sdtps.Settings(tau=10))
    expected = {(m, n) for m in MODALITIES for n, yes in flat_maps(analysis[m], m, analysis.settings).items() if yes}
    cells = page.locator(".lens-flat canvas").all()
    assert {(c.get_attribute("data-modality"), c.get_attribute("data-panel")) for c in cells} == expected
    for m, name in expected:
        cell = page.locator(f".lens-row[data-modality={m}] figure[data-panel={name}]")
        assert cell.locator(".lens-caption").inner_text() == "flat"
        assert "flat at" in cell.locator(".lens-ends").inner_text()


def test_the_threshold_is_marked_on_the_bar_of_the_score(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    analysis = sdtps.analyse(model, *app.files("day"))
    for m in MODALITIES:
        bar = page.locator(f".lens-row[data-modality={m}] [data-panel=score] .lens-bar")
        box, mark = bar.bounding_box(), bar.locator(".lens-threshold").bounding_box()
        assert box["height"] >= 8
        score, cut = analysis[m].score, analysis[m].threshold
        place = (cut - score.min()) / (score.max() - score.min())
        assert mark["x"] + mark["width"] / 2 - box["x"] == pytest.approx(place * box["width"], abs=1.5)
    assert page.locator(".lens-threshold:visible").count() == 3, "on no other bar"


def test_the_margin_is_what_its_label_says(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    trace = sdtps.analyse(model, *app.files("day"))["rgb"]
    for patch, label, against in (
        (int(trace.keep[0]), "Lead over best dropped", trace.score[trace.drop[0]]),
        (int(trace.drop[-1]), "Gap to threshold", trace.threshold),
    ):
        click_patch(page, "rgb", *divmod(patch, 8))
        panel = explained(page, patch=patch)
        row = panel.locator("tr", has=page.locator("[data-why=margin]")).inner_text()
        assert label in row
        assert f"{trace.score[patch] - against:+.3f}".replace("-", "−") in row
        page.keyboard.press("Escape")
