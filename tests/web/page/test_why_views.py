"""Compare, sweep, variants, gradients and faithfulness in Chromium: every number is the library's."""

import numpy as np
import pytest
from playwright.sync_api import Route, expect

import sdtps
from sdtps import metrics
from sdtps.images.read import read_triplet
from sdtps.pipeline import OpenSet
from tests.web.conftest import App, OpenPage
from tests.web.helpers import MODALITIES, field, show, value_of, wait_compared, wait_for_settings

pytestmark = pytest.mark.browser

# The colour between the lines: the brightest pixel of the upper left patch.
FREE_COLOUR = """c => {
  const { data } = c.getContext('2d').getImageData(0, 0, c.width / 8, c.height / 16);
  const pixels = Array.from({ length: data.length / 4 }, (_, i) => [...data.slice(4 * i, 4 * i + 3)]);
  return pixels.reduce((a, b) => (b[0] + b[1] + b[2] > a[0] + a[1] + a[2] ? b : a)); }"""


def test_pin_and_compare(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "compare")
    page.get_by_text("Keep what is on screen as A, then change anything").wait_for()
    page.locator("[data-compare=pin]").click()
    wait_compared(page, beta=0.25)
    facts = page.locator("[data-facts=rgb]")
    assert facts.locator("[data-fact=corrected]").inner_text() == "1.000"
    field(page, "sparse_ratio").fill("0.3")
    wait_compared(page, sparse_ratio=0.3)
    a, b = (sdtps.analyse(model, *app.files("day"), sdtps.Settings(sparse_ratio=r)) for r in (0.5, 0.3))
    expected = metrics.compare(a, b)
    for m in MODALITIES:
        change = expected.modalities[m]
        facts = page.locator(f"[data-facts={m}]")
        expected_facts = {
            "entered": str(len(change.entered)),
            "left": str(len(change.left)),
            "jaccard": f"{change.overlap.jaccard:.3f}",
            "corrected": f"{change.overlap.corrected:.3f}",
        }
        assert {name: facts.locator(f"[data-fact={name}]").inner_text() for name in expected_facts} == expected_facts
    assert page.locator("[data-total=feature] b").inner_text() == f"{expected.feature_cosine:.4f}"
    limit = max(np.abs(c.differences["score"]).max() for c in expected.modalities.values())
    assert limit == 0, "the score does not depend on the sparse ratio"
    assert page.get_by_text("no difference").count() == 3
    middle = page.locator("canvas[data-difference=rgb]").evaluate(FREE_COLOUR)
    assert max(middle) - min(middle) <= 4, "no difference is neutral"
    assert min(middle) > 235
    field(page, "beta").fill("0.5")
    wait_compared(page, beta=0.5)
    ends = page.locator(".lens-compare .lens-numbered .lens-ends").first.inner_text().split()
    assert ends[0].startswith("−")
    assert ends[1] == "0"
    assert ends[2] == ends[0].replace("−", "+"), "a scale around zero"
    b = sdtps.analyse(model, *app.files("day"), sdtps.Settings(sparse_ratio=0.3, beta=0.5))
    climbed = max(abs(c.climbed).max() for c in metrics.compare(a, b).modalities.values())
    assert page.locator("[data-compare=map]").input_value() == "ranks", "the scores have other bounds"
    assert ends[2] == f"+{climbed}"
    page.select_option("[data-compare=map]", "score")
    assert page.locator(".lens-compare .lens-numbered .lens-ends").first.inner_text().split()[2] != f"+{climbed}"


def test_compare_another_triplet_and_another_grid(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "compare")
    page.locator("[data-compare=pin]").click()
    wait_compared(page)
    page.locator("[data-example=night]").click()
    day, night = (sdtps.analyse(model, *app.files(name)) for name in ("day", "night"))
    expected = f"{metrics.compare(day, night).sdtps_cosine:.4f}"
    page.wait_for_function("text => document.querySelector('[data-total=sdtps] b')?.textContent === text", arg=expected)
    page.select_option("[data-choice=weights]", label="vehicle.safetensors")
    page.get_by_text("A and B have different grids").wait_for()
    page.locator("[data-compare=clear]").click()
    page.get_by_text("Keep what is on screen as A, then change anything").wait_for()


def test_sweep_click_goes_there(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "compare")
    page.wait_for_selector("[data-sweep]")
    curves = [node.get_attribute("data-curve") for node in page.locator("[data-curve]").all()]
    assert curves == ["precision", "cosine"], "Jaccard against the sparse ratio alone is arithmetic"
    page.locator("[data-option=sweep] input[value=beta]").check()
    page.wait_for_function("() => JSON.parse(document.querySelector('[data-sweep]').dataset.sweep).name === 'beta'")
    curves = [node.get_attribute("data-curve") for node in page.locator("[data-curve]").all()]
    assert curves == ["jaccard", "precision", "cosine"], "a mask is known for the examples"
    area = page.locator("[data-curve=cosine] .lens-pick")
    box = area.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    assert "Beta 0.4" in page.locator(".lens-split .lens-sweep-readout").inner_text()
    page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    wait_for_settings(page, beta=0.4)
    assert field(page, "beta").input_value() == "0.4"
    page.wait_for_function("() => JSON.parse(document.querySelector('[data-sweep]').dataset.sweep).now === 0.4")


def test_variant_table(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "variants")
    page.wait_for_selector("[data-variants]")
    names = [c.get_attribute("data-variant") for c in page.locator("article[data-variant]").all()]
    assert names == list(sdtps.VARIANTS)
    paper = page.locator("article[data-variant=paper]")
    assert "needs a second predictor and weight network" in paper.inner_text()
    assert paper.locator("[data-use]").is_disabled()
    first, second = (
        sdtps.analyse(model, *app.files("day"), sdtps.Settings(variant=v)) for v in ("final", "open-source")
    )
    change = metrics.compare(first, second).modalities["tir"]
    shown = page.locator("article[data-variant=open-source] [data-jaccard=tir]").inner_text()
    assert shown == f"+{len(change.entered)} −{len(change.left)} · Jaccard {change.overlap.jaccard:.2f}"
    assert "keeps the same patches" in page.locator("article[data-variant=complete-gumbel]").inner_text()
    page.locator("[data-use=importance]").click()
    wait_for_settings(page, variant="importance")
    page.wait_for_selector("[data-variants=importance]")
    assert page.locator("article.lens-current").get_attribute("data-variant") == "importance"


def test_gradient_view_tells_the_story_with_live_numbers(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "gradients")
    page.wait_for_selector("[data-gradients]")
    notes = [n.get_attribute("data-note") for n in page.locator("[data-note]").all()]
    assert notes == ["n0", "n1", "n2", "n3", "n4", "means", "effects"]
    assert (
        "in 64 noise draws the decision D differed from the noiseless one at 0 patches"
        in page.locator("[data-note=n0]").inner_text()
    )
    expected = metrics.triplet_gradients(OpenSet.of(model, read_triplet(*app.files("day"))), sdtps.Settings())
    kinds = {"final": "final", "importance": "importance", "gumbel-tau1": "gumbel1", "gumbel-tau5": "gumbel5"}
    for key, kind in kinds.items():
        dot = page.locator(f"circle[data-dot={kind}][data-row=predictor]")
        assert value_of(dot) == pytest.approx(expected.flow(key).norms["predictor"], rel=1e-3)
    page.locator("[data-option='gradient.cosines'] input[value=cut]").check()
    dot = page.locator("circle[data-dot=final][data-row=globals]")
    assert value_of(dot) == 0.0
    page.locator("[data-option='gradient.source'] input[value=reference]").check()
    dots = {kind: value_of(page.locator(f"circle[data-dot={kind}][data-row=predictor]")) for kind in kinds.values()}
    assert dots["final"] < dots["importance"] < dots["gumbel5"] < dots["gumbel1"]
    assert page.locator("canvas[data-gradient]").count() == 9 * 3
    field(page, "sparse_ratio").fill("0.3")
    page.wait_for_function("() => document.querySelector('[data-gradients]').dataset.gradients.includes('0.3,')")
    assert "would be 40 tokens" in page.locator("[data-note=n1]").inner_text()
    expect(page.locator("li[data-effect=ste-tokens]")).to_contain_text("In the lab:")
    page.locator("[data-see-training=all]").click()
    expect(page.locator("[data-run-shown='ste-tokens-s0']")).to_be_checked()
    expect(page.locator("[data-run-shown='relaxed-s0']")).not_to_be_checked()
    expect(page.locator("[data-lab=no-grad]")).to_have_attribute("data-verdict", "contradicts")


def test_gradients_can_be_cancelled_and_come_with_the_next_change(open_page: OpenPage) -> None:
    page = open_page()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if not held and "why.gradients" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/component_server/", hold)
    show(page, "gradients")
    page.locator("[data-gradient-cancel]").click()
    held[0].continue_()
    page.get_by_text("cancelled", exact=True).wait_for()
    assert page.locator("[data-gradients]").count() == 0
    assert page.locator("[data-gradient-cancel]").is_hidden()
    field(page, "sparse_ratio").fill("0.3")
    page.wait_for_selector("[data-gradients]")
    assert "0.3," in (page.locator("[data-gradients]").get_attribute("data-gradients") or "")


def test_faithfulness_run_stale_and_cancel(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "faithfulness")
    page.get_by_text("Does the selection beat chance?").wait_for()
    page.locator("[data-faith=run]").click()
    page.get_by_role("progressbar", name="Measuring …").wait_for()
    page.wait_for_selector("[data-report]")
    report = metrics.measure_faithfulness(OpenSet.of(model, read_triplet(*app.files("day"))))
    for m in MODALITIES:
        for kind in ("insertion", "deletion"):
            shown = value_of(page.locator(f"[data-area={m}-{kind}]"))
            curve = getattr(report.removal[m]["whole"], kind)
            assert shown == pytest.approx(curve.area, rel=1e-5)
            line = page.locator(f"[data-area={m}-{kind}]").inner_text()
            low = f"{curve.lead_low:+.{curve.digits}f}".replace("-", "−")
            assert low in line, "the verdict follows from the number that is shown"
            verdict = page.locator(f"[data-verdict={m}-{kind}]").inner_text()
            assert verdict == ("beats random order" if low.startswith("+") else "does not beat random order")
            centre = page.locator(f"[data-centre={m}-{kind}]").inner_text()
            assert centre == ("beats the centre prior" if curve.beats_centre else "does not beat the centre prior")
    assert page.locator("path.lens-better").count() == 6, "each chart says which way is good"
    assert page.locator("path.lens-line.lens-centre").count() == 6
    stale = page.locator("[data-faith=stale]")
    assert stale.is_hidden()
    field(page, "tau").fill("3")
    wait_for_settings(page, tau=3)
    assert stale.is_hidden(), "tau changes none of it"
    field(page, "sparse_ratio").fill("0.3")
    wait_for_settings(page, sparse_ratio=0.3)
    stale.wait_for()
    assert value_of(page.locator("[data-area=rgb-insertion]")) == pytest.approx(
        report.removal["rgb"]["whole"].insertion.area, rel=1e-5
    ), "the result stays"
    page.locator("[data-option='faith.target'] input[value=person]").check()
    page.get_by_text("Cosine with the feature of the person's patches alone").wait_for()
    page.locator("[data-faith=run]").click()
    page.locator("[data-faith=cancel]").click()
    page.get_by_text("cancelled", exact=True).wait_for()
    assert page.locator("[data-faith=run]").is_enabled()
    assert stale.is_visible(), "a cancelled run changes nothing"
    field(page, "sparse_ratio").fill("0.5")
    wait_for_settings(page, sparse_ratio=0.5)
    stale.wait_for(state="hidden")
