"""The export dialog: preview, downloads, bundles that open again, the supplement, and anonymity."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page

import sdtps
from sdtps.checkpoints.anonymise import hide, hide_model
from sdtps.datasets.examples import find_examples
from sdtps.export import serialise, supplement
from sdtps.export.bundle import read_bundle, write_bundle
from sdtps.export.figure import FigureOptions
from sdtps.images.read import Prepared, prepare, read_triplet
from sdtps.pipeline import OpenSet
from sdtps.web.session.backend import PageBackend
from tests.web.conftest import App, OpenPage
from tests.web.helpers import finished_job, shown_settings, wait_for_settings

QUICK = FigureOptions(columns=("input", "kept"))


def open_export(page: Page) -> None:
    page.click("[data-choice=export]")
    page.wait_for_selector(".lens-export img[src]")


def download(page: Page, name: str, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.click(f"[data-do={name}]")
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


@pytest.fixture
def opened(app: App, model) -> tuple[sdtps.Analysis, dict]:
    triplet = read_triplet(*app.files("day"))
    return sdtps.analyse_triplet(model, triplet), prepare(triplet, model.net.backbone.input_size).pixels


def test_figure_and_bundle_are_downloaded(app: App, model, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("?example=night&beta=0.1", accept_downloads=True)
    open_export(page)
    assert "inches" in page.locator(".lens-export figcaption").inner_text()
    assert download(page, "figure", tmp_path).read_bytes().startswith(b"%PDF")
    page.click(".lens-export [data-option=format] label:has(input[value=svg])")
    assert b"<svg" in download(page, "figure", tmp_path).read_bytes()
    found = read_bundle(download(page, "bundle", tmp_path)).analysis
    expected = sdtps.analyse(model, *app.files("night"), sdtps.Settings(beta=0.1))
    assert serialise.as_json(found)["arrays"] == serialise.as_json(expected)["arrays"]


def test_preview_follows_the_choices(open_page: OpenPage) -> None:
    page = open_page()
    open_export(page)
    offered = page.locator(".lens-export-columns").first.locator("label:visible")
    assert offered.all_inner_texts() == page.locator(".lens-title").all_text_contents()[: offered.count()]
    assert offered.count() == 10, "the columns on the page, none of another selector"
    page.select_option("[data-export=width]", "ieee-column")
    page.uncheck("[data-export='column.self']")
    page.wait_for_function(
        """() => { const look = JSON.parse(document.querySelector('.lens-export img').dataset.for);
          return look.width === 'ieee-column' && !look.columns.includes('self'); }"""
    )
    shown = page.locator(".lens-export img").evaluate(
        "image => ({width: image.naturalWidth, height: image.naturalHeight})"
    )
    assert min(shown.values()) > 0, "a picture was drawn"


def test_supplement_is_made_in_the_background_and_downloaded(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(accept_downloads=True)
    page.set_default_timeout(280_000)
    open_export(page)
    page.fill("[data-export=title]", "A page of mine")
    page.fill("[data-export=introduction]", "What to look at.")
    text = download(page, "supplement", tmp_path).read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<title>A page of mine</title>" in text
    assert '"introduction":["What to look at."]' in text
    assert len(text.encode()) < supplement.MAX_BYTES


def test_a_bundle_of_other_weights_shows_its_numbers_and_says_that_sliders_rest(
    opened, open_page: OpenPage, tmp_path: Path
) -> None:
    analysis, pixels = opened
    foreign = replace(analysis, weights=replace(analysis.weights, name="elsewhere.pth", sha256="f" * 64))
    foreign = replace(foreign, settings=replace(foreign.settings, sparse_ratio=0.5, beta=0.25))
    path = tmp_path / "foreign.zip"
    path.write_bytes(write_bundle(foreign, pixels, QUICK))
    page = open_page("?example=night&beta=0.4")
    wait_for_settings(page, beta=0.4)
    page.click("[data-choice=export]")
    page.set_input_files("[data-export=bundle]", str(path))
    wait_for_settings(page, beta=0.25)
    assert "sliders cannot move them" in page.locator(".lens-notes").inner_text()
    assert page.locator(".lens-controls").evaluate("node => node.inert")
    assert "elsewhere.pth" in page.locator(".lens-header").inner_text()


def test_a_bad_bundle_is_one_sentence_and_nothing_is_lost(opened, open_page: OpenPage, tmp_path: Path) -> None:
    path = tmp_path / "newer.zip"
    path.write_bytes(write_bundle(opened[0], opened[1], QUICK))
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | {"schema": 99}).encode()
    with zipfile.ZipFile(path, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)
    page = open_page(locale="zh-CN")
    before = shown_settings(page)
    page.click("[data-choice=export]")
    page.set_input_files("[data-export=bundle]", str(path))
    page.wait_for_function("() => document.querySelector('.lens-export-message').textContent.includes('99')")
    assert "更新" in page.locator(".lens-export-message").inner_text()
    assert shown_settings(page) == before


def test_nothing_leads_to_the_author_where_weights_are_anonymous(app: App, model, opened, monkeypatch) -> None:
    monkeypatch.setattr(supplement, "PLANS", (((), (), ()),))
    analysis, pixels = opened
    secrets = (app.weights.name, model.weights.sha256, model.weights.short_hash, str(app.weights.parent))
    hidden = replace(analysis, weights=hide(analysis.weights))
    page = supplement.write_supplement(OpenSet(model, Prepared(pixels)), hidden)
    assert [s for s in secrets if s in page] == []
    packed = write_bundle(hidden, pixels, QUICK)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        told = "".join(archive.read(name).decode(errors="ignore") for name in archive.namelist())
    assert [s for s in secrets if s in told] == []
    bench = PageBackend([hide_model(model)], find_examples(app.examples))
    picture = {"example": "day"}
    answer = bench.analyse({"pictures": {"rgb": picture, "nir": picture, "tir": picture}})
    request = {"key": answer["key"], "look": {"columns": ["input"]}, "format": "svg"}
    figure = finished_job(bench, bench.ask({"task": "export.figure", **request}))
    assert "file" in figure["result"]
    told = json.dumps([bench.config(), answer, figure])
    assert [s for s in secrets if s in told] == []
    assert "hidden-1" in told


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"key": 7},
        {"look": []},
        {"look": {"columns": "input"}},
        {"look": {"columns": ["x"]}},
        {"look": {"width": []}},
        {"look": {"width": 1e9}},
        {"format": "exe"},
        {"dpi": "x"},
        {"settings": 3},
    ],
)
def test_odd_requests_are_refused_in_one_sentence(app: App, model, fields: dict) -> None:
    bench = PageBackend([model], find_examples(app.examples))
    key = bench.analyse({"pictures": {"rgb": {"example": "day"}}})["key"]
    request = {"task": "export.figure", **({"key": key} if "key" not in fields and fields else {}), **fields}
    assert bench.ask(request)["error"]["text"].endswith(".")


def test_a_and_b_are_saved_as_one_figure(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("?example=day", accept_downloads=True)
    page.click("[data-view=compare]")
    page.click("[data-compare=pin]")
    page.locator(".lens-control input[type=number]").nth(0).fill("0.3")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-compared*='0.3']")
    page.select_option(".lens-compare .lens-figure-saver select", "svg")
    with page.expect_download() as waiting:
        page.click("[data-save='export.compare']")
    path = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(path)
    assert path.name == "sdtps-comparison.svg"
    jaccard = page.locator("[data-facts=rgb] [data-fact=jaccard]").inner_text()
    assert f"Jaccard {float(jaccard):.2f}" in path.read_text(encoding="utf-8")


def test_a_strip_needs_one_triplet(app: App, model) -> None:
    bench = PageBackend([model], find_examples())
    keys = [
        bench.analyse({"pictures": {m: {"example": name} for m in ("rgb", "nir", "tir")}})["key"]
        for name in ("day", "night")
    ]
    answer = bench.ask({"task": "export.compare", "key": keys[0], "against": {"key": keys[1]}})
    assert answer["error"]["code"] == "figure.triplets"
