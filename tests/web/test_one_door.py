"""Weights with cameras, a grid of 8x16 and an anonymous server: every way gives the same numbers, with the camera."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradio_client import Client, handle_file
from playwright.sync_api import Browser

import sdtps
from sdtps.checkpoints.anonymise import hide_model
from sdtps.checkpoints.load import random_model, save_checkpoint
from sdtps.cli.main import main
from sdtps.datasets import open_dataset
from sdtps.export import serialise
from sdtps.export.batch import Task, items_of
from sdtps.export.batch.work import process
from sdtps.export.bundle import read_bundle, write_bundle
from sdtps.images.read import read_triplet
from sdtps.metrics import measure_faithfulness
from sdtps.models.reid import LoadedModel, ModelConfig
from sdtps.panels import maps_of
from sdtps.pipeline import OpenSet
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.retrieval.features import NOTHING, extract
from sdtps.web.session.backend import PageBackend
from tests.datasets import trees
from tests.harness import serving_app
from tests.visitor import Visitor
from tests.web.test_seven_ways import assert_page_shows, options, plain

CAMERA = 2
NAME = "000004_cam3_0_00.jpg"  # names count cameras from 1
SETTINGS = {"sparse_ratio": 0.3, "aggr_ratio": 0.7, "beta": 0.125, "tau": 0.3}


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "cameras.safetensors"
    backbone = {"timm_options": {"depth": 2}, "cameras": 4}
    config = ModelConfig("vit", "vit_tiny_patch16_224", (128, 256), backbone)
    model = random_model(config, seed=5, device="cpu")
    table = model.net.backbone.cv_embed
    table.data.normal_(std=0.5)  # far enough apart that a forgotten camera shows
    save_checkpoint(model.net, path, half=False)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("data")
    for j, folder in enumerate(("RGB", "NI", "TI")):
        (root / "RGBNT201" / "test" / folder).mkdir(parents=True)
        for i, name in enumerate((NAME, "000004_cam1_0_00.jpg", "000005_cam2_0_00.jpg")):
            trees.write(root / "RGBNT201" / "test" / folder / name, 3 * i + j)
    return root


@pytest.fixture(scope="module")
def model(weights: Path) -> LoadedModel:
    return sdtps.load_model(weights, device="cpu")


@pytest.fixture(scope="module")
def files(data: Path) -> tuple[str, str, str]:
    rgb, nir, tir = (str(data / "RGBNT201" / "test" / folder / NAME) for folder in ("RGB", "NI", "TI"))
    return rgb, nir, tir


@pytest.fixture(scope="module")
def analysis(model: LoadedModel, files: tuple[str, str, str]) -> sdtps.Analysis:
    """The first way: Python."""
    return sdtps.analyse(model, *files, sdtps.Settings(**SETTINGS), camera=CAMERA)


@pytest.fixture(scope="module")
def anonymous(weights: Path, data: Path):
    arguments = ("--weights", str(weights), "--data", str(data), "--anonymous", "--device", "cpu")
    with serving_app(*arguments) as url:
        yield url


def shown_maps(answer: dict[str, Any]) -> dict[str, list[float]]:
    """What a page was sent, by modality and panel."""
    return {
        f"{m}.{name}": np.frombuffer(base64.b64decode(packed), "<f4").tolist()
        for m, part in answer["modalities"].items()
        for name, packed in part["maps"].items()
        if packed is not None
    }


def expected_maps(analysis: sdtps.Analysis) -> dict[str, list[float]]:
    found = {}
    for m, trace in analysis.traces.items():
        for name, values in maps_of(trace, m).items():
            if values is not None:
                found[f"{m}.{name}"] = values.tolist()
    return found


def record_pictures(visitor: Visitor) -> dict[str, Any]:
    rows = visitor.ask("data.find", root=0, split="test", count=10)["rows"]
    record = {"record": next(row["id"] for row in rows if row["cam"] == CAMERA + 1)}
    return dict.fromkeys(("rgb", "nir", "tir"), record)


def test_the_camera_matters_and_is_told(analysis, model, files) -> None:
    assert analysis.grid == sdtps.Grid(8, 16)
    assert analysis.camera == CAMERA
    without = sdtps.analyse(model, *files, sdtps.Settings(**SETTINGS))
    assert without.camera is None
    assert not np.array_equal(without["rgb"].score, analysis["rgb"].score)
    with pytest.raises(ValueError, match="know the cameras 0 to 3, not 4"):
        sdtps.analyse(model, *files, camera=4)


def test_page_and_slider_of_an_anonymous_server(anonymous: str, analysis) -> None:
    with Visitor(anonymous) as visitor:
        opened = visitor.analyse(record_pictures(visitor), SETTINGS)
        assert shown_maps(opened) == expected_maps(analysis)
        moved = visitor.decide(opened["key"], SETTINGS)
        still = {name for name in shown_maps(opened) if name not in shown_maps(moved)}
        assert shown_maps(moved) == {n: v for n, v in expected_maps(analysis).items() if n not in still}


def test_browser_of_an_anonymous_server(anonymous: str, browser: Browser, analysis) -> None:
    with Visitor(anonymous) as visitor:
        record = record_pictures(visitor)["rgb"]["record"]
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{anonymous}/?record={record}&sparse=0.3&aggr=0.7&beta=0.125&tau=0.3")
    page.wait_for_selector(".lens-grid[data-settings]")
    assert_page_shows(page, analysis)
    page.close()


def test_http_of_an_anonymous_server(anonymous: str, analysis, files) -> None:
    client = Client(anonymous, verbose=False)
    answer = client.predict(*map(handle_file, files), **SETTINGS, camera=CAMERA, api_name="/analyse")
    assert answer["arrays"] == plain(analysis)
    assert answer["camera"] == CAMERA
    assert answer["weights"]["sha256"].startswith("hidden-")


def test_commands(weights: Path, files, analysis, tmp_path: Path, capsys) -> None:
    chosen = ["--weights", str(weights), "--camera", str(CAMERA), *options(SETTINGS)]
    assert main(["inspect", *files, *chosen, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["arrays"] == plain(analysis)
    assert told["camera"] == CAMERA
    path = tmp_path / "set.zip"
    assert main(["bundle", *files, *chosen, "--columns", "input,kept", "--out", str(path)]) == 0
    assert plain(read_bundle(path).analysis) == plain(analysis)
    capsys.readouterr()
    # With other settings the bundle's set goes through its weights again, with its camera.
    again = [str(path), "--weights", str(weights), "--beta", "0.3", "--json"]
    assert main(["inspect", *again]) == 0
    moved = sdtps.analyse(
        sdtps.load_model(weights, device="cpu"), *files, replace(analysis.settings, beta=0.3), camera=CAMERA
    )
    assert json.loads(capsys.readouterr().out)["arrays"] == plain(moved)
    assert main(["inspect", *files, "--weights", str(weights), "--camera", "9"]) == 1
    assert "know the cameras 0 to 3, not 9" in capsys.readouterr().err


def test_batch(model: LoadedModel, data: Path, analysis) -> None:
    item = next(i for i in items_of(open_dataset(data).listing("test").records) if i.record.name == NAME)
    (result,) = process(model, [item], Task(sdtps.Settings(**SETTINGS)))
    found = serialise.unpack_npz(result.files[f"maps/{item.name}.npz"])
    assert {name: array.tolist() for name, array in found.items()} == plain(analysis)


def test_index(model: LoadedModel, data: Path, analysis) -> None:
    records = open_dataset(data).listing("test").records
    found = extract(model, records, sdtps.Settings(**SETTINGS), batch=2)
    feature = found.features[[r.name for r in found.records].index(NAME)]
    np.testing.assert_allclose(feature, analysis.feature, rtol=1e-4, atol=1e-5)
    single = extract(model, [r for r in records if r.name == NAME], sdtps.Settings(**SETTINGS), batch=1)
    np.testing.assert_array_equal(single.features[0], analysis.feature)


def test_a_bundle_moves_on_the_page_with_its_camera(model: LoadedModel, files, analysis) -> None:
    backend = PageBackend([model], {})
    opened = OpenSet.of(model, read_triplet(*files), CAMERA)
    shown = backend.open_bundle(write_bundle(analysis, opened.prepared.pixels))
    assert shown_maps(shown["analysis"]) == expected_maps(analysis)
    moved = backend.decide({"key": shown["analysis"]["key"], "settings": {"beta": 0.3}})
    beta = opened.analyse(replace(analysis.settings, beta=0.3))
    assert shown_maps(moved)["nir.score"] == beta["nir"].score.tolist()


def test_faithfulness_is_about_the_set_with_its_camera(model: LoadedModel, files) -> None:
    triplet = read_triplet(*files)
    with_camera, without = (
        measure_faithfulness(OpenSet.of(model, triplet, c), orders=3).as_dict()["removal"] for c in (CAMERA, None)
    )
    retained = with_camera["rgb"]["whole"]["retained"]
    assert retained != without["rgb"]["whole"]["retained"]


def test_a_record_from_a_camera_that_the_weights_do_not_know(model: LoadedModel, files) -> None:
    opened = OpenSet.of(model, read_triplet(*files), 7, asked=False)
    assert opened.camera is None
    assert any("no camera was given to them" in note for note in opened.notes)


def test_the_first_bundles_open_without_a_camera(model: LoadedModel, files, analysis) -> None:
    facts = {k: v for k, v in serialise.facts_of(analysis).items() if k != "camera"}
    assert serialise.analysis_from(serialise.arrays_of(analysis), facts).camera is None


def test_two_readings_of_one_file_never_share_a_feature(weights: Path, data: Path, tmp_path: Path) -> None:
    """The same file, upright and lying: other numbers, other keys; on disk, too, and without a name."""
    square = tmp_path / "open.safetensors"
    save_checkpoint(random_model(ModelConfig("vit", "vit_tiny_patch16_224", (128, 128)), device="cpu").net, square)
    options = {"timm_options": {"depth": 2}, "cameras": 4}
    lying = sdtps.load_model(weights, "cpu")
    upright = random_model(ModelConfig("vit", "vit_tiny_patch16_224", (256, 128), options), device="cpu")
    # One file read twice: the hash is the same, the way is not.
    upright = replace(upright, weights=replace(upright.weights, sha256=lying.weights.sha256), identity="")
    assert upright.weights.sha256 == lying.weights.sha256
    assert upright.identity != lying.identity
    other = replace(sdtps.load_model(square, "cpu"))
    hidden = [hide_model(model) for model in (lying, upright, other)]
    assert len({h.weights.sha256 for h in hidden}) == 1, "anonymous weights show the same name"
    assert len({h.identity for h in hidden}) == 3, "and are told apart all the same"
    assert [h.identity for h in hidden] == [m.identity for m in (lying, upright, other)]
    store, dataset = FeatureStore(tmp_path / "cache"), open_dataset(data)
    for chosen in hidden:
        found = store.features(chosen, dataset, "test", sdtps.Settings())[NOTHING]
        direct = extract(chosen, dataset.listing("test").records, sdtps.Settings())
        np.testing.assert_array_equal(found.features, direct.features)
    assert len(list((tmp_path / "cache").glob("*.npz"))) == 3


def test_a_variant_that_the_weights_cannot_run_is_refused_everywhere(
    weights: Path, data: Path, files, model, capsys, tmp_path: Path
) -> None:
    lacking = "second predictor"
    chosen = ["--weights", str(weights), "--variant", "paper"]
    out = str(tmp_path / "out")
    for command in (
        ["inspect", *files],
        ["figure", *files, "--out", f"{out}.pdf"],
        ["bundle", *files, "--out", f"{out}.zip"],
        ["ranks", str(data), "--out", f"{out}.pdf", "--cache", out],
        ["index", str(data), "--cache", out],
        ["evaluate", str(data), "--cache", out],
        ["faithfulness", str(data), "--orders", "2"],
        ["batch", str(data), "--out", f"{out}-batch"],
    ):
        assert main([*command, *chosen]) == 1, command
        assert lacking in capsys.readouterr().err, command
    with pytest.raises(sdtps.SettingsError, match=lacking):
        sdtps.analyse(model, *files, sdtps.Settings(variant="paper"))


def test_one_table_of_defaults(weights: Path, data: Path, capsys, tmp_path: Path, monkeypatch) -> None:
    """What no option says comes from the weights, for every command; YAML, size and force can be given to all."""
    seen = []
    monkeypatch.setattr(
        FeatureStore, "features", lambda self, model, dataset, split, settings, *_, **__: seen.append(settings) or {}
    )
    config = tmp_path / "demo.yml"
    config.write_text("MODEL:\n  SDTPS_SPARSE_RATIO: 0.7\n  SDTPS_AGGR_RATIO: 0.5\n  SDTPS_BETA: 0.3\n")
    for command in ("index", "evaluate"):
        main([command, str(data), "--weights", str(weights), "--config", str(config), "--cache", str(tmp_path)])
        main([command, str(data), "--weights", str(weights), "--cache", str(tmp_path)])
    capsys.readouterr()
    trained, plain_ones = sdtps.load_model(weights, "cpu", config=config).settings, sdtps.Settings()
    assert trained.sparse_ratio == 0.7
    assert seen == [trained, plain_ones, trained, plain_ones]
