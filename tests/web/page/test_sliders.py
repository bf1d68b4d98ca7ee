"""The four sliders: what they change, what they say, and that the last value wins."""

import numpy as np
import pytest

import sdtps
from tests.web.conftest import App, OpenPage
from tests.web.helpers import (
    MODALITIES,
    changed_panels,
    field,
    pictures,
    point_at,
    shown_settings,
    shown_values,
    slider,
    wait_for_link,
    wait_for_settings,
)

pytestmark = pytest.mark.browser

BETA = "attention (similarity) against predictor"
CHANGES = {
    "sparse_ratio": (0.3, {"kept", "aggregation", "frequency"}),
    "aggr_ratio": (0.2, {"aggregation"}),
    "beta": (0.05, {"score", "kept", "aggregation", "soft", "frequency"}),
    "tau": (0.2, {"soft", "frequency"}),
}


def meaning(page, name: str) -> str:
    return page.locator(f".lens-control:has([data-setting={name}]) .lens-meaning").inner_text()


def test_each_slider_changes_its_panels_and_no_others(open_page: OpenPage) -> None:
    page = open_page()
    for name, (value, panels) in CHANGES.items():
        before = pictures(page)
        field(page, name).fill(str(value))
        wait_for_settings(page, **{name: value})
        assert changed_panels(before, pictures(page)) == panels, name
        page.locator(f"[data-reset={name}]").click()
        wait_for_settings(page, **{name: sdtps.Settings().as_dict()[name]})
        assert pictures(page) == before, f"{name}: the reset brings the same picture back"


def test_sliders_say_what_they_mean(open_page: OpenPage) -> None:
    page = open_page()
    assert meaning(page, "sparse_ratio") == "share of patches kept: 64 of 128"
    assert meaning(page, "aggr_ratio") == "kept patches are blended into 25 tokens"
    assert meaning(page, "beta") == f"{BETA}: 0.50 own, 0.25 each other; 0.50 predictor"
    assert "Does not change which patches are kept" in meaning(page, "tau")
    field(page, "sparse_ratio").fill("0.3")
    field(page, "beta").fill("0.1")
    wait_for_settings(page, sparse_ratio=0.3, beta=0.1)
    assert meaning(page, "sparse_ratio") == "share of patches kept: 39 of 128"
    assert meaning(page, "beta") == f"{BETA}: 0.20 own, 0.10 each other; 0.80 predictor"
    field(page, "aggr_ratio").fill("1")
    field(page, "sparse_ratio").fill("1")
    wait_for_settings(page, sparse_ratio=1, aggr_ratio=1)
    assert meaning(page, "aggr_ratio") == "blended into 25 tokens; 128 were asked, but these weights can make 25"
    field(page, "aggr_ratio").fill("0.05")
    field(page, "sparse_ratio").fill("0.05")
    wait_for_settings(page, sparse_ratio=0.05, aggr_ratio=0.05)
    assert meaning(page, "aggr_ratio").startswith("0 tokens: only the extra token")
    page.locator("[data-reset=all]").click()
    wait_for_settings(page, sparse_ratio=0.5, aggr_ratio=0.4, beta=0.25, tau=1)
    assert meaning(page, "sparse_ratio") == "share of patches kept: 64 of 128"


def test_number_field_clamps_and_forgives(open_page: OpenPage) -> None:
    page = open_page()
    field(page, "beta").fill("7")
    field(page, "beta").blur()
    wait_for_settings(page, beta=0.5)
    field(page, "tau").fill("")
    field(page, "tau").blur()
    assert field(page, "tau").input_value() == "1"
    assert shown_settings(page)["tau"] == 1


def test_fast_drag_ends_on_the_last_value_with_few_calls_in_flight(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    flying, most = set(), [0]

    def started(request) -> None:
        if "component_server" in request.url:
            flying.add(request)
            most[0] = max(most[0], len(flying))

    page.on("request", started)
    page.on("requestfinished", lambda request: flying.discard(request))
    page.evaluate(
        """() => new Promise(done => {
          const input = document.querySelector('[data-setting=sparse_ratio]');
          const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
          let step = 0;
          const frame = () => {
            set.call(input, 0.2 + 0.01 * step);
            input.dispatchEvent(new Event('input', {bubbles: true}));
            step += 1;
            if (step <= 53) requestAnimationFrame(frame); else done();
          };
          frame();
        })"""
    )
    wait_for_settings(page, sparse_ratio=0.73)
    assert 1 <= most[0] <= 4
    assert meaning(page, "sparse_ratio") == "share of patches kept: 94 of 128"
    analysis = sdtps.analyse(model, *app.files("day"), sdtps.Settings(sparse_ratio=0.73))
    point_at(page, "rgb", "kept", 3, 3)
    values = shown_values(page)
    for m in MODALITIES:
        assert values[f"{m}/kept"] == analysis[m].rank[27] + 1
        assert np.float32(values[f"{m}/aggregation"]) == analysis[m].aggregation_total[27]


def test_aggregated_token_and_matrix(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    weights = sdtps.analyse(model, *app.files("day"))["rgb"].aggregation_weights
    keep = sdtps.analyse(model, *app.files("day"))["rgb"].keep
    before = pictures(page)
    page.select_option(".lens-token select", "4")
    page.wait_for_function(
        "() => document.querySelector('[data-panel=aggregation] .lens-caption').textContent === 'token 5'"
    )
    page.wait_for_function(
        "old => document.querySelector('canvas[data-modality=rgb][data-panel=aggregation]').toDataURL() !== old",
        arg=before["rgb/aggregation"],
    )
    assert changed_panels(before, pictures(page)) == {"aggregation"}
    row, col = divmod(int(keep[0]), 8)
    point_at(page, "rgb", "aggregation", row, col)
    assert np.float32(shown_values(page)["rgb/aggregation"]) == weights[4, 0]
    page.get_by_role("button", name="Show the whole weight matrix").click()
    matrix = page.locator("canvas[data-matrix=rgb]")
    matrix.wait_for()
    assert matrix.evaluate("c => [c.height, c.width]") == [25, 64]
    box = matrix.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5 / 64, box["y"] + box["height"] * 7.5 / 25)
    assert page.locator(".lens-matrix-readout").inner_text().startswith("RGB token 8:")
    page.mouse.click(box["x"] + box["width"] * 0.5 / 64, box["y"] + box["height"] * 7.5 / 25)
    page.wait_for_function("() => document.querySelector('.lens-token select').value === '7'")
    page.select_option(".lens-token select", "")
    page.wait_for_function(
        "old => document.querySelector('canvas[data-modality=rgb][data-panel=aggregation]').toDataURL() === old",
        arg=before["rgb/aggregation"],
    )


def test_variants_are_explained_and_those_the_weights_lack_cannot_be_chosen(app, open_page: OpenPage, model) -> None:
    page = open_page()
    paper = page.locator("[data-choice=variant] option[value=paper]")
    assert paper.is_disabled()
    assert "needs a second predictor" in paper.inner_text()
    page.select_option("[data-choice=variant]", "open-source")
    wait_for_settings(page, variant="open-source")
    assert "plain sum of cosines" in page.locator(".lens-variant-text").inner_text()
    assert "beta has no effect" in meaning(page, "beta")
    analysis = sdtps.analyse(model, *app.files("day"), sdtps.Settings(variant="open-source"))
    point_at(page, "tir", "score", 0, 0)
    assert np.float32(shown_values(page)["tir/score"]) == analysis["tir"].score[0]
    wait_for_link(page, "variant=open-source")
    assert slider(page, "beta").is_disabled(), "what cannot change anything cannot be moved"
