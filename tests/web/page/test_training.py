"""The Training tab: runs over one another, an epoch in the grid, epochs and runs compared, played, left."""

import re

import pytest
import torch
from PIL import Image
from playwright.sync_api import expect

import sdtps
from tests.harness import serving_app
from tests.runs.doubles import ours
from tests.runs.test_recorder import loop
from tests.web.conftest import App
from tests.web.helpers import canvas, pictures, slider, wait_for_settings


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two recorded trainings of a tiny model; the second ends in a loss that is no number."""
    folder = tmp_path_factory.mktemp("runs")
    sets = folder / "set"
    sets.mkdir()
    for i, m in enumerate(("rgb", "nir", "tir")):
        Image.linear_gradient("L").resize((128, 256)).rotate(90 * i).convert("RGB").save(sets / f"{m}.png")
    for name, variant in (("calm", "final"), ("wild", "importance")):
        torch.manual_seed(0)
        model = ours(variant=variant)
        with sdtps.Recorder(folder / name, model, probe=[sets], about={"name": name}) as recorder:
            loop(recorder, model, steps=8)
            if name == "wild":
                recorder.step(loss=float("nan"))
    with (folder / "wild" / "steps.jsonl").open("a") as stream:
        stream.write('{"step": 9, "lo')  # killed in the middle of a line
    return folder / "calm", folder / "wild"


@pytest.fixture(scope="module")
def app(runs):
    """The app with the two runs and the embedded model."""
    listed = [part for run in runs for part in ("--run", str(run))]
    with serving_app(*listed, "--device", "cpu") as url:
        yield App(url, *(None,) * 4, {})


@pytest.fixture
def page(open_page):
    page = open_page()
    page.locator("[data-view=training]").click()
    page.wait_for_selector("[data-curve=loss]")
    return page


def show(page, place):
    """Open the first run by its curve, then move the slider."""
    if page.locator(".lens-epochs").is_hidden():
        page.locator("[data-curve=loss] .lens-pick").click()
        page.wait_for_selector("[data-shown]")
    page.locator("[data-epoch]").fill(str(place))
    expect(page.locator(".lens-epochs")).to_have_attribute("data-shown", f"0/{place}/0")


def test_runs_lie_over_one_another_and_what_is_wrong_is_said(page):
    expect(page.locator("[data-run-shown]")).to_have_count(2)
    expect(page.locator("[data-curve=loss] path.lens-line")).to_have_count(2)
    said = page.locator("[data-rule=not_finite]")
    expect(said).to_contain_text("wild: loss is no number from step 8")
    expect(page.locator("[data-note=wild]")).to_contain_text("the recording was cut off there")
    page.locator("[data-run-shown=wild]").uncheck()
    expect(page.locator("[data-curve=loss] path.lens-line")).to_have_count(1)
    expect(said).to_have_count(0)


def test_the_epoch_slider_drives_the_grid(page):
    show(page, 0)
    page.locator("[data-view=selection]").click()
    expect(canvas(page, "rgb", "kept")).to_be_visible()
    before = pictures(page)
    show(page, 3)
    page.wait_for_function(
        "before => document.querySelector('canvas[data-modality=rgb][data-panel=predictor]').toDataURL() !== before",
        arg=before["rgb/predictor"],
    )
    assert pictures(page)["rgb/input"] == before["rgb/input"]  # the picture is the same
    slider(page, "sparse_ratio").fill("0.25")
    wait_for_settings(page, sparse_ratio=0.25)
    show(page, 1)  # moved sliders stay where they are
    wait_for_settings(page, sparse_ratio=0.25)


def test_two_epochs_and_two_runs_are_compared(page):
    show(page, 0)
    page.locator("[data-view=compare]").click()
    page.locator("[data-compare=pin]").click()
    show(page, 3)
    expect(page.locator(".lens-who")).to_contain_text("calm, epoch 0")
    expect(page.locator(".lens-who")).to_contain_text("calm, epoch 3")
    page.wait_for_selector("[data-compared]")
    page.locator("[data-epoch-run]").select_option("1")
    expect(page.locator(".lens-who")).to_contain_text("wild, epoch 3")
    page.wait_for_selector("[data-compared]")


def test_a_link_shows_the_epoch_and_the_sliders_of_its_sender(page, open_page):
    show(page, 2)
    page.locator("[data-view=selection]").click()
    slider(page, "sparse_ratio").fill("0.25")
    wait_for_settings(page, sparse_ratio=0.25)
    page.wait_for_url(re.compile(r"(?=.*sparse=0\.25)(?=.*run=calm&epoch=2)"))
    sent = page.url.partition("?")[2]
    other = open_page(f"?{sent}")
    expect(other.locator(".lens-epochs")).to_have_attribute("data-shown", "0/2/0")
    wait_for_settings(other, sparse_ratio=0.25)
    thresholds = [p.locator("[data-panel=score] .lens-caption").all_inner_texts() for p in (page, other)]
    assert thresholds[0] == thresholds[1] != []
    gone = open_page("?run=nobody&epoch=2")
    expect(gone.locator(".lens-errors")).to_contain_text("no epoch 2 of a run nobody")
    expect(canvas(gone, "rgb", "kept")).to_be_visible()


def test_a_run_plays_to_its_end(page):
    show(page, 0)
    page.locator("[data-epoch-play]").click()
    expect(page.locator(".lens-epochs")).to_have_attribute("data-shown", "0/3/0")
    expect(page.locator("[data-epoch-play]")).to_have_text("Play")


def test_back_to_the_model(page):
    show(page, 2)
    expect(page.locator(".lens-header, header").first).to_contain_text("calm, epoch 2")
    page.locator("[data-epoch-leave]").click()
    expect(page.locator(".lens-epochs")).to_be_hidden()
    page.locator("[data-view=selection]").click()
    expect(canvas(page, "rgb", "aggregation")).to_be_visible()
    assert "recorded" not in page.url


def test_what_needs_weights_says_so(page):
    show(page, 1)
    page.locator("[data-view=gradients]").click()
    expect(page.locator(".lens-gradients")).to_contain_text("holds maps and no weights")


def test_the_side_panel_says_what_is_shown(page):
    chosen = page.locator("[data-example][aria-pressed=true]")
    expect(chosen).to_have_count(1)
    show(page, 2)
    expect(chosen).to_have_count(0)
    expect(page.locator(".lens-notes")).to_contain_text("The set that the run calm watched.")
    page.locator("[data-epoch-leave]").click()
    expect(chosen).to_have_count(1)
    expect(page.locator(".lens-notes")).not_to_contain_text("watched")


def chart_text(page):
    """Size of the letters on the screen, and width of the chart."""
    return page.locator("[data-curve=loss] svg").evaluate(
        """svg => [svg.querySelector('.lens-tick').getBoundingClientRect().height,
          Math.round(svg.getBoundingClientRect().width)]"""
    )


def test_the_text_of_a_chart_keeps_its_size(page):
    seen = {}
    for width, height in ((1366, 768), (1920, 1080), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(
            """() => { const place = document.querySelector('[data-curve=loss] .lens-fitted');
              return place.firstChild && Number(place.firstChild.getAttribute('width')) === place.clientWidth; }"""
        )
        letters, chart = chart_text(page)
        seen[chart] = letters
    assert len(seen) == 3, "the chart takes the room it has"
    assert max(seen.values()) - min(seen.values()) < 0.5


def test_pointing_at_a_curve_moves_nothing_and_names_the_runs(page):
    chart = page.locator("[data-curve=loss]")
    before = chart.bounding_box()
    chart.locator(".lens-pick").hover()
    said = chart.locator(".lens-run-values")
    expect(said).to_contain_text("calm")
    expect(said).to_contain_text("wild")
    assert chart.bounding_box() == before
    page.mouse.move(0, 0)
    expect(said).to_be_hidden()
