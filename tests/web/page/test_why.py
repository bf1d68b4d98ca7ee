"""Why this patch, and does it beat chance: the panel over the side bar, and the four views beside the grid."""

import json

import pytest
from playwright.sync_api import expect

import sdtps
from sdtps import metrics
from tests.web.conftest import App, OpenPage
from tests.web.helpers import (
    MODALITIES,
    canvas,
    click_patch,
    explained,
    field,
    show,
    shown_settings,
    value_of,
    wait_for_settings,
    wait_idle,
)

pytestmark = pytest.mark.browser
READY = {"compare": "[data-sweep]", "variants": "[data-variants]", "gradients": "[data-gradients]"}


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
    page.wait_for_selector("[data-gradients]")
    expect(page.get_by_text("needs a predictor, which these weights lack").filter(visible=True)).to_have_count(1)
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
    assert "NIR no picture" in panel.locator("[data-why=kept-in]").inner_text()
    assert "no picture" in panel.locator("[data-part=nir]").inner_text()
    show(page, "compare")
    page.wait_for_selector("[data-sweep]")
    assert "NIR" not in page.locator("[data-curve=cosine] figcaption").inner_text()
    show(page, "faithfulness")
    page.locator("[data-faith=run]").click()
    page.wait_for_selector("[data-report]")
    assert page.locator("[data-curve=nir-insertion]").count() == 0
