"""Checkpoints of the DeMo family: recognised, read from their shapes, and run as their own program would."""

import numpy as np
import pytest
import torch

import sdtps
from sdtps.checkpoints.load import load_checkpoint
from tests.checkpoints.checkpoint_files import (
    demo_shapes,
    direct_analysis,
    normalised,
    random_state,
    saved,
)

# The published models: what makes each of them, its tensors, and millions of parameters.
FULL = {"width": 768, "dim": 512, "depth": 12}
VEHICLE = {"direct": False, "cameras": 8, "classes": 50, "experts": 8}
PUBLISHED = {
    "sdtps": ({"rows": 25}, 210, 88.62),
    "demo": ({"experts": 4}, 417, 98.80),
    "baseline": ({}, 171, 87.99),
    "demo vehicles": (VEHICLE, 625, 97.95),
}
KINDS = {
    **{name: options for name, (options, _, _) in PUBLISHED.items()},
    "sdtps vehicles": {"rows": 44, "direct": False, "cameras": 8, "classes": 50},
    "no reduction, no camera": {"rows": 30, "reduced": False, "cameras": 0, "classes": 9},
    "imagenet": {"rows": 25, "imagenet": True},
}


@pytest.mark.parametrize(("options", "tensors", "millions"), PUBLISHED.values(), ids=PUBLISHED)
def test_the_lists_are_those_of_the_published_models(options, tensors, millions):
    shapes = demo_shapes(**FULL, **options)
    trained = [s for k, s in shapes.items() if not k.endswith(("running_mean", "running_var", "num_batches_tracked"))]
    assert len(shapes) == tensors
    assert sum(int(np.prod(s)) for s in trained) / 1e6 == pytest.approx(millions, abs=0.006)


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_every_tensor_of_a_demo_checkpoint_finds_its_place(options, tmp_path):
    state = random_state(demo_shapes(**options))
    report = load_checkpoint(saved(tmp_path, state))[1]
    assert (report.missing, report.unexpected) == ((), ())
    assert report.loaded + len(report.unused) == len(state)
    assert all("_moe." in name for name in report.unused)
    assert sum(g.loaded for g in report.groups) == report.loaded
    assert report.complete
    vehicle = options.get("direct") is False
    assert report.family == ("demo-sdtps" if "rows" in options else "demo")
    assert report.facts["grid"] == ([8, 16] if vehicle else [16, 8])
    assert report.facts["input_size"] == ([128, 256] if vehicle else [256, 128])
    assert report.facts["channels"] == (64 if options.get("imagenet") else 32)
    assert report.facts["classes"] == options.get("classes", 171)
    assert report.facts["cameras"] == options.get("cameras", 4)
    assert report.facts["rows"] == options.get("rows", 0)
    assert report.facts["global_local"] is options.get("reduced", True)
    assert report.facts["direct"] is not vehicle
    assert report.absent == (() if "rows" in options else ("predictor", "aggregation"))


@pytest.mark.parametrize("kind", ["sdtps", "sdtps vehicles", "no reduction, no camera", "imagenet"])
def test_the_analysis_is_that_of_a_direct_forward(kind, tmp_path, photos):
    state = random_state(demo_shapes(**KINDS[kind]))
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    settings = sdtps.Settings(sparse_ratio=0.4, aggr_ratio=0.3, beta=0.2)
    got = sdtps.analyse(model, *photos.values(), settings)
    images = normalised(photos, model.net.backbone.input_size)
    want, vectors = direct_analysis(state, images, 1, settings)
    same = []
    for m in ("rgb", "nir", "tir"):
        np.testing.assert_allclose(got[m].self_attention, want[m]["self"], atol=2e-4)
        np.testing.assert_allclose(got[m].predictor, want[m]["predictor"], atol=2e-4)
        np.testing.assert_allclose(got[m].score, want[m]["score"], atol=2e-4)
        assert len(set(got[m].keep) ^ set(want[m]["keep"])) <= 2  # patches at the cut may tie within fp32
        same.append(set(got[m].keep) == set(want[m]["keep"]))
        if same[-1]:
            np.testing.assert_allclose(got[m].pooled, want[m]["pooled"], atol=1e-3)
    assert any(same)
    ori = np.concatenate([vectors[m] for m in ("rgb", "nir", "tir")])
    np.testing.assert_allclose(got.feature[: len(ori)], ori, atol=1e-3)


def test_the_camera_embedding_is_used_as_in_training(tmp_path, photos):
    state = random_state(demo_shapes(rows=25))
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    got = sdtps.analyse(model, *photos.values(), camera=2)
    images = normalised(photos, (256, 128))
    want, _ = direct_analysis(state, images, 1, sdtps.Settings(), state["BACKBONE.cv_embed"][2])
    np.testing.assert_allclose(got["rgb"].score, want["rgb"]["score"], atol=2e-4)
    with pytest.raises(ValueError, match="cameras 0 to 3, not 4"):
        sdtps.analyse(model, *photos.values(), camera=4)


@pytest.mark.parametrize("wrapper", [None, "state_dict", "model", "net"])
def test_wrappers_and_the_parallel_prefix_change_no_bit(wrapper, tmp_path, photos):
    state = random_state(demo_shapes(rows=25))
    wrapped = {f"module.{k}": v for k, v in state.items()}
    content = wrapped if wrapper is None else {wrapper: wrapped, "epoch": 60, "optimizer": {"state": {}, "lr": 1e-3}}
    plain = sdtps.load_model(saved(tmp_path, state), "cpu")
    other = sdtps.load_model(saved(tmp_path, content, "other.pth"), "cpu")
    assert other.weights.missing == other.weights.unexpected == ()
    assert other.weights.sha256 != plain.weights.sha256
    a, b = (sdtps.analyse(m, *photos.values()) for m in (plain, other))
    assert np.array_equal(a.feature, b.feature)
    for m in ("rgb", "nir", "tir"):
        assert np.array_equal(a[m].score, b[m].score)
        assert np.array_equal(a[m].aggregation_weights, b[m].aggregation_weights)


def test_one_full_size_checkpoint_in_half_precision(tmp_path):
    state = {k: v.half() if v.is_floating_point() else v for k, v in random_state(demo_shapes(**FULL, rows=25)).items()}
    net, report = load_checkpoint(saved(tmp_path, state))
    assert (report.loaded, report.missing, report.unexpected) == (210, (), ())
    assert next(net.parameters()).dtype == torch.float32
    assert (report.facts["heads"], report.facts["channels"], report.facts["rows"]) == (12, 512, 25)


def test_without_sdtps_the_maps_select_and_the_rest_is_absent(tmp_path, photos):
    model = sdtps.load_model(saved(tmp_path, random_state(demo_shapes(**KINDS["demo"]))), "cpu")
    analysis = sdtps.analyse(model, *photos.values(), sdtps.Settings(beta=0.2))
    for m in ("rgb", "nir", "tir"):
        t = analysis[m]
        assert (t.predictor, t.aggregation_weights) == (None, None)
        want = 0.2 * (sum(t.cross_attention.values()) + 2 * t.self_attention)
        np.testing.assert_allclose(t.score, want, atol=1e-6)
        assert t.kept == 64
        assert t.score[t.keep].min() >= t.score[t.drop].max()
    assert analysis.feature.shape == (3 * 32 + 7 * 32,)  # the experts' part is run, too
    cosines = sdtps.analyse(model, *photos.values(), sdtps.Settings(variant="open-source"))["rgb"]
    np.testing.assert_allclose(
        cosines.score, cosines.raw_self_attention + sum(cosines.raw_cross_attention.values()), atol=1e-6
    )
    with pytest.raises(ValueError, match="needs an SDTPS module, which these weights lack"):
        sdtps.analyse(model, *photos.values(), sdtps.Settings(variant="importance"))
    flat = sdtps.analyse(model, *photos.values(), sdtps.Settings(beta=0.0))
    assert any("the order below means nothing" in note for note in flat.notes)


def test_a_module_without_aggregation_is_the_first_variant(tmp_path, photos):
    state = {k: v for k, v in random_state(demo_shapes(rows=25)).items() if "_aggr." not in k}
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    assert model.weights.facts["variant"] == "first"
    assert model.weights.absent == ("aggregation",)
    assert sdtps.analyse(model, *photos.values()).settings.variant == "first"
