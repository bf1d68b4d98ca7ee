"""Retrieval against a plain loop, and a folder from disk to numbers."""

import numpy as np
import pytest

import sdtps
from sdtps.datasets import read_rgbnt201
from sdtps.evaluate import evaluate_folder, extract, retrieval
from sdtps.synth import write_rgbnt201


def plain_retrieval(features, pid, cam):
    """mAP and rank-1 written out query by query."""
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    average_precisions, first = [], []
    for q in range(len(pid)):
        others = [i for i in range(len(pid)) if not (pid[i] == pid[q] and cam[i] == cam[q])]
        others.sort(key=lambda i: ((unit[q] - unit[i]) ** 2).sum())
        hits, precisions = 0, []
        for place, i in enumerate(others, 1):
            if pid[i] == pid[q]:
                hits += 1
                precisions.append(hits / place)
        if precisions:
            average_precisions.append(np.mean(precisions))
            first.append(pid[others[0]] == pid[q])
    return np.mean(average_precisions), np.mean(first)


def test_retrieval_equals_a_plain_loop():
    rng = np.random.default_rng(0)
    pid, cam = rng.integers(0, 8, 60), rng.integers(0, 3, 60)
    features = (rng.normal(size=(8, 16))[pid] + 1.5 * rng.normal(size=(60, 16))).astype(np.float32)
    got = retrieval(features, pid, cam, features, pid, cam)
    want_map, want_rank1 = plain_retrieval(features.astype(float), pid, cam)
    assert got.mean_average_precision == pytest.approx(want_map, abs=1e-6)
    assert got.rank(1) == pytest.approx(want_rank1)
    assert got.rank(10) >= got.rank(5) >= got.rank(1)


def test_same_person_under_the_same_camera_is_dropped_and_lonely_queries_are_skipped():
    features = np.eye(4, dtype=np.float32)
    pid, cam = np.array([0, 0, 1, 2]), np.array([0, 0, 0, 1])
    with pytest.raises(ValueError, match="two cameras"):
        retrieval(features, pid, cam, features, pid, cam)
    cam = np.array([0, 1, 0, 1])
    got = retrieval(features, pid, cam, features, pid, cam)
    assert (got.queries, got.skipped) == (2, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("people")
    write_rgbnt201(root, ids=3, views=4, seed=3, split="test")
    return root


def test_generated_people_are_read_like_rgbnt201(folder):
    records = read_rgbnt201(folder, "test")
    assert len(records) == 12
    assert {r.pid for r in records} == {0, 1, 2}
    assert {r.cam for r in records} == {0, 1, 2, 3}
    assert all(r.mask is not None and p.is_file() for r in records for p in r.paths)


def test_folder_features_equal_single_analyses(folder, tiny_model):
    records = read_rgbnt201(folder, "test")
    found = extract(tiny_model, records, sdtps.Settings(), batch=5)
    one = sdtps.analyse(tiny_model, *records[7].paths)
    np.testing.assert_allclose(found.features[7], one.feature, rtol=1e-3, atol=1e-4)
    assert set(found.quality) == {"rgb", "nir", "tir"}
    assert all(0 <= q.precision <= 1 for q in found.quality.values())
    assert set(found.quality["rgb"].auc) == {"score", "predictor", "self", "cross1", "cross2"}
    assert len(found.quality["rgb"].correlation) == 6
    assert 0 < evaluate_folder(found).mean_average_precision <= 1


def test_a_missing_modality_changes_the_features(folder, tiny_model):
    records = read_rgbnt201(folder, "test")[:4]
    whole, without = (extract(tiny_model, records, missing=m).features for m in ((), ("tir",)))
    assert not np.allclose(whole, without)


def test_a_folder_without_triplets_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no RGB folder"):
        read_rgbnt201(tmp_path, "test")
