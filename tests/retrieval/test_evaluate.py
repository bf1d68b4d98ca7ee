"""Retrieval against a plain loop, and a folder from disk to numbers."""

import numpy as np
import pytest

import sdtps
from sdtps.datasets import UNKNOWN, Apart, Record, open_dataset, read_rgbnt201
from sdtps.retrieval.evaluate import MISSING_TABLE, evaluate, evaluate_folder, extract, retrieval
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.retrieval.ranking import rank_list
from sdtps.training.synth import write_rgbnt201
from tests.datasets import trees


def plain_retrieval(features, pid, apart):
    """mAP and rank-1 written out query by query."""
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    average_precisions, first = [], []
    for q in range(len(pid)):
        others = [i for i in range(len(pid)) if not (pid[i] == pid[q] and apart[i] == apart[q])]
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


def test_triplets_of_unknown_identity_are_distractors():
    features = np.eye(5, dtype=np.float32)[[0, 0, 0, 1, 1]]
    pid, cam = np.array([7, 7, UNKNOWN, UNKNOWN, UNKNOWN]), np.array([0, 1, 2, 0, 1])
    got = retrieval(features, pid, cam, features, pid, cam)
    assert (got.queries, got.skipped) == (2, 3)


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
    assert all(0 <= q.precision <= q.best_precision <= 1 for q in found.quality.values())
    assert set(found.quality["rgb"].auc) == {"score", "predictor", "self", "cross1", "cross2"}
    assert len(found.quality["rgb"].correlation) == 6
    assert 0 < evaluate_folder(found).mean_average_precision <= 1


def test_a_missing_modality_changes_the_features(folder, tiny_model):
    records = read_rgbnt201(folder, "test")[:4]
    whole, without = (extract(tiny_model, records, missing=m).features for m in ((), ("tir",)))
    assert not np.allclose(whole, without)


def test_unseen_generated_people_give_the_map_of_a_plain_loop(folder, tiny_model, tmp_path):
    """From files to mAP by two ways: the command's, and single analyses with a loop."""
    dataset, store, settings = open_dataset(folder), FeatureStore(tmp_path), sdtps.Settings(sparse_ratio=0.3)

    def features(split, conditions):
        return store.features(tiny_model, dataset, split, settings, conditions, batch=5)

    results, _ = evaluate(dataset, features, missing_table=True)
    names = sorted(p.name for p in (folder / "RGBNT201" / "test" / "RGB").iterdir())
    pid, cam = [int(n[:6]) for n in names], [int(n[10]) for n in names]
    assert list(MISSING_TABLE) == ["r", "n", "t", "rn", "rt", "nt"]
    for left_out in ("", *MISSING_TABLE):
        rows = []
        for name in names:
            files = [folder / "RGBNT201" / "test" / sub / name for sub in ("RGB", "NI", "TI")]
            given = [None if letter in left_out else file for letter, file in zip("rnt", files, strict=True)]
            rows.append(sdtps.analyse(tiny_model, *given, settings).feature)
        want_map, want_rank1 = plain_retrieval(np.array(rows, float), pid, cam)
        assert results[left_out].mean_average_precision == pytest.approx(want_map, abs=1e-4)
        assert results[left_out].rank(1) == pytest.approx(want_rank1)
    assert len({r.mean_average_precision for r in results.values()}) > 3


def test_msvr310_leaves_out_the_scene_not_the_camera(tmp_path, tiny_model):
    """Camera 3 sees identity 1 in two scenes: a match there counts; one in the query's scene does not."""
    base = tmp_path / "MSVR310"
    for split in ("query3", "bounding_box_test"):
        for pid, scene, cam in ((1, 1, 3), (1, 2, 3), (2, 1, 3), (2, 2, 4)):
            name = f"{pid:04d}_s{scene:03d}_v{cam}_000.jpg"
            trees.write_folders(base / split / f"{pid:04d}", [name], ("vis", "ni", "th"))
    dataset = open_dataset(tmp_path)
    found = extract(tiny_model, dataset.listing("query3").records)
    want_map, want_rank1 = plain_retrieval(found.features.astype(float), found.pid, [1, 2, 1, 2])
    results, _ = evaluate(dataset, lambda split, _: {frozenset(): extract(tiny_model, dataset.listing(split).records)})
    assert (results[""].queries, results[""].skipped) == (4, 0)
    assert results[""].mean_average_precision == pytest.approx(want_map, abs=1e-6)
    assert results[""].rank(1) == pytest.approx(want_rank1)


def test_names_without_identities_cannot_be_judged(tmp_path):
    trees.write_folders(tmp_path, ["a.jpg", "b.jpg"], ("rgb", "nir", "tir"))
    with pytest.raises(ValueError, match="do not tell identities"):
        evaluate(open_dataset(tmp_path), lambda *_: {})


def test_unreadable_pictures_are_left_out_and_listed(tmp_path, tiny_model):
    trees.rgbnt201(tmp_path)
    damaged = tmp_path / "RGBNT201" / "test" / "NI" / "000202_cam1_0_00.jpg"
    damaged.write_bytes(damaged.read_bytes()[:-80])
    found = extract(tiny_model, read_rgbnt201(tmp_path, "test"), batch=4)
    assert len(found.records) == len(found.features) == 5
    assert [(b.name, str(b.why)) for b in found.broken] == [
        (damaged.name, "NIR: The image is damaged or cut off; save or copy it again.")
    ]


def record(pid, cam, scene=None):
    return Record(f"{pid}-{cam}-{scene}", (), pid, cam, None, scene)


def test_a_rank_list_says_who_is_right_and_what_was_left_out():
    rng = np.random.default_rng(4)
    records = [record(pid, cam, cam % 2) for pid in range(4) for cam in range(3)]
    features = rng.normal(size=(12, 6)).astype(np.float32)
    got = rank_list(features[4], features, records, records[4], Apart.CAMERA, 5)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    others = [i for i in range(12) if i != 4]
    others.sort(key=lambda i: ((unit[4] - unit[i]) ** 2).sum())
    assert [m.number for m in got.matches] == others[:5]
    assert [m.same for m in got.matches] == [records[i].pid == 1 for i in others[:5]]
    np.testing.assert_allclose(
        [m.distance for m in got.matches], [((unit[4] - unit[i]) ** 2).sum() for i in others[:5]], atol=1e-6
    )
    assert (got.searched, got.left_out, got.right) == (11, 1, 2)
    places = [p for p, i in enumerate(others, 1) if records[i].pid == 1]
    assert got.first_right == places[0]
    assert got.average_precision == pytest.approx(np.mean([(k + 1) / p for k, p in enumerate(places)]))

    by_scene = rank_list(features[4], features, records, records[4], Apart.SCENE, 5)
    assert by_scene.left_out == 1
    stranger = rank_list(features[4], features, records, None, Apart.CAMERA, 5)
    assert (stranger.matches[0].number, stranger.matches[0].same) == (4, None)
    assert stranger.matches[0].distance == pytest.approx(0, abs=1e-9)
    assert (stranger.left_out, stranger.right, stranger.average_precision) == (0, None, None)


@pytest.mark.parametrize("kind", ["random", "close", "ties"])
def test_a_rank_list_is_that_of_double_precision(kind):
    """Also where single precision cannot tell the candidates apart, and where many are the same."""
    rng = np.random.default_rng(7)
    features = rng.normal(size=(3000, 256)).astype(np.float32)
    if kind == "close":
        features = features[:1] + 1e-4 * features
    if kind == "ties":
        features = np.repeat(features[:30], 100, axis=0)
    records = [record(i % 40, i % 3) for i in range(len(features))]
    got = rank_list(features[4], features, records, records[4], Apart.CAMERA, 20)
    wide = features.astype(np.float64)
    unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    distance = np.maximum(2 - 2 * unit @ unit[4], 0)
    allowed = np.array([i for i, r in enumerate(records) if not (r.pid == records[4].pid and r.cam == records[4].cam)])
    order = allowed[np.argsort(distance[allowed], kind="stable")]
    if kind != "ties":
        assert [m.number for m in got.matches] == list(order[:20])
    np.testing.assert_allclose([m.distance for m in got.matches], distance[order[:20]], atol=1e-14)
    match = np.array([records[i].pid == records[4].pid for i in order])
    if kind == "random":
        assert got.first_right == np.argmax(match) + 1
        places = np.flatnonzero(match) + 1
        assert got.average_precision == pytest.approx(np.mean(np.arange(1, len(places) + 1) / places), abs=1e-6)
    assert (got.right, got.searched) == (match.sum(), len(allowed))


def test_a_folder_without_triplets_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no RGB folder"):
        read_rgbnt201(tmp_path, "test")
