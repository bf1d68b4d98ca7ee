"""One triplet, the same numbers from page, Python, HTTP, CLI, batch, a re-opened bundle and the supplement."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradio_client import Client, handle_file
from playwright.sync_api import Browser, Page

import sdtps
from sdtps import panels
from sdtps.cli.main import main
from sdtps.export import serialise, supplement
from sdtps.export.bundle import read_bundle
from sdtps.images.read import read_triplet
from sdtps.metrics.provenance import patch_provenance
from sdtps.pipeline import OpenSet
from tests.web.conftest import App, OpenPage
from tests.web.helpers import (
    canvas,
    click_patch,
    explained,
    field,
    point_at,
    shown_values,
    value_of,
    wait_for_settings,
)

SETTINGS = {"sparse_ratio": 0.3, "aggr_ratio": 0.7, "beta": 0.125, "tau": 0.3}
OTHER = {"sparse_ratio": 0.61, "aggr_ratio": 0.4, "beta": 0.25, "tau": 1.0}


def options(settings: dict[str, float]) -> list[str]:
    return [part for name, value in settings.items() for part in (f"--{name.replace('_', '-')}", str(value))]


def plain(analysis: sdtps.Analysis) -> dict[str, list[Any]]:
    return {name: array.tolist() for name, array in serialise.arrays_of(analysis).items()}


def assert_page_shows(page: Page, analysis: sdtps.Analysis) -> None:
    """Every number of some patches, in every panel, at full precision."""
    rows, cols = analysis.grid
    for row, col in ((0, 0), (5, 3), (rows // 2, cols - 2), (rows - 1, cols - 1)):
        patch = row * cols + col
        point_at(page, "nir", "score", row, col, rows=rows, cols=cols)
        pointed = "patch => document.querySelector('.lens-grid').dataset.patch === String(patch)"
        page.wait_for_function(pointed, arg=patch)
        shown = shown_values(page)
        for m, trace in analysis.traces.items():
            maps = panels.maps_of(trace, m)
            expected = {name: float(values[patch]) for name, values in maps.items() if values is not None}
            expected |= {"input": float(trace.token_norm[patch]), "kept": int(trace.rank[patch]) + 1}
            assert {name: shown[f"{m}/{name}"] for name in expected} == expected


@pytest.fixture(scope="module")
def analysis(app: App, model) -> sdtps.Analysis:
    """The second way: Python."""
    return sdtps.analyse(model, *app.files("day"), sdtps.Settings(**SETTINGS))


def test_page(open_page: OpenPage, analysis) -> None:
    page = open_page("?example=day&sparse=0.3&aggr=0.7&beta=0.125&tau=0.3")
    wait_for_settings(page, **SETTINGS)
    assert_page_shows(page, analysis)


def test_http(app: App, analysis) -> None:
    client = Client(app.url, verbose=False)
    answer = client.predict(*map(handle_file, app.files("day")), **SETTINGS, api_name="/analyse")
    assert answer["arrays"] == plain(analysis)
    assert answer["settings"] == analysis.settings.as_dict()


def test_command_line(app: App, analysis, capsys) -> None:
    command = ["inspect", *app.files("day"), "--weights", str(app.weights), *options(SETTINGS), "--json"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["arrays"] == plain(analysis)


def test_batch(app: App, analysis, tmp_path: Path) -> None:
    for folder, source in zip(("RGB", "NI", "TI"), app.files("day"), strict=True):
        (tmp_path / "data" / "RGBNT201" / "test" / folder).mkdir(parents=True)
        shutil.copy(source, tmp_path / "data" / "RGBNT201" / "test" / folder / "000001_cam1_0_00.jpg")
    out = tmp_path / "out"
    command = ["batch", str(tmp_path / "data"), "--out", str(out), "--weights", str(app.weights), *options(SETTINGS)]
    assert main(command) == 0
    with np.load(out / "maps" / "000001_cam1_0_00.npz") as maps:
        assert {name: maps[name].tolist() for name in maps.files} == plain(analysis)


def test_bundle_in_the_terminal_and_on_the_page(
    app: App, analysis, open_page: OpenPage, tmp_path: Path, capsys
) -> None:
    path = tmp_path / "day.zip"
    command = ["bundle", *app.files("day"), "--weights", str(app.weights), *options(SETTINGS), "--out", str(path)]
    assert main([*command, "--columns", "input,kept"]) == 0
    assert plain(read_bundle(path).analysis) == plain(analysis)
    capsys.readouterr()
    assert main(["inspect", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["arrays"] == plain(analysis)
    page = open_page("?example=night")
    page.click("[data-choice=export]")
    page.set_input_files("[data-export=bundle]", str(path))
    wait_for_settings(page, **SETTINGS)
    assert_page_shows(page, analysis)


def assert_page_explains(page: Page, analysis: sdtps.Analysis) -> None:
    """A click says why, with the numbers that Python has."""
    for modality, row, col in (("rgb", 5, 3), ("tir", 0, 7)):
        canvas(page, modality, "score").scroll_into_view_if_needed()  # an introduction stands above
        click_patch(page, modality, row, col)
        why = explained(page, modality=modality, patch=row * 8 + col)
        found = patch_provenance(analysis, modality, row * 8 + col)
        assert why.locator("[data-why=verdict] b").inner_text().lower() == ("kept" if found.kept else "dropped")
        assert value_of(why.locator("[data-why=score]")) == pytest.approx(found.score, abs=1e-6)
        shares = [value_of(cell) for cell in why.locator("[data-part] [data-value]").all()]
        assert shares == pytest.approx([part.share for part in found.parts], abs=1e-6)
        assert why.locator("[data-why=margin]").inner_text() == f"{found.margin:+.3f}".replace("-", "−")
        page.keyboard.press("Escape")


def test_supplement_from_disk_without_network(
    app: App, model, analysis, browser: Browser, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(supplement, "PLANS", (((0.4,), (0.25,), (1.0,)),))
    opened = OpenSet.of(model, read_triplet(*app.files("day")))
    said = {"title": "Which <patches> stay", "introduction": "The first\nparagraph.\n\nThe second."}
    page_text = supplement.write_supplement(opened, analysis, **said)
    assert len(page_text.encode()) < 3_000_000
    path = tmp_path / "supplement.html"
    path.write_text(page_text, encoding="utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US", offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else complaints.append(r.url))
    page.goto(path.as_uri())
    page.wait_for_selector(".lens-grid[data-settings]")
    assert_page_shows(page, analysis)
    assert page.title() == page.locator("[data-paper=title]").inner_text() == said["title"]
    assert page.locator("[data-paper=introduction]").all_inner_texts() == ["The first paragraph.", "The second."]
    assert "not where the person is" in page.locator("[data-paper=weights]").inner_text()
    assert_page_explains(page, analysis)
    for name, value in OTHER.items():
        field(page, name).fill(str(value))
    wait_for_settings(page, **OTHER)
    moved = sdtps.analyse(model, *app.files("day"), sdtps.Settings(**OTHER))
    page.mouse.move(2, 2)
    assert_page_shows(page, moved)
    assert_page_explains(page, moved)
    assert page.locator(".lens-row[data-modality=rgb] [data-panel=kept] .lens-caption").inner_text() == "79 of 128"
    for name, value in SETTINGS.items():
        field(page, name).fill(str(value))
    wait_for_settings(page, **SETTINGS)
    page.mouse.move(2, 2)
    assert_page_shows(page, analysis)
    context.close()
    assert complaints == []
