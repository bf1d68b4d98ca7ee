"""Features on disk: computed once, keyed by all they depend on, continued after a stop, whole or not there."""

import numpy as np
import pytest

import sdtps
from sdtps.checkpoints.load import random_model
from sdtps.datasets import open_dataset
from sdtps.retrieval.feature_store import FeatureStore, default_folder
from sdtps.retrieval.features import extract
from tests.conftest import tiny_vit_config
from tests.datasets import trees

WHOLE = frozenset()
SETTINGS = sdtps.Settings()


@pytest.fixture
def dataset(tmp_path):
    return open_dataset(trees.rgbnt201(tmp_path / "data", ids=4))


@pytest.fixture
def store(tmp_path):
    return FeatureStore(tmp_path / "cache")


@pytest.fixture
def runs(tiny_model, monkeypatch):
    """Counts the pictures that go through the backbone."""
    seen = []
    real = tiny_model.net.encode
    monkeypatch.setattr(tiny_model.net, "encode", lambda images, *a: seen.append(images.shape[1]) or real(images, *a))
    return seen


def test_computed_once_and_the_same_when_read_again(store, dataset, tiny_model, runs):
    first = store.features(tiny_model, dataset, "test", SETTINGS, batch=3)[WHOLE]
    assert sum(runs) == 8
    again = FeatureStore(store.folder).features(tiny_model, open_dataset(dataset.root), "test", SETTINGS)[WHOLE]
    assert sum(runs) == 8
    np.testing.assert_array_equal(first.features, again.features)
    assert first.records == again.records
    np.testing.assert_array_equal(first.features, extract(tiny_model, first.records, SETTINGS, batch=3).features)


@pytest.mark.parametrize(
    "other", [{"sparse_ratio": 0.3}, {"aggr_ratio": 0.5}, {"beta": 0.1}, {"variant": "importance"}]
)
def test_other_settings_are_other_features(store, dataset, tiny_model, runs, other):
    store.features(tiny_model, dataset, "test", SETTINGS)
    store.features(tiny_model, dataset, "test", sdtps.Settings(**other))
    assert sum(runs) == 16
    assert [s.settings for s in store.available(tiny_model, dataset, "test")][-1] == SETTINGS


def test_tau_does_not_count(store, dataset, tiny_model, runs):
    store.features(tiny_model, dataset, "test", SETTINGS)
    store.features(tiny_model, dataset, "test", sdtps.Settings(tau=3.0))
    assert sum(runs) == 8


def test_other_weights_and_changed_data_are_computed_again(store, dataset, tiny_model, runs):
    store.features(tiny_model, dataset, "test", SETTINGS)
    other = random_model(tiny_vit_config(num_classes=5), seed=9, device="cpu")
    assert store.available(other, dataset, "test") == []
    trees.write(dataset.listing("test").records[0].paths[1], 77)
    changed = open_dataset(dataset.root)
    assert store.available(tiny_model, changed, "test") == []
    store.features(tiny_model, changed, "test", SETTINGS)
    assert sum(runs) == 16


def test_stopped_work_is_continued(store, dataset, tiny_model, runs):
    class Stop(Exception):
        pass

    def stop_at_four(done, total):
        if done >= 4:
            raise Stop

    with pytest.raises(Stop):
        store.features(tiny_model, dataset, "test", SETTINGS, batch=2, progress=stop_at_four)
    (found,) = store.available(tiny_model, dataset, "test")
    assert (found.done, found.total) == (4, 8)
    seen = []
    whole = store.features(
        tiny_model, dataset, "test", SETTINGS, batch=2, progress=lambda done, total: seen.append((done, total))
    )[WHOLE]
    assert seen == [(6, 8), (8, 8)]
    assert sum(runs) == 8
    np.testing.assert_array_equal(
        whole.features, extract(tiny_model, dataset.listing("test").records, SETTINGS, batch=2).features
    )


def test_missing_modalities_share_one_pass_of_the_backbone(store, dataset, tiny_model, runs):
    conditions = [frozenset(), frozenset({"tir"}), frozenset({"rgb", "nir"})]
    found = store.features(tiny_model, dataset, "test", SETTINGS, conditions, batch=8)
    assert runs == [8, 1]  # the pictures, and one blank triplet
    for missing in conditions:
        direct = extract(tiny_model, dataset.listing("test").records, SETTINGS, missing=missing)
        np.testing.assert_allclose(found[missing].features, direct.features, rtol=1e-4, atol=1e-5)


def test_a_damaged_file_is_computed_again(store, dataset, tiny_model, runs, caplog):
    store.features(tiny_model, dataset, "test", SETTINGS)
    (file,) = store.folder.iterdir()
    file.write_bytes(file.read_bytes()[:-100])
    store.features(tiny_model, dataset, "test", SETTINGS)
    assert sum(runs) == 16
    assert "cannot be read" in caplog.text


def test_the_folder_keeps_within_its_budget(dataset, tiny_model, tmp_path):
    store = FeatureStore(tmp_path / "cache", max_bytes=1)
    for ratio in (0.2, 0.3, 0.4):
        store.features(tiny_model, dataset, "test", sdtps.Settings(sparse_ratio=ratio))
    (kept,) = store.available(tiny_model, dataset, "test")
    assert kept.settings.sparse_ratio == 0.4
    assert len(list(store.folder.iterdir())) == 1


def test_a_failed_write_leaves_nothing(store, dataset, tiny_model, monkeypatch):
    def fail(stream, **arrays):
        stream.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        store.features(tiny_model, dataset, "test", SETTINGS)
    assert list(store.folder.iterdir()) == []


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("SDTPS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "sdtps-lens"


def test_an_account_without_a_home_has_a_cache_all_the_same(monkeypatch):
    for name in ("SDTPS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless():
        raise RuntimeError("no home")

    monkeypatch.setattr("pathlib.Path.home", homeless)
    assert default_folder().is_absolute()
