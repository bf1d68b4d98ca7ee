"""The weights that the page can choose from: loaded on demand, a few at a time, named by key only."""

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch

from sdtps import pipeline
from sdtps.checkpoints.load import WeightsSource
from sdtps.datasets.examples import Example
from sdtps.pipeline import encoding
from sdtps.web.session import model_registry
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.model_registry import ModelRegistry
from sdtps.web.session.requests import Refusal
from tests.attack import files as attack_files
from tests.checkpoints.checkpoint_files import demo_shapes, random_state

PICTURES = {"pictures": {m: {"example": "one"} for m in ("rgb", "nir", "tir")}}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    folder = tmp_path_factory.mktemp("weights")
    paths = [folder / f"{i}.pth" for i in range(4)]
    for i, path in enumerate(paths):
        torch.save(random_state(demo_shapes(depth=1, rows=25, classes=9), seed=i), path)
    return paths


def backend(registry: ModelRegistry, tmp_path: Path) -> PageBackend:
    from PIL import Image

    for m in ("rgb", "nir", "tir"):
        Image.fromarray(np.random.default_rng(0).integers(0, 255, (256, 128, 3), np.uint8)).save(tmp_path / f"{m}.png")
    return PageBackend(registry, {"one": Example("one", {"en": "one"}, tmp_path)})


def test_models_are_loaded_on_demand_and_dropped_with_their_caches(files, tmp_path):
    pipeline.forget()
    registry = ModelRegistry(device="cpu", max_loaded=2)
    keys = [registry.add(WeightsSource(path), now=False) for path in files]
    assert registry.loaded == ()
    bench = backend(registry, tmp_path)
    answers = {}
    first = weakref.ref(registry[keys[0]].net)
    for key in keys:
        answers[key] = bench.analyse(PICTURES | {"weights": key})
        assert len(registry.loaded) <= 2
    assert registry.loaded == tuple(keys[2:])
    gc.collect()
    assert first() is None, "an analysed triplet must not keep its weights in memory"
    assert {key[0] for key in encoding.ENCODINGS._items} == {registry[key].identity for key in keys[2:]}
    moved = bench.decide({"key": answers[keys[0]]["key"], "settings": {}})
    assert moved["modalities"]["rgb"]["maps"]["score"] == answers[keys[0]]["modalities"]["rgb"]["maps"]["score"]
    assert keys[0] in registry.loaded


def test_models_without_a_file_stay(files, tiny_model):
    registry = ModelRegistry([tiny_model], "cpu", max_loaded=1)
    for path in files[:3]:
        registry.add(WeightsSource(path))
    assert tiny_model.weights.short_hash in registry.loaded
    assert len(registry.loaded) == 2
    assert registry.model(None) is tiny_model


def test_only_keys_name_weights(files):
    registry = ModelRegistry(device="cpu")
    registry.add(WeightsSource(files[0]))
    for wrong in (str(files[1]), "../../etc/passwd", "", 7, "timm:vit_base_patch16_224"):
        with pytest.raises(Refusal, match="not loaded"):
            registry.model(wrong)


def test_a_listed_file_that_is_broken_is_one_sentence_when_it_is_chosen(tmp_path):
    broken = tmp_path / "broken.pth"
    broken.write_bytes(b"hello")
    registry = ModelRegistry(device="cpu")
    key = registry.add(WeightsSource(broken), now=False)
    with pytest.raises(Refusal, match=r"'broken\.pth' is not a checkpoint"):
        registry.model(key)


def test_uploads_are_off_unless_allowed(files):
    with pytest.raises(Refusal, match="takes no weights from the page"):
        ModelRegistry(device="cpu").upload("x.pth", files[0].read_bytes())


def test_uploads_are_bounded_and_their_files_are_removed(files, monkeypatch):
    monkeypatch.setattr(model_registry, "MAX_UPLOADS", 2)
    registry = ModelRegistry(device="cpu", uploads=True)
    keys = [registry.upload(f"../../{i}/w.pth", path.read_bytes()) for i, path in enumerate(files[:3])]
    assert list(registry) == keys[1:]
    assert {entry.name for entry in registry.entries.values()} == {"w.pth"}
    folder = Path(registry._folder.name)
    assert sorted(p.name for p in folder.iterdir()) == sorted(keys[1:])
    with pytest.raises(Refusal, match="is not a checkpoint"):
        registry.upload("w.pth", b"hello")
    assert list(registry) == keys[1:]
    assert len(list(folder.iterdir())) == 2
    monkeypatch.setattr(model_registry, "UPLOAD_BYTES", 10)
    with pytest.raises(Refusal, match="the limit is"):
        registry.upload("w.pth", files[0].read_bytes())


def test_a_file_that_was_replaced_is_noticed_and_gets_a_key_of_its_own(files, tmp_path):
    path, other = tmp_path / "w.pth", files[1].read_bytes()
    path.write_bytes(files[0].read_bytes())
    registry = ModelRegistry(device="cpu", max_loaded=1)
    key, further = registry.add(WeightsSource(path)), registry.add(WeightsSource(files[2]))
    bench = backend(registry, tmp_path)
    assert "error" not in bench.analyse(PICTURES | {"weights": key})
    registry.model(further)
    path.write_bytes(other)
    for _ in range(2):
        assert bench.analyse(PICTURES | {"weights": key})["error"]["code"] == "weights.replaced"
    first = next(iter(registry))
    assert first != key
    assert registry.model(first).weights.short_hash == first


def test_an_upload_that_asks_for_too_much_is_refused_by_a_process_of_its_own(monkeypatch):
    registry = ModelRegistry(device="cpu", uploads=True)
    monkeypatch.setattr(WeightsSource, "load", lambda *_: pytest.fail("it was loaded here"))
    for name, content in attack_files.checkpoints():
        with pytest.raises(Refusal, match="no finite numbers" if "overflowing" in name else name):
            registry.upload(name, content)
    assert list(registry) == []


def test_weights_can_be_read_with_rows_and_columns_exchanged(files):
    registry = ModelRegistry(device="cpu")
    key = registry.add(WeightsSource(files[0]))
    other = registry.turned(key)
    assert [tuple(registry[k].net.backbone.grid) for k in (key, other)] == [(16, 8), (8, 16)]
    assert registry.turned(other) == key
    assert registry.turned(key) == other


def test_the_same_file_with_other_options_is_another_entry(files):
    registry = ModelRegistry(device="cpu")
    first = registry.add(WeightsSource(files[0]))
    assert registry.add(WeightsSource(files[0])) == first
    second = registry.add(WeightsSource(files[0], size=(128, 256)))
    assert second != first
    assert len(registry) == 2
