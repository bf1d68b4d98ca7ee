"""Every edition of the family: read right, or refused by the name of what is not run here."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import sdtps
from sdtps.checkpoints.families.ratios import trained_ratios
from sdtps.checkpoints.load import load_checkpoint
from tests.algorithm.selector_reference import selective_interaction, soft_sdtps
from tests.checkpoints.checkpoint_files import clip_forward, demo_shapes, normalised, random_state, reduced, saved
from tests.checkpoints.family_files import FAMILIES, READ_AS, family_state, soft_shapes, untouched

MODALITIES = ("rgb", "nir", "tir")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_is_read_whole_and_has_the_authors_feature(name, tmp_path, photos):
    state = family_state(name)
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    report = model.weights
    family, variant, parts, length = READ_AS[name]
    assert (report.family, model.settings.variant, report.facts["feature"]) == (family, variant, parts)
    assert (report.missing, report.unexpected) == ((), ())
    assert report.loaded + len(report.unused) == len(state)
    assert report.complete
    analysis = sdtps.analyse(model, *photos.values())
    assert analysis.feature.shape == (length,)
    assert np.isfinite(analysis.feature).all()


def class_tokens(state, photos, size=(256, 128), prefix="BACKBONE.base."):
    """The reference's tokens: (1 + N, C) per modality."""
    base = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
    images = normalised(photos, size)
    return {m: clip_forward(base, images[i], 1)[0] for i, m in enumerate(MODALITIES)}


def as_numpy(state, start, tokens):
    weights = {k.removeprefix(start): v.double().numpy() for k, v in state.items() if k.startswith(start)}
    return (
        weights,
        {m: t[1:].double().numpy() for m, t in tokens.items()},
        {m: t[0].double().numpy() for m, t in tokens.items()},
    )


@pytest.mark.parametrize(("name", "attention"), [("soft", True), ("cosine", False)])
def test_soft_sdtps_from_pictures_to_the_feature(name, attention, tmp_path, photos):
    state = family_state(name)
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    assert model.settings.sparse_ratio == 0.7
    analysis = sdtps.analyse(model, *photos.values())
    want = soft_sdtps(*as_numpy(state, "sdtps.", class_tokens(state, photos)), 0.7, attention=attention)
    for m in MODALITIES:
        best = np.argsort(-want[m]["mask"], kind="stable")[: analysis[m].kept]
        assert len(set(best) ^ set(analysis[m].keep)) <= 2
        np.testing.assert_allclose(analysis[m].pooled, want[m]["pooled"], atol=1e-3)
    np.testing.assert_allclose(analysis.feature, np.concatenate([want[m]["pooled"] for m in MODALITIES]), atol=1e-3)


def test_a_reduction_after_the_soft_mask_reads_the_masked_tokens(tmp_path, photos):
    state = family_state("soft reduced")
    for m in MODALITIES:  # the nine names point at three modules
        for kind in ("q_proj.weight", "q_proj.bias", "k_proj.weight", "k_proj.bias"):
            shared = state[f"sdtps.{m}_shared_attn.{kind}"]
            state |= {
                k: shared
                for k in state
                if k.startswith((f"sdtps.{m}_self_attn", f"sdtps.{m}_cross")) and k.endswith(kind)
            }
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    tokens = class_tokens(state, photos)
    want = soft_sdtps(*as_numpy(state, "sdtps.", tokens), 0.7)
    masked = {
        m: torch.cat([t[:1], t[1:] * torch.from_numpy(want[m]["mask"]).float()[:, None]])[None]
        for m, t in tokens.items()
    }
    feature = torch.cat([reduced(state, masked)[m][0] for m in MODALITIES])
    np.testing.assert_allclose(sdtps.analyse(model, *photos.values()).feature, feature, atol=2e-3)


@pytest.mark.parametrize(("yaml", "k", "ratio"), [
    (None, 80, None),
    ("MODEL:\n  TOPK: 30\n  SIE_COE: 1.0\n", 30, None),
    ("MODEL:\n  TOPK: 30\n  FIXED_KEEP_RATIO: True\n  KEEP_RATIO: 0.5\n", 30, 0.5),
])  # fmt: skip
def test_signal_from_pictures_to_the_feature(yaml, k, ratio, tmp_path, photos):
    state = family_state("signal")
    config = None
    if yaml:
        config = tmp_path / "Signal.yml"
        config.write_text(yaml)
    model = sdtps.load_model(saved(tmp_path, state), "cpu", config=config)
    analysis = sdtps.analyse(model, *photos.values())
    tokens = class_tokens(state, photos, prefix="clip_vision_encoder.base.")
    want = selective_interaction(*as_numpy(state, "SIM.", tokens), k, keep_ratio=ratio)
    for m in MODALITIES:
        assert np.count_nonzero(analysis[m].mask ^ want["mask"][m]) <= 2  # patches at a cut may tie within fp32
        assert set(analysis[m].keep) == set(np.flatnonzero(analysis[m].mask))
    ori = torch.cat([tokens[m][0] for m in MODALITIES])
    np.testing.assert_allclose(analysis.feature[:96], ori, atol=1e-3)
    np.testing.assert_allclose(analysis.feature[96:], want["result"].reshape(-1), atol=2e-2)


def test_an_unused_reduction_is_recognised_and_said(tmp_path, photos):
    state = family_state("unused reduction")
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    tokens = class_tokens(state, photos)
    feature = sdtps.analyse(model, *photos.values()).feature
    np.testing.assert_allclose(feature, torch.cat([tokens[m][0] for m in MODALITIES]), atol=1e-3)
    assert any("was not used in training" in note for note in model.weights.notes)
    assert model.weights.facts["global_local"] is False


@pytest.mark.parametrize(("told", "expected"), [("True", True), ("False", False)])
def test_the_yaml_file_decides_whether_the_reduction_takes_part(told, expected, tmp_path):
    config = tmp_path / "a.yml"
    config.write_text(f"MODEL:\n  GLOBAL_LOCAL: {told}\n")
    for state in (random_state(demo_shapes()), untouched(random_state(demo_shapes()))):
        report = load_checkpoint(saved(tmp_path, state), config=config)[1]
        assert report.facts["global_local"] is expected


@pytest.mark.parametrize(("rows", "pair"), [(44, (0.7, 0.5)), (25, (0.5, 0.4)), (30, (0.6, 0.4)), (38, (0.6, 0.5))])
def test_ratios_follow_from_the_number_of_tokens(rows, pair, tmp_path):
    model = sdtps.load_model(saved(tmp_path, random_state(demo_shapes(rows=rows))), "cpu")
    assert (model.settings.sparse_ratio, model.settings.aggr_ratio) == pair
    assert any(f"make {rows} tokens" in text for text in model.weights.assumed)


@pytest.mark.parametrize("rows", [1, 45, 77, 128])
def test_a_number_of_tokens_that_nobody_published_still_comes_out(rows):
    pair, said = trained_ratios("a.pth", 128, rows, {}, False)
    assert int(128 * pair["aggr_ratio"] * pair["sparse_ratio"]) == rows
    assert "No published pair" in said[0]


def test_a_yaml_file_that_contradicts_the_weights_is_refused(tmp_path):
    config = tmp_path / "other.yml"
    config.write_text("MODEL:\n  SDTPS_SPARSE_RATIO: 0.5\n  SDTPS_AGGR_RATIO: 0.4\n")
    path = saved(tmp_path, random_state(demo_shapes(rows=44)))
    with pytest.raises(sdtps.CheckpointError, match=r"which make 25 tokens, but 'DeMobest\.pth' was trained with 44"):
        load_checkpoint(path, config=config)
    assert load_checkpoint(path, config=config, force=True)[1].settings["sparse_ratio"] == 0.7


def test_importance_is_the_default_and_a_yaml_file_settles_it(tmp_path):
    path = saved(tmp_path, random_state(demo_shapes(rows=25)))
    net, report = load_checkpoint(path)
    assert net.config.variant == "importance"
    assert any("every logged training" in text for text in report.assumed)
    config = tmp_path / "a.yml"
    config.write_text("MODEL:\n  SDTPS_VARIANT: final\n")
    net, report = load_checkpoint(path, config=config)
    assert net.config.variant == "final"
    assert not any("every logged training" in text for text in report.assumed)


def test_a_yaml_file_without_a_factor_for_cameras_means_the_references_default(tmp_path):
    config = tmp_path / "a.yml"
    config.write_text("MODEL:\n  DIRECT: 1\n")
    path = saved(tmp_path, random_state(demo_shapes(rows=25)))
    assert load_checkpoint(path, config=config)[0].backbone.sie_coefficient == 3.0
    assert load_checkpoint(path)[0].backbone.sie_coefficient == 1.0


REFUSED = {
    "rgb_sacr.conv1x1.0.weight": "SACR .one per modality. .*changes the patches before SDTPS and is not run here",
    "sacr.conv.weight": r"has SACR \(sacr",
    "multimodal_sacr.conv.weight": "SACR .across modalities.",
    "lif.predictor.weight": "has LIF",
    "sdtps.rgb_self_attn.score_proj.weight": "attention with several heads",
    "sdtps.rgb_self_attn.gate_scale": "attention behind a gate",
    "sdtps.rgb_self_attn.gate_linear.weight": "attention behind a gate",
    "sdtps.rgb_self_attn.alpha": "a learned temperature",
    "sdtps.rgb_sparse.modal_weights": "one set of mixing weights",
    "sdtps.rgb_sparse.modal_weight_mlp.2.weight": "a mask around the mean score",
    "sdtps.something_new.weight": "a newer or unknown SDTPS that is not run here; it has sdtps.something_new.weight",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_run_here_is_refused_by_name_and_shown_as_absent_when_one_insists(name, tmp_path, photos):
    state = random_state(demo_shapes(rows=25)) | {name: torch.ones(3)}
    path = saved(tmp_path, state)
    with pytest.raises(sdtps.CheckpointError, match=REFUSED[name]):
        load_checkpoint(path)
    model = sdtps.load_model(path, "cpu", force=True)
    analysis = sdtps.analyse(model, *photos.values())
    if name.startswith("sdtps."):
        assert model.weights.absent == ("predictor", "aggregation")
        assert analysis["rgb"].predictor is None
    assert any(name.split(".")[0] in note for note in model.weights.notes)


def test_heads_of_an_sdtps_without_its_weights_are_not_demo(tmp_path):
    state = {k: v for k, v in random_state(demo_shapes(rows=25)).items() if not k.startswith("sdtps.")}
    with pytest.raises(sdtps.CheckpointError, match="heads of an SDTPS but no weights below"):
        load_checkpoint(saved(tmp_path, state))


LOST = {
    "sdtps.nir_sparse.score_predictor.2.bias": ("sdtps", "predictor"),
    "sdtps.nir_aggr.weight.1.weight": ("sdtps", "aggregation"),
    "rgb_reduce.1.weight": ("sdtps", None),
    "generalFusion.rt.in_proj_bias": ("demo", None),
    "sdtps.rgb_cross_tir.k_proj.bias": ("soft", "predictor"),
    "SIM.modal_interactive.norm2.bias": ("signal", "predictor"),
    "dgaf.entropy_proj.bias": ("soft dgaf", None),
}


@pytest.mark.parametrize("name", LOST)
def test_a_part_that_is_not_whole_is_absent_when_one_insists(name, tmp_path, photos):
    family, absent = LOST[name]
    state = family_state(family)
    state[name] = torch.ones(3, 3)  # of another shape
    path = saved(tmp_path, state)
    if not name.startswith("dgaf"):  # a fusion of an unknown kind is named and left out
        with pytest.raises(sdtps.CheckpointError):
            load_checkpoint(path)
    model = sdtps.load_model(path, "cpu", force=True)
    analysis = sdtps.analyse(model, *photos.values())
    assert np.isfinite(analysis.feature).all()
    assert not model.weights.complete
    if absent:
        assert absent in model.weights.absent


def test_without_a_whole_backbone_insisting_does_not_help(tmp_path):
    state = random_state(demo_shapes(rows=25))
    del state["BACKBONE.base.transformer.resblocks.1.ln_1.weight"]
    with pytest.raises(sdtps.CheckpointError, match="lacks a part of its backbone"):
        load_checkpoint(saved(tmp_path, state), force=True)


def test_a_fusion_that_is_not_known_is_named_where_the_feature_is_used(tmp_path):
    state = random_state(demo_shapes(rows=25)) | {"dgaf.entropy_gate.proj.weight": torch.zeros(32, 32)}
    report = load_checkpoint(saved(tmp_path, state))[1]
    assert report.facts["not_run"] == ["dgaf"]
    assert report.facts["feature"] == ["ori", "sdtps"]
    assert any("not run here" in note for note in report.notes)


@pytest.mark.parametrize(("classes", "size", "grid"), [(171, (256, 128), [21, 10]), (50, (128, 256), [10, 21])])
def test_overlapping_patches_have_their_own_geometry(classes, size, grid, tmp_path, photos):
    state = random_state(demo_shapes(rows=42, patches=210, classes=classes, reduced=False))
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    assert (model.weights.facts["grid"], model.weights.facts["input_size"]) == (grid, list(size))
    base = {k.removeprefix("BACKBONE.base."): v for k, v in state.items() if k.startswith("BACKBONE.base.")}
    images = normalised(photos, size)
    with torch.inference_mode():
        got = model.net.backbone(images)
    patches = F.conv2d(images[0], base["conv1.weight"], stride=12)
    assert list(patches.shape[-2:]) == grid
    want = clip_forward(base, images[0], 1, stride=12)
    torch.testing.assert_close(got.patches[0], want[:, 1:], atol=1e-4, rtol=1e-3)
    assert sdtps.analyse(model, *photos.values()).grid.patches == 210


def test_a_soft_file_for_vehicles(tmp_path):
    state = random_state(soft_shapes(direct=False, classes=50, cameras=8))
    assert load_checkpoint(saved(tmp_path, state))[1].facts["grid"] == [8, 16]
