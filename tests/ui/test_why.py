"""Why this patch, and does it beat chance: the panel over the side bar, and the four views beside the grid."""

import json

import numpy as np
import pytest

import sdtps
from sdtps import metrics
from sdtps.inputs import prepare, read_triplet
from sdtps.pipeline import encode
from tests.ui.conftest import App, OpenPage
from tests.ui.helpers import MODALITIES, canvas, field, point_at, shown_settings, wait_for_settings, wait_idle

pytestmark = pytest.mark.browser
READY = {"compare": "[data-sweep]", "variants": "[data-variants]", "gradients": "[data-gradients]"}


def click_patch(page, modality: str, row: int, col: int, panel: str = "score") -> None:
    point_at(page, modality, panel, row, col)
    page.mouse.down()
    page.mouse.up()


def explained(page, **about):
    """The panel, once it is about this."""
    page.wait_for_function(
        """about => { const text = document.querySelector('.lens-why').dataset.about;
          return text && Object.entries(about).every(([k, v]) => JSON.parse(text)[k] === v); }""",
        arg=about,
    )
    return page.locator(".lens-why")


def value_of(node) -> float:
    return float(node.get_attribute("data-value"))


def show(page, view: str) -> None:
    page.locator(f"[data-view={view}]").click()


def wait_compared(page, **settings) -> None:
    page.wait_for_function(
        """expected => { const node = document.querySelector('[data-compared]');
          const shown = node ? JSON.parse(node.dataset.compared) : {};
          return node && Object.entries(expected).every(([k, v]) => shown[k] === v); }""",
        arg=settings,
    )


def test_click_a_patch_and_read_why(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    before = canvas(page, "tir", "frequency").bounding_box()
    click_patch(page, "nir", 9, 4)
    panel = explained(page, modality="nir", patch=76)
    found = metrics.patch_provenance(sdtps.analyse(model, *app.files("day")), "nir", 76)
    shares = [value_of(row) for row in panel.locator("[data-part] [data-value]").all()]
    assert shares == pytest.approx([p.share for p in found.parts], rel=1e-6)
    assert value_of(panel.locator("[data-why=score]")) == pytest.approx(found.score, rel=1e-6)
    verdict = panel.locator("[data-why=verdict]").inner_text()
    assert f"rank {found.rank + 1} of 128" in verdict
    assert verdict.lower().startswith("kept" if found.kept else "dropped")
    assert f"{abs(found.margin):.3f}" in panel.locator("[data-why=margin]").inner_text()
    assert "not an outlier" in panel.locator("[data-why=norm]").inner_text()
    chips = panel.locator("[data-why=kept-in]").inner_text()
    for m in ("rgb", "tir"):
        assert f"{m.upper()} {'kept' if found.kept_in[m] else 'dropped'}" in chips
    assert canvas(page, "tir", "frequency").bounding_box() == before, "the panel moves nothing"
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "and needs no scrolling"


def test_the_panel_follows_modality_arrows_and_sliders_and_closes(open_page: OpenPage) -> None:
    page = open_page()
    click_patch(page, "rgb", 5, 3)
    explained(page, modality="rgb", patch=43)
    page.locator("[data-why-modality=tir]").click()
    explained(page, modality="tir", patch=43)
    page.locator(".lens-grid").focus()
    page.keyboard.press("ArrowDown")
    panel = explained(page, modality="tir", patch=51)
    weight = panel.locator("[data-part=predictor] td").nth(1)
    assert weight.inner_text().endswith("× 0.50")
    field(page, "beta").fill("0.1")
    page.wait_for_function("() => document.querySelector('[data-part=predictor]').textContent.includes('× 0.80')")
    page.locator(".lens-grid").focus()
    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")
    assert page.locator("[data-example=day]").is_visible(), "the side bar is back"


def test_the_flip_value_flips(open_page: OpenPage) -> None:
    page = open_page()
    click_patch(page, "rgb", 2, 2)
    panel = explained(page, patch=18)
    before = panel.locator("[data-why=verdict]").inner_text().split(" ")[0]
    flip = panel.locator("[data-flip=sparse_ratio]")
    stop = value_of(flip)
    flip.click()
    wait_for_settings(page, sparse_ratio=stop)
    page.wait_for_function(
        "before => document.querySelector('[data-why=verdict]').textContent.split(' ')[0].toLowerCase() !== before",
        arg=before.lower(),
    )
    assert panel.locator("[data-why=verdict]").inner_text().split(" ")[0] != before


def test_click_a_token_and_see_the_patches_it_draws_from(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    analysis = sdtps.analyse(model, *app.files("day"))
    best = int(analysis["rgb"].keep[0])
    click_patch(page, "rgb", *divmod(best, 8))
    panel = explained(page, patch=best)
    assert panel.locator("[data-token]").count() == 25
    panel.locator("button[data-token='6']").click()
    explained(page, token=6)
    assert panel.locator("canvas[data-token='6']").count() == 3, "in the photo of each modality"
    for m in MODALITIES:
        sources = [int(b.get_attribute("data-source")) for b in panel.locator(f"[data-draws={m}] button").all()]
        assert sources == metrics.token_provenance(analysis, m, 6).sources[:4].tolist()
    page.wait_for_function("() => document.querySelector('.lens-token select').value === '6'")
    first = panel.locator("[data-draws=nir] button").first
    patch = int(first.get_attribute("data-source"))
    first.click()
    explained(page, modality="nir", patch=patch)
    page.select_option(".lens-token select", "2")
    explained(page, token=2)
    panel.get_by_role("button", name="Back to all tokens").click()
    panel.wait_for(state="hidden")
    page.wait_for_function("() => document.querySelector('.lens-token select').value === ''")


def test_pin_and_compare(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "compare")
    page.get_by_text("Pin what is on screen, then change anything").wait_for()
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
    field(page, "beta").fill("0.5")
    wait_compared(page, beta=0.5)
    ends = page.locator(".lens-compare .lens-numbered .lens-ends").first.inner_text().split()
    assert ends[0].startswith("−")
    assert ends[1] == "0"
    assert ends[2] == ends[0].replace("−", "+"), "a scale around zero"


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
    page.get_by_text("Pin what is on screen, then change anything").wait_for()


def test_sweep_click_goes_there(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "compare")
    page.wait_for_selector("[data-sweep]")
    curves = [node.get_attribute("data-curve") for node in page.locator("[data-curve]").all()]
    assert curves == ["counts", "jaccard", "precision", "cosine"], "a mask is known for the examples"
    page.locator("[data-option=sweep] input[value=beta]").check()
    page.wait_for_function("() => JSON.parse(document.querySelector('[data-sweep]').dataset.sweep).name === 'beta'")
    area = page.locator("[data-curve=cosine] .lens-pick")
    box = area.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    assert "Attention weight 0.4" in page.locator(".lens-sweep-readout").inner_text()
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
    assert shown == f"+{len(change.entered)} −{len(change.left)} · J {change.overlap.jaccard:.2f}"
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
    assert notes == ["n0", "n1", "n2", "n3", "n4", "means"]
    assert (
        "in 64 noise draws the decision D differed from the noiseless one at 0 patches"
        in page.locator("[data-note=n0]").inner_text()
    )
    encoding = encode(model, prepare(read_triplet(*app.files("day")), (256, 128)))
    expected = metrics.triplet_gradients(model, encoding, sdtps.Settings())
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
    assert page.locator("canvas[data-gradient]").count() == 7 * 3
    field(page, "sparse_ratio").fill("0.3")
    page.wait_for_function("() => document.querySelector('[data-gradients]').dataset.gradients.includes('0.3,')")
    assert "would be 40 tokens" in page.locator("[data-note=n1]").inner_text()


def test_faithfulness_run_stale_and_cancel(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    show(page, "faithfulness")
    page.get_by_text("Does the selection beat chance?").wait_for()
    page.locator("[data-faith=run]").click()
    page.get_by_role("progressbar", name="Progress of the measurement").wait_for()
    page.wait_for_selector("[data-report]")
    prepared = prepare(read_triplet(*app.files("day")), (256, 128))
    report = metrics.measure_faithfulness(model, prepared)
    for m in MODALITIES:
        for kind in ("insertion", "deletion"):
            shown = value_of(page.locator(f"[data-area={m}-{kind}]"))
            assert shown == pytest.approx(getattr(report.removal[m]["whole"], kind).area, rel=1e-5)
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


def test_hidden_views_ask_for_nothing(open_page: OpenPage) -> None:
    page = open_page()
    for view, ready in READY.items():
        show(page, view)
        page.wait_for_selector(ready)
    show(page, "faithfulness")
    show(page, "selection")
    asked = []
    page.on("request", lambda r: asked.append(json.loads(r.post_data or "{}")) if "component_server" in r.url else None)
    for value in ("0.31", "0.32", "0.33"):
        field(page, "sparse_ratio").fill(value)
        wait_for_settings(page, sparse_ratio=float(value))
    page.wait_for_timeout(600)  # longer than any view waits before it asks
    assert {call["fn_name"] for call in asked} == {"decide"}


@pytest.mark.parametrize("width", [1280, 420])
def test_every_view_in_chinese_and_dark(open_page: OpenPage, width: int) -> None:
    page = open_page("?lang=zh&__theme=dark", viewport={"width": width, "height": 800})
    for view, ready in READY.items():
        show(page, view)
        page.wait_for_selector(ready)
        text = page.locator(f"#lens-view-{view}").inner_text()
        assert any("一" <= c <= "鿿" for c in text)
        assert "{" not in text, "every place in a sentence is filled"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
    click_free = page.locator(".lens-view:not([hidden]) button:not([aria-label])").all()
    assert all(button.inner_text().strip() for button in click_free)


def test_weights_without_a_predictor(app: App, open_page: OpenPage) -> None:
    page = open_page()
    page.select_option("[data-choice=weights]", label="cosines.safetensors")
    wait_for_settings(page, variant="open-source")
    wait_idle(page)
    click_patch(page, "rgb", 9, 4)
    panel = explained(page, patch=76)
    assert [row.get_attribute("data-part") for row in panel.locator("[data-part]").all()] == ["self", "nir", "tir"]
    show(page, "gradients")
    page.locator(".lens-story", has_text="needs a predictor, which these weights lack").wait_for()
    show(page, "variants")
    page.wait_for_selector("[data-variants]")
    assert "needs a predictor" in page.locator("article[data-variant=final]").inner_text()
    show(page, "faithfulness")
    page.locator("[data-faith=run]").click()
    page.wait_for_selector("[data-report]")
    assert shown_settings(page)["variant"] == "open-source"


def test_a_missing_modality(open_page: OpenPage) -> None:
    page = open_page("?missing=nir")
    click_patch(page, "rgb", 9, 4)
    panel = explained(page, patch=76)
    assert "NIR missing" in panel.locator("[data-why=kept-in]").inner_text()
    assert "missing" in panel.locator("[data-part=nir]").inner_text()
    show(page, "compare")
    page.wait_for_selector("[data-sweep]")
    assert "NIR" not in page.locator("[data-curve=cosine] figcaption").inner_text()
    show(page, "faithfulness")
    page.locator("[data-faith=run]").click()
    page.wait_for_selector("[data-report]")
    assert page.locator("[data-curve=nir-insertion]").count() == 0
