"""Examples, uploads of every kind, paste, missing modalities, refusals."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sdtps
from sdtps.datasets.examples import find_examples
from sdtps.models.reid import LoadedModel
from tests.web.conftest import App, OpenPage
from tests.web.helpers import (
    MODALITIES,
    canvas,
    error_beside,
    pictures,
    point_at,
    shown_settings,
    shown_values,
    upload,
    wait_for_link,
    wait_idle,
)

pytestmark = pytest.mark.browser


def assert_shows(page, model: LoadedModel, rgb, nir, tir, fit: str = "stretch") -> None:
    """The page's numbers at one patch are those of `analyse()` on the same images."""
    analysis = sdtps.analyse(model, rgb, nir, tir, fit=fit)
    patch = 9 * 8 + 4
    wait_idle(page)
    point_at(page, "rgb", "score", 9, 4)
    values = shown_values(page)
    for m in MODALITIES:
        assert np.float32(values[f"{m}/score"]) == analysis[m].score[patch], m
    page.mouse.move(5, 5)


def wait_for_analysis(page, action) -> None:
    """Run the action and wait until the grid was painted with the analysis it caused."""
    page.evaluate("() => delete document.querySelector('.lens-grid').dataset.settings")
    action()
    page.wait_for_selector(".lens-grid[data-settings]")
    wait_idle(page)


def test_first_example_is_there_and_another_loads_with_one_click(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    assert page.locator("[data-example=day]").get_attribute("aria-pressed") == "true"
    assert page.locator(".lens-grid .lens-cell:not([hidden]) canvas").count() == 30
    assert_shows(page, model, *app.files("day"))
    before = pictures(page)
    wait_for_analysis(page, page.locator("[data-example=night]").click)
    assert_shows(page, model, *app.files("night"))
    assert all(before[k] != v for k, v in pictures(page).items())


def test_three_files(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    for m, path in zip(MODALITIES, app.files("night"), strict=True):
        wait_for_analysis(page, lambda m=m, path=path: upload(page, m, path))
    assert_shows(page, model, *app.files("night"))
    page.wait_for_function("() => !location.search.includes('example=')")
    assert page.locator("[data-example][aria-pressed=true]").count() == 0


def test_first_own_file_replaces_the_example_as_a_whole(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    wait_for_analysis(page, lambda: upload(page, "rgb", app.files("night")[0]))
    assert_shows(page, model, app.files("night")[0], None, None)
    assert page.locator("figure[data-panel=input] .lens-caption").all_inner_texts() == ["", "no picture", "no picture"]


def test_three_files_dropped_at_once_go_where_their_names_say(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    rgb, nir, tir = app.files("night")
    wait_for_analysis(page, lambda: upload(page, "rgb", [tir, rgb, nir]))
    assert_shows(page, model, rgb, nir, tir)


def test_one_wide_file(app: App, open_page: OpenPage, model, tmp_path: Path) -> None:
    parts = [np.asarray(Image.open(f)) for f in app.files("night")]
    wide = tmp_path / "wide.png"
    Image.fromarray(np.concatenate(parts, axis=1)).save(wide)
    page = open_page()
    wait_for_analysis(page, lambda: upload(page, "wide", str(wide)))
    assert_shows(page, model, *app.files("night"))


def test_16_bit_thermal_keeps_its_contrast(app: App, open_page: OpenPage, model, tmp_path: Path) -> None:
    rgb, nir, tir = app.files("day")
    grey = np.asarray(Image.open(tir).convert("L"), np.uint16) * 20 + 29_000
    raw = tmp_path / "thermal.tiff"
    Image.fromarray(grey).save(raw)
    page = open_page()
    wait_for_analysis(page, lambda: upload(page, "rgb", [rgb, nir, str(raw)]))
    assert_shows(page, model, rgb, nir, raw)
    assert "TIR: 16-bit or float values were scaled" in page.locator(".lens-notes").inner_text()
    spread = page.evaluate(
        """async () => { const i = document.querySelector('[data-zone=tir] img'); await i.decode();
          const c = document.createElement('canvas'); c.width = i.naturalWidth; c.height = i.naturalHeight;
          const x = c.getContext('2d'); x.drawImage(i, 0, 0);
          const d = x.getImageData(0, 0, c.width, c.height).data.filter((_, k) => k % 4 === 0);
          return Math.max(...d) - Math.min(...d); }"""
    )
    assert spread > 200, "the preview shows the scaled picture, not white"


def test_bad_files_leave_the_picture_and_are_named_beside_their_zone(app: App, open_page: OpenPage, tmp_path) -> None:
    page = open_page()
    before = pictures(page)
    text, cut = tmp_path / "<img src=x onerror=alert(1)>.png", tmp_path / "cut.png"
    text.write_text("no image")
    cut.write_bytes(Path(app.files("day")[0]).read_bytes()[:900])
    upload(page, "tir", str(text))
    assert error_beside(page, "tir") == "TIR The file is not a PNG, JPEG, TIFF, BMP or WebP image."
    upload(page, "nir", str(cut))
    assert error_beside(page, "nir") == "NIR The image is damaged or cut off; save or copy it again."
    assert page.locator("[data-error=tir]").count() == 0
    upload(page, "wide", app.files("day")[0])
    assert "is not three side by side" in error_beside(page, "wide")
    assert pictures(page) == before
    assert page.locator("[data-example=day]").get_attribute("aria-pressed") == "true"
    big = tmp_path / "big.png"
    big.write_bytes(b"\0" * (21 * 2**20))
    upload(page, "rgb", str(big))
    assert error_beside(page, "rgb") == "RGB The file has 21.0 MB; the limit is 20 MB."
    wait_for_analysis(page, page.locator("[data-example=night]").click)
    assert page.locator("[data-error]").count() == 0, "the next success clears the message"


def test_paste_and_drop(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    rgb, nir, _ = (list(Path(f).read_bytes()) for f in app.files("night"))
    send = """([type, zone, bytes]) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], 'image.png', {type: 'image/png'}));
      const target = type === 'paste' ? document : document.querySelector(`[data-zone=${zone}]`);
      target.dispatchEvent(type === 'paste'
        ? new ClipboardEvent('paste', {clipboardData: data, bubbles: true})
        : new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
    }"""
    wait_for_analysis(page, lambda: page.evaluate(send, ["drop", "rgb", rgb]))
    page.hover("[data-zone=nir]")
    wait_for_analysis(page, lambda: page.evaluate(send, ["paste", None, nir]))
    assert_shows(page, model, *app.files("night")[:2], None)


def test_missing_toggle(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    rgb, _, tir = app.files("day")
    wait_for_analysis(page, page.locator("[data-toggle=nir]").click)
    assert page.locator("[data-toggle=nir]").get_attribute("aria-checked") == "false"
    assert_shows(page, model, rgb, None, tir)
    wait_for_link(page, "missing=nir")
    assert "Missing: NIR" in page.locator(".lens-notes").inner_text()
    wait_for_analysis(page, page.locator("[data-toggle=nir]").click)
    assert_shows(page, model, *app.files("day"))
    for m in ("rgb", "nir"):
        wait_for_analysis(page, page.locator(f"[data-toggle={m}]").click)
    page.locator("[data-toggle=tir]").click()
    assert "All three images are missing" in error_beside(page, "page")
    assert page.locator("[data-toggle][aria-checked=true]").count() == 1, "back to what the picture shows"


def test_letterbox(app: App, open_page: OpenPage, model, tmp_path: Path) -> None:
    square = tmp_path / "square_rgb.png"
    Image.open(app.files("day")[0]).resize((200, 200)).save(square)
    page = open_page()
    wait_for_analysis(page, lambda: upload(page, "rgb", str(square)))
    assert "it was stretched" in page.locator(".lens-notes").inner_text()
    wait_for_analysis(page, page.locator("[data-option=fit] input[value=letterbox]").check)
    assert "padded with grey" in page.locator(".lens-notes").inner_text()
    assert_shows(page, model, square, None, None, fit="letterbox")


def test_a_forgotten_triplet_is_sent_again(app: App, open_page: OpenPage, model) -> None:
    page = open_page()
    wait_for_analysis(page, lambda: upload(page, "rgb", app.files("night")))
    forgotten = '{"error": {"code": "session.expired", "values": {}, "text": "gone"}, "zone": null, "expired": ["rgb"]}'
    page.route("**/component_server/", lambda route: route.fulfill(body=forgotten), times=1)
    wait_for_analysis(page, lambda: page.locator("[data-setting=beta]").press("ArrowRight"))
    assert page.locator("[data-error]").count() == 0
    assert page.locator(".lens-grid").get_attribute("data-settings").count('"beta":0.26') == 1


def test_without_examples_the_page_invites(app: App, open_page: OpenPage, model) -> None:
    page = open_page(edit=lambda text: re.sub(r'"examples":\s*\[.*?\](?=,\s*"defaults")', '"examples": []', text))
    assert "Drop an image set to begin" in page.locator(".lens-empty").inner_text()
    assert "No examples are installed." in page.locator(".lens-side").inner_text()
    upload(page, "rgb", app.files("night"))
    page.wait_for_selector(".lens-grid[data-settings]")
    assert page.locator(".lens-empty").is_hidden()
    assert_shows(page, model, *app.files("night"))


def test_progress_while_the_backbone_runs(open_page: OpenPage) -> None:
    page = open_page()
    held = []
    page.route("**/queue/join*", lambda route: held.append(route), times=1)
    with page.expect_request("**/queue/join*"):
        page.locator("[data-example=night]").click()
    page.get_by_role("progressbar", name="Analysing…").wait_for()
    assert page.locator(".lens-grid").get_attribute("aria-busy") == "true"
    held[0].continue_()
    page.get_by_role("progressbar").wait_for(state="hidden")
    wait_idle(page)


def test_a_busy_server_says_so_and_the_page_stays_what_it_was(app: App, open_page: OpenPage, model) -> None:
    page = open_page(allow="503")
    before = pictures(page)
    full = '{"detail": "Queue is full."}'
    page.route("**/queue/join*", lambda r: r.fulfill(status=503, content_type="application/json", body=full), times=1)
    page.locator("[data-example=night]").click()
    assert error_beside(page, "page").strip() == "The server is busy; try again in a moment."
    assert pictures(page) == before
    assert page.locator("[data-example=day]").get_attribute("aria-pressed") == "true"
    wait_for_analysis(page, page.locator("[data-example=night]").click)
    assert_shows(page, model, *app.files("night"))
    assert page.locator("[data-error]").count() == 0


def test_vehicle_weights_show_an_8_by_16_grid_and_the_banner(app: App, open_page: OpenPage) -> None:
    page = open_page()
    assert page.locator(".lens-banner:not(.lens-connection)").is_hidden()
    options = page.locator("[data-choice=weights] option").all_inner_texts()
    assert options[:3] == ["person.safetensors", "vehicle.safetensors", "cosines.safetensors"]
    wait_for_analysis(page, lambda: page.select_option("[data-choice=weights]", label="vehicle.safetensors"))
    box = canvas(page, "rgb", "score").bounding_box()
    assert box is not None
    assert box["width"] == pytest.approx(2 * box["height"], abs=2)
    point_at(page, "rgb", "score", 7, 15, rows=8, cols=16)
    assert page.locator(".lens-grid").get_attribute("data-patch") == "127"
    assert "Random weights" in page.locator(".lens-banner:not(.lens-connection)").inner_text()
    vehicle = sdtps.load_model(app.vehicle, device="cpu")
    assert vehicle.weights.short_hash in page.locator(".lens-hash").inner_text()
    expected = sdtps.analyse(vehicle, *app.files("day"))["rgb"].score[127]
    assert np.float32(shown_values(page)["rgb/score"]) == expected


def test_a_part_the_weights_lack_is_named_not_drawn(app: App, open_page: OpenPage) -> None:
    page = open_page()
    wait_for_analysis(page, lambda: page.select_option("[data-choice=weights]", label="cosines.safetensors"))
    assert shown_settings(page)["variant"] == "open-source", "the variant these weights can run"
    assert page.locator("[data-choice=variant] option[value=final]").is_disabled()
    absent = page.locator(".lens-cell[data-panel=predictor] .lens-absent")
    assert [text.inner_text() for text in absent.all()] == ["not in this checkpoint"] * 3
    assert page.locator(".lens-absent:not([hidden])").count() == 3
    assert page.locator(".lens-cell[data-panel=predictor] .lens-ends").first.inner_text().strip() == ""
    point_at(page, "rgb", "score", 9, 4)
    weights = sdtps.load_model(app.cosines, device="cpu")
    settings = sdtps.Settings(variant="open-source")
    expected = sdtps.analyse(weights, *app.files("day"), settings)["rgb"].score[76]
    values = shown_values(page)
    assert np.float32(values["rgb/score"]) == expected
    assert values["rgb/predictor"] is None


def test_examples_folder_may_be_empty(tmp_path: Path) -> None:
    assert find_examples(tmp_path) == {}
    (tmp_path / "examples.json").write_text("not json")
    assert find_examples(tmp_path) == {}
