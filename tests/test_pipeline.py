import threading
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import torch

import sdtps
from sdtps import pipeline
from sdtps.checkpoints.load import random_model
from sdtps.images.read import read_triplet
from sdtps.models.reid import ModelConfig
from sdtps.pipeline import encoding
from sdtps.variants import SDTPS_VARIANTS
from tests.conftest import TINY_VIT, tiny_vit_config


@pytest.fixture(autouse=True)
def empty_cache():
    pipeline.forget()
    yield
    pipeline.forget()


@pytest.fixture
def backbone_calls(tiny_model):
    calls = []
    handle = tiny_model.net.backbone.register_forward_hook(lambda *_: calls.append(1))
    yield calls
    handle.remove()


def assert_same_bits(a, b):
    for m in ("rgb", "nir", "tir"):
        for name, value in vars(a[m]).items():
            other = getattr(b[m], name)
            if isinstance(value, np.ndarray):
                assert np.array_equal(value, other), (m, name)
    assert np.array_equal(a.feature, b.feature)


def test_shapes_and_types_are_as_documented(tiny_model, photos):
    a = sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(sparse_ratio=0.5, aggr_ratio=0.4, beta=0.25))
    assert a.grid == sdtps.Grid(16, 8)
    assert a.feature.shape == (6 * 48,)
    for m in ("rgb", "nir", "tir"):
        t = a[m]
        for array in (t.self_attention, t.predictor, t.score, t.soft_mask, t.selection_frequency, t.token_norm):
            assert array.shape == (128,)
            assert array.dtype == np.float32
        assert set(t.cross_attention) == {"rgb", "nir", "tir"} - {m} == set(t.raw_cross_attention)
        assert (t.keep.shape, t.drop.shape, t.mask.dtype) == ((64,), (64,), bool)
        assert (t.aggregation_weights.shape, t.extra_weights.shape) == ((25, 64), (64,))
        assert t.mask.sum() == 64
        np.testing.assert_array_equal(np.argsort(t.rank), np.concatenate([t.keep, t.drop]))
        np.testing.assert_allclose(t.aggregation_total.sum(), 25, rtol=1e-5)


def test_numbers_are_those_of_a_direct_forward(tiny_model, photos):
    a = sdtps.analyse(tiny_model, *photos.values())
    x = torch.stack([torch.from_numpy(p).permute(2, 0, 1)[None] / 255 * 2 - 1 for p in photos.values()])
    encoded = tiny_model.net.encode(x)
    traces = tiny_model.net.sdtps(encoded.patches, encoded.global_vectors)
    for m, trace in traces.items():
        np.testing.assert_allclose(a[m].score, trace.score[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(a[m].keep, trace.keep[0])
    np.testing.assert_allclose(a.feature, tiny_model.net(x)[0], rtol=1e-4, atol=1e-5)


def test_settings_never_run_the_backbone_again(tiny_model, photos, backbone_calls):
    for settings in (
        sdtps.Settings(),
        sdtps.Settings(sparse_ratio=0.1),
        sdtps.Settings(aggr_ratio=0.9, beta=0.5),
        sdtps.Settings(tau=7.0, draws=9, seed=3),
        sdtps.Settings(variant="open-source"),
        sdtps.Settings(variant="importance"),
    ):
        sdtps.analyse(tiny_model, *photos.values(), settings)
    assert len(backbone_calls) == 1


def test_other_content_and_other_weights_run_it_again(tiny_model, photos, backbone_calls):
    sdtps.analyse(tiny_model, *photos.values())
    changed = photos["rgb"].copy()
    changed[0, 0, 0] ^= 1
    sdtps.analyse(tiny_model, changed, photos["nir"], photos["tir"])
    sdtps.analyse(tiny_model, photos["rgb"], photos["nir"], None)
    assert len(backbone_calls) == 3
    other = random_model(tiny_vit_config(num_classes=5), seed=1, device="cpu")
    a, b = sdtps.analyse(tiny_model, *photos.values()), sdtps.analyse(other, *photos.values())
    assert not np.array_equal(a["rgb"].score, b["rgb"].score)


def test_same_content_from_another_source_is_a_hit(tiny_model, photos, backbone_calls, tmp_path):
    from PIL import Image

    paths = [tmp_path / f"{m}.png" for m in photos]
    for path, pixels in zip(paths, photos.values(), strict=True):
        Image.fromarray(pixels).save(path)
    assert_same_bits(sdtps.analyse(tiny_model, *photos.values()), sdtps.analyse(tiny_model, *map(str, paths)))
    assert len(backbone_calls) == 1


def test_same_input_same_bits_without_the_cache(tiny_model, photos):
    first = sdtps.analyse(tiny_model, *photos.values())
    pipeline.forget()
    assert_same_bits(first, sdtps.analyse(tiny_model, *photos.values()))


def test_tau_changes_the_soft_maps_and_nothing_else(tiny_model, photos):
    a = sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(tau=1.0))
    b = sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(tau=0.05))
    for m in ("rgb", "nir", "tir"):
        assert np.array_equal(a[m].keep, b[m].keep)
        assert np.array_equal(a[m].aggregation_weights, b[m].aggregation_weights)
        assert not np.array_equal(a[m].soft_mask, b[m].soft_mask)
        assert not np.array_equal(a[m].selection_frequency, b[m].selection_frequency)
        np.testing.assert_allclose(b[m].soft_mask.sum(), 1, rtol=1e-5)
        np.testing.assert_allclose(b[m].selection_frequency.sum(), 64, rtol=1e-5)


def test_clamped_rows_are_said(tiny_model, photos):
    a = sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(aggr_ratio=1.0))
    assert a["rgb"].aggregation_weights.shape == (25, 64)
    assert [n for n in a.notes if "64 aggregated tokens" in n]


def test_a_variant_the_weights_cannot_run_is_refused(tiny_model, photos):
    with pytest.raises(ValueError, match="second predictor"):
        sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(variant="paper"))


@pytest.mark.parametrize("variant", [v for v in SDTPS_VARIANTS if v != "paper"])
def test_variants_share_one_path(tiny_model, photos, variant):
    a = sdtps.analyse(tiny_model, *photos.values(), sdtps.Settings(variant=variant))
    assert a["rgb"].keep.shape == (64,)
    assert np.isfinite(a.feature).all()


def test_the_paper_variant_records_both_branches(photos):
    model = random_model(tiny_vit_config(variant="paper"), device="cpu")
    t = sdtps.analyse(model, *photos.values(), sdtps.Settings(variant="paper"))["rgb"]
    assert t.dense_keep.shape == (64,)
    assert t.dense_aggregation_weights.shape == (25, 64)
    np.testing.assert_allclose(t.aggregation_total.sum(), 50, rtol=1e-5)


def test_missing_modality_is_marked_and_said(tiny_model, photos):
    a = sdtps.analyse(tiny_model, photos["rgb"], None, photos["tir"])
    assert [a[m].missing for m in ("rgb", "nir", "tir")] == [False, True, False]
    assert any("Missing: NIR" in n for n in a.notes)


def test_vehicle_grid_travels_with_the_tokens(photos):
    model = random_model(tiny_vit_config(input_size=(128, 256)), device="cpu")
    a = sdtps.analyse(model, *(np.rot90(p) for p in photos.values()))
    assert a.grid == sdtps.Grid(8, 16)


def test_analysis_cannot_be_changed(tiny_model, photos):
    a = sdtps.analyse(tiny_model, *photos.values())
    with pytest.raises(FrozenInstanceError):
        a.grid = None
    with pytest.raises(ValueError, match="read-only"):
        a["rgb"].score[0] = 1
    with pytest.raises(TypeError):
        a["rgb"].cross_attention["nir"] = None
    with pytest.raises(ValueError, match="read-only"):
        a.feature[0] = 1


def test_the_cache_is_bounded_in_bytes(tiny_model, photos, monkeypatch):
    triplet = read_triplet(*photos.values())
    one = pipeline.OpenSet.of(tiny_model, triplet).encode().bytes
    monkeypatch.setattr(encoding.ENCODINGS, "max_bytes", int(2.5 * one))
    monkeypatch.setattr(encoding.EVIDENCE, "max_bytes", int(4.5 * one))
    for shift in range(6):
        moved = [np.roll(p, shift, axis=1) for p in photos.values()]
        sdtps.analyse(tiny_model, *moved)
        assert encoding.ENCODINGS.bytes <= 2.5 * one
        assert encoding.EVIDENCE.bytes <= 4.5 * one
    assert len(encoding.ENCODINGS) == 2
    assert 1 <= len(encoding.EVIDENCE) <= 4


def test_threads_share_one_backbone_run_and_get_their_own_settings(tiny_model, photos, backbone_calls):
    settings = [sdtps.Settings(sparse_ratio=r / 20) for r in range(1, 17)]
    results: dict[int, sdtps.Analysis] = {}

    def work(i: int) -> None:
        results[i] = sdtps.analyse(tiny_model, *photos.values(), settings[i])

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(settings))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(backbone_calls) == 1
    for i, s in enumerate(settings):
        assert results[i].settings == s
        assert_same_bits(results[i], sdtps.analyse(tiny_model, *photos.values(), s))


def test_camera_label_reaches_the_backbone(photos):
    config = ModelConfig(
        kind="clip",
        name="vit_base_patch16_clip_quickgelu_224",
        backbone_options={"projection": 32, "cameras": 3, "timm_options": TINY_VIT},
    )
    model = random_model(config, device="cpu")
    scores = [sdtps.analyse(model, *photos.values(), camera=c)["rgb"].score for c in (None, 0, 2)]
    assert not np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[1], scores[2])


@pytest.mark.parametrize(
    ("field", "value"),
    [("sparse_ratio", 0), ("sparse_ratio", 1.01), ("aggr_ratio", float("nan")), ("beta", 0.6), ("beta", -0.1),
     ("tau", 0), ("tau", float("inf")), ("draws", 0), ("variant", "x")],
)  # fmt: skip
def test_settings_outside_their_range_are_refused(field, value):
    with pytest.raises(ValueError, match=field if field != "variant" else "no variant"):
        replace(sdtps.Settings(), **{field: value})
