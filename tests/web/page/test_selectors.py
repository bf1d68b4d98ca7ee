"""Other selectors than SDTPS on the page, in a real Chromium: their own columns, knobs, numbers and reasons."""

import re
from collections.abc import Iterator

import pytest
import torch
from playwright.sync_api import Page, expect

import sdtps
from tests.checkpoints.family_files import family_state
from tests.harness import serving_app
from tests.web.conftest import App, OpenPage
from tests.web.helpers import show, slider, wait_idle

KINDS = ("soft", "signal", "demo", "sdtps dgaf")


@pytest.fixture(scope="module")
def app(app: App, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app with a small checkpoint of each kind."""
    folder = tmp_path_factory.mktemp("families")
    listed = []
    for kind in KINDS:
        path = folder / f"{kind.replace(' ', '-')}.pth"
        torch.save(family_state(kind), path)
        listed += ["--weights", str(path)]
    with serving_app(*listed, "--examples", str(app.examples), "--device", "cpu") as url:
        yield App(url, folder, folder, folder, app.examples, {})


def use(page: Page, name: str) -> None:
    """Choose weights by the beginning of their name."""
    menu = page.locator("[data-choice=weights]")
    value = menu.locator("option", has_text=f"{name}.pth").first.get_attribute("value")
    menu.select_option(value)
    expect(page.locator(f"[data-choice=weights] option[value='{value}']:checked")).to_have_count(1)
    wait_idle(page)


def columns(page: Page) -> list[str]:
    return page.locator(".lens-head:visible").evaluate_all("heads => heads.map(head => head.dataset.panel)")


def test_a_soft_mask_has_its_own_columns_and_knobs(open_page: OpenPage, app: App) -> None:
    page = open_page()
    expect(page.locator(".lens-head[data-panel=weight]")).to_be_visible()
    assert columns(page) == ["input", "self", "cross1", "cross2", "score", "weight"]
    expect(slider(page, "beta")).to_be_disabled()
    expect(page.locator(".lens-control", has=slider(page, "beta"))).to_contain_text("not in this selector")
    model = sdtps.load_model(app.weights / "soft.pth", "cpu")
    want = sdtps.analyse(model, *app.files("day"), sdtps.Settings(0.7, variant="soft", knobs={"mask_tau": 0.1}))
    slider(page, "mask_tau").fill("0.1")
    caption = page.locator("figure.lens-cell[data-panel=weight] .lens-caption").first
    expect(caption).to_contain_text(f"{round(want['rgb'].effective)} of 128")
    assert "knob_mask_tau=0.1" in page.url or page.wait_for_url("**knob_mask_tau=0.1**") is None
    page.locator("canvas[data-modality=rgb][data-panel=self]").click()
    expect(page.locator("[data-why=verdict]")).to_contain_text("nothing is dropped")


def test_signals_union_is_shown_by_group_and_moves_with_k(open_page: OpenPage) -> None:
    page = open_page()
    use(page, "signal")
    expect(page.locator(".lens-head[data-panel=attention]")).to_be_visible()
    assert columns(page) == ["input", "self", "cross1", "cross2", "kept", "attention"]
    kept = page.locator("figure.lens-cell[data-panel=kept] .lens-caption")
    before = kept.all_text_contents()
    assert len(set(before)) > 1  # another number in each modality
    expect(page.locator(".lens-groups [data-group=leak]")).to_be_visible()
    slider(page, "k").fill("2")
    expect(kept.first).not_to_have_text(before[0])
    page.locator("canvas[data-modality=rgb][data-panel=kept]").click()
    expect(page.locator("[data-why=verdict]")).to_contain_text(re.compile("by (its|another|both)|no global marks it"))


def test_the_fusion_behind_the_maps_is_shown(open_page: OpenPage) -> None:
    page = open_page()
    use(page, "demo")
    bars = page.locator("[data-fusion=experts] [data-value]")
    expect(bars).to_have_count(7)
    values = [float(v) for v in bars.evaluate_all("cells => cells.map(cell => cell.dataset.value)")]
    assert sum(values) == pytest.approx(1.0, abs=1e-5)
    loudest = ["R", "N", "T", "RN", "RT", "NT", "RNT"][values.index(max(values))]
    expect(page.locator("[data-looks-said]")).to_have_attribute("data-looks-said", loudest)
    page.locator("[data-combination=RT]").click()
    expect(page.locator("[data-looks-said=RT]")).to_contain_text(f"expert weight {values[4]:.3f}")
    said = page.locator(".lens-selector-facts .lens-mini figcaption").all_inner_texts()
    assert said[1] == "NIR –"
    assert sum(int(re.findall(r"(\d+) %", text)[0]) for text in (said[0], said[2])) == pytest.approx(100, abs=1)
    use(page, "sdtps-dgaf")
    expect(page.locator("[data-combination]")).to_have_count(0)
    expect(page.locator("[data-fusion=gates] [data-value]")).to_have_count(3)
    expect(page.locator("[data-assumed=variant]")).to_contain_text("Default, or scores that weigh aggregation?")
    expect(page.locator("[data-choice=variant]")).to_have_value("importance")


def test_every_view_opens_with_a_soft_mask(open_page: OpenPage) -> None:
    page = open_page()
    for view in ("compare", "variants", "gradients", "faithfulness"):
        show(page, view)
    page.locator("[data-faith=run]").click()
    expect(page.locator("[data-weighed]")).to_be_visible()
