"""Weights on the page, in a real Chromium: the menu, the report, what is not in a checkpoint, vehicles, uploads."""

import os
import pickle
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import torch
from playwright.sync_api import Page

import sdtps
from tests.checkpoints.checkpoint_files import demo_shapes, random_state
from tests.harness import serving_app
from tests.web.conftest import App, OpenPage
from tests.web.helpers import (
    canvas,
    point_at,
    shown_settings,
    shown_values,
    slider,
    wait_for_settings,
    wait_idle,
)

CHECKPOINTS = {
    "person.pth": {"rows": 25},
    "vehicle.pth": {"rows": 44, "direct": False, "classes": 50, "cameras": 8},
    "fusion.pth": {"experts": 4},
}


@pytest.fixture(scope="module")
def app(app: App, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """The app with DeMo checkpoints, and with uploads allowed."""
    folder = tmp_path_factory.mktemp("demo")
    for seed, (name, options) in enumerate(CHECKPOINTS.items()):
        torch.save(random_state(demo_shapes(depth=1, **options), seed), folder / name)
    listed = [part for name in CHECKPOINTS for part in ("--weights", str(folder / name))]
    (folder / "vehicle.yml").write_text("MODEL: {SDTPS_SPARSE_RATIO: 0.7, SDTPS_AGGR_RATIO: 0.5, SDTPS_BETA: 0.3}")
    listed[4:4] = ["--config", str(folder / "vehicle.yml")]
    arguments = (*listed, "--allow-upload-weights", "--examples", str(app.examples), "--device", "cpu")
    with serving_app(*arguments) as url:
        yield App(url, folder / "person.pth", folder / "vehicle.pth", folder / "fusion.pth", app.examples, {})


def choose(page: Page, name: str) -> None:
    """Choose weights and wait until their picture is there."""
    page.evaluate("() => { delete document.querySelector('.lens-grid').dataset.settings; }")
    page.select_option("[data-choice=weights]", label=name)
    page.wait_for_selector(".lens-grid[data-settings]")
    wait_idle(page)


def open_report(page: Page) -> None:
    page.click("[data-open=about]")
    page.click("[data-open=weights]")


def report_of(page: Page) -> str:
    open_report(page)
    text = page.locator("[data-dialog=weights]").inner_text()
    page.keyboard.press("Escape")
    return text


def send(page: Page, path: Path) -> None:
    page.click("[data-open=upload]")
    page.set_input_files("[data-upload=weights]", str(path))


def test_switching_weights_keeps_the_triplet_and_the_settings(app: App, open_page: OpenPage) -> None:
    page = open_page("?example=night&sparse=0.3&beta=0.1")
    before = shown_settings(page)
    for name in ("vehicle.pth", "fusion.pth", "person.pth"):
        choose(page, name)
        # Who has not chosen a variant gets that of the weights.
        assert {k: v for k, v in shown_settings(page).items() if k != "variant"} == {
            k: v for k, v in before.items() if k != "variant"
        }
        assert page.locator("[data-example=night]").get_attribute("aria-pressed") == "true"
    point_at(page, "rgb", "score", 3, 4)
    model = sdtps.load_model(app.weights, "cpu")
    expected = sdtps.analyse(model, *app.files("night"), sdtps.Settings(sparse_ratio=0.3, beta=0.1))
    assert shown_values(page)["rgb/score"] == pytest.approx(float(expected["rgb"].score[3 * 8 + 4]), abs=1e-6)


def test_vehicle_weights_show_8_by_16(app: App, open_page: OpenPage) -> None:
    page = open_page()
    choose(page, "vehicle.pth")
    box = canvas(page, "rgb", "score").bounding_box()
    assert box is not None
    assert box["width"] == pytest.approx(2 * box["height"], abs=2)
    point_at(page, "tir", "score", 7, 15, rows=8, cols=16)
    model = sdtps.load_model(app.vehicle, "cpu")
    expected = sdtps.analyse(model, *app.files("day"), sdtps.Settings())["tir"].score[127]
    assert shown_values(page)["tir/score"] == pytest.approx(float(expected), abs=1e-6)
    text = report_of(page)
    assert "8 × 16" in text
    assert "8x16 is assumed: RGBNT100 has 50 identities" in text


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", ("not in this checkpoint", "no SDTPS", "ranked by the attention maps alone", "no predictor")),
     ("zh", ("该检查点中没有", "无 SDTPS", "只按注意力图排序", "没有预测器"))],
)  # fmt: skip
def test_what_is_not_in_the_checkpoint_is_marked(
    app: App, open_page: OpenPage, language: str, words: tuple[str, ...]
) -> None:
    absent, badge, note, mix = words
    page = open_page(f"?lang={language}")
    choose(page, "fusion.pth")
    for m in ("rgb", "nir", "tir"):
        for panel in ("predictor", "aggregation"):
            cell = page.locator(f".lens-row[data-modality={m}] .lens-cell[data-panel={panel}]")
            assert cell.locator(".lens-absent").inner_text() == absent
        for panel in ("self", "cross1", "cross2", "score", "kept"):
            assert page.locator(f".lens-row[data-modality={m}] [data-panel={panel}] .lens-absent").is_hidden()
    assert page.locator("[data-open=about]").inner_text() == badge
    assert mix in page.locator(".lens-control:has([data-setting=beta]) .lens-meaning").inner_text()
    assert page.locator(".lens-banner:not(.lens-connection)").is_hidden()
    assert note in report_of(page)
    point_at(page, "rgb", "score", 0, 0)
    model = sdtps.load_model(app.cosines, "cpu")
    trace = sdtps.analyse(model, *app.files("day"))["rgb"]
    assert shown_values(page)["rgb/score"] == pytest.approx(float(trace.score[0]), abs=1e-6)
    assert shown_values(page)["rgb/predictor"] is None
    slider(page, "sparse_ratio").fill("0.2")
    wait_for_settings(page, sparse_ratio=0.2)


def test_the_report_says_what_was_read_and_assumed(app: App, open_page: OpenPage) -> None:
    page = open_page()
    text = report_of(page)
    report = sdtps.load_model(app.weights, "cpu").weights
    assert report.sha256 in text
    assert "DeMo with SDTPS" in text
    assert all(str(note) in text for note in report.assumed)
    open_report(page)
    for group in report.groups:
        row = page.locator(f"[data-group={group.name}] td").all_inner_texts()
        assert row == [str(group.loaded), "–", "–", "–"]


def test_sliders_can_be_set_to_the_training(open_page: OpenPage) -> None:
    page = open_page()
    choose(page, "vehicle.pth")
    assert shown_settings(page)["sparse_ratio"] == 0.5
    open_report(page)
    assert "ρ 0.7, α 0.5, β 0.3" in page.locator("[data-dialog=weights]").inner_text()
    page.click("[data-use=settings]")
    wait_for_settings(page, sparse_ratio=0.7, aggr_ratio=0.5, beta=0.3)
    meaning = page.locator(".lens-control:has([data-setting=aggr_ratio]) .lens-meaning")
    assert meaning.inner_text() == "kept patches are blended into 44 tokens"


def test_rows_and_columns_can_be_exchanged(app: App, open_page: OpenPage) -> None:
    page = open_page()
    open_report(page)
    page.click("[data-turn]")
    page.wait_for_function(
        "() => getComputedStyle(document.querySelector('.lens-grid')).getPropertyValue('--cols') === '16'"
    )
    names = page.locator("[data-choice=weights] option").all_inner_texts()
    assert "person.pth (16x8)" in names
    assert "person.pth (8x16)" in names


def test_a_checkpoint_is_sent_from_the_page_and_its_link_survives(
    app: App, open_page: OpenPage, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.pth"
    state = random_state(demo_shapes(depth=1, rows=30), seed=9)
    torch.save({"state_dict": {f"module.{k}": v for k, v in state.items()}}, mine)
    page = open_page("?sparse=0.4")
    send(page, mine)
    page.wait_for_function(
        "() => document.querySelector('.lens-weights').selectedOptions[0].textContent === 'mine.pth'"
    )
    page.keyboard.press("Escape")
    page.wait_for_function("() => location.search.includes('weights=up-')")
    model = sdtps.load_model(mine, "cpu")
    expected = sdtps.analyse(model, *app.files("day"), sdtps.Settings(sparse_ratio=0.4))["nir"].score
    for _ in range(2):
        wait_idle(page)
        assert model.weights.short_hash == page.locator(".lens-hash").inner_text()
        point_at(page, "nir", "score", 5, 5)
        assert shown_values(page)["nir/score"] == pytest.approx(float(expected[5 * 8 + 5]), abs=1e-6)
        page.reload()
        page.wait_for_selector(".lens-grid[data-settings]")


class Payload:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> object:
        return os.system, (f"touch {self.mark}",)


def test_a_refused_file_is_one_sentence_and_the_page_goes_on(app: App, open_page: OpenPage, tmp_path: Path) -> None:
    mark, evil = tmp_path / "ran", tmp_path / "evil.pth"
    torch.save({"state_dict": random_state(demo_shapes(depth=1)), "extra": Payload(mark)}, evil)
    page = open_page()
    send(page, evil)
    page.wait_for_function("() => document.querySelector('.lens-report-status').textContent.includes('could run code')")
    assert not mark.exists()
    partial = tmp_path / "partial.pth"
    state = random_state(demo_shapes(depth=1, rows=25))
    del state["sdtps.rgb_aggr.scale"]
    torch.save(state, partial)
    page.set_input_files("[data-upload=weights]", str(partial))
    page.wait_for_function(
        "() => document.querySelector('.lens-report-status').textContent.includes('sdtps.rgb_aggr.scale is missing')"
    )
    assert page.locator(".lens-banner:not(.lens-connection)").is_hidden()
    page.click("text=Load it anyway")
    page.wait_for_selector(".lens-banner:not([hidden], .lens-connection)", state="attached")
    page.keyboard.press("Escape")
    assert "1 tensors were not in the file" in page.locator(".lens-banner:not(.lens-connection)").inner_text()


def test_over_http_no_path_and_no_pickle_gets_in(app: App, tmp_path: Path) -> None:
    config = httpx.get(f"{app.url}/config").json()
    lens = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "lens")
    url = f"{app.url}/gradio_api/component_server"
    base = {"component_id": str(lens), "session_hash": "s", "fn_name": "upload_weights"}
    named = {k: (None, v) for k, v in (base | {"file": str(app.weights), "path": str(app.weights)}).items()}
    assert httpx.post(url, files=named).json()["error"]["code"] == "request.malformed"
    injected = {"path": str(app.weights), "meta": {"_type": "gradio.FileData"}}
    answer = httpx.post(url, json={**base, "component_id": lens, "data": injected})
    assert answer.json()["error"]["code"] == "request.malformed"
    mark = tmp_path / "ran"
    sent = {k: (None, v) for k, v in base.items()} | {"file": ("../../x.pth", pickle.dumps(Payload(mark)))}
    assert "error" in httpx.post(url, files=sent).json()
    assert not mark.exists()
    for asked in (str(app.weights), "/etc/passwd", "timm:vit_base_patch16_224"):
        body = {**base, "component_id": lens, "fn_name": "ask", "data": {"task": "weights.card", "id": asked}}
        assert httpx.post(url, json=body).json()["error"]["code"] == "weights.unknown"


def test_weights_that_are_gone_from_a_link_fall_back_with_a_sentence(open_page: OpenPage) -> None:
    page = open_page("?weights=up-nothing")
    page.wait_for_selector("[data-error=page]")
    assert "not loaded" in page.locator("[data-error=page]").inner_text()
    assert page.locator("[data-choice=weights]").input_value() == page.locator(
        "[data-choice=weights] option"
    ).first.get_attribute("value")
    assert shown_settings(page)["sparse_ratio"] == 0.5
