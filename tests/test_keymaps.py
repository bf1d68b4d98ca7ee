"""Checkpoints of other programs: recognised, read from their shapes, and run as their own program would."""

import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F

import sdtps
from sdtps.checkpoints import MismatchError, fetch_pretrained, load_checkpoint
from sdtps.formats.grid_guess import grid_of_table, possible_grids
from sdtps.types import Grid
from tests import reference
from tests.checkpoint_files import (
    clip_forward,
    clip_shapes,
    demo_shapes,
    random_state,
    reduced,
    vit_forward,
    vit_shapes,
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


def saved(tmp_path, state, name="DeMobest.pth"):
    path = tmp_path / name
    torch.save(state, path)
    return path


def normalised(photos, size, mean=0.5, std=0.5):
    """The photographs as the reference prepares them, (3, 1, 3, H, W)."""
    from sdtps.inputs import prepare, read_triplet

    pixels = prepare(read_triplet(*photos.values()), size).pixels
    stack = np.stack([pixels[m] for m in ("rgb", "nir", "tir")]).astype(np.float32) / 255
    return ((torch.from_numpy(stack) - torch.tensor(mean)) / torch.tensor(std)).permute(0, 3, 1, 2).unsqueeze(1)


def direct_analysis(state, images, heads, settings, sie=None):
    """Tokens by the plain forward pass, selection by the NumPy reference."""
    base = {k.removeprefix("BACKBONE.base."): v for k, v in state.items() if k.startswith("BACKBONE.base.")}
    run = (
        (lambda x: vit_forward(base, x, heads)) if "cls_token" in base else lambda x: clip_forward(base, x, heads, sie)
    )
    tokens = {m: run(images[i]) for i, m in enumerate(("rgb", "nir", "tir"))}
    vectors = reduced(state, tokens) if "rgb_reduce.1.weight" in state else {m: t[:, 0] for m, t in tokens.items()}
    patches = {m: t[0, 1:].double().numpy() for m, t in tokens.items()}
    vectors = {m: v[0].double().numpy() for m, v in vectors.items()}
    weights = {k.removeprefix("sdtps."): v.double().numpy() for k, v in state.items() if k.startswith("sdtps.")}
    ratios = (settings.sparse_ratio, settings.aggr_ratio, settings.beta)
    return {m: reference.sample(patches, vectors, weights, m, "final", *ratios) for m in patches}, vectors


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
    assert all(name.startswith("generalFusion.") or "_moe." in name for name in report.unused)
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
    assert analysis.feature.shape == (3 * 32,)
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


def openai_clip(width=64, dim=32):
    """The names of OpenAI's file: the visual half, the text half, and three numbers."""
    state = {f"visual.{k}": v.half() for k, v in random_state(clip_shapes(width, dim, 2, 196)).items()}
    text = {k: v for k, v in clip_shapes(48, 32, 1, 1).items() if k.startswith("transformer.")}
    state |= {k: v.half() for k, v in random_state(text, 1).items()}
    state |= {"token_embedding.weight": torch.randn(9, 48), "positional_embedding": torch.randn(77, 48)}
    state |= {"text_projection": torch.randn(48, 32), "logit_scale": torch.tensor(4.6)}
    state |= {"ln_final.weight": torch.ones(48), "ln_final.bias": torch.zeros(48)}
    return state | {k: torch.tensor(224) for k in ("input_resolution", "context_length", "vocab_size")}


def resized_by_hand(table, rows, cols):
    """Row 0 kept; the 14x14 rest bilinear, without antialiasing."""
    square = table[1:].float().reshape(1, 14, 14, -1).permute(0, 3, 1, 2)
    image = F.interpolate(square, size=(rows, cols), mode="bilinear", align_corners=False)
    return torch.cat([table[:1].float(), image[0].flatten(1).T])


@pytest.mark.parametrize(("size", "grid"), [(None, (16, 8)), ((128, 256), (8, 16))])
def test_openai_clip_is_read_with_its_table_resized(size, grid, tmp_path, photos):
    state = openai_clip()
    path = saved(tmp_path, state, "ViT-B-16.pt")
    model = sdtps.load_model(path, "cpu", size=size)
    report = model.weights
    assert (report.family, report.missing, report.unexpected) == ("clip", (), ())
    assert report.loaded + len(report.unused) == len(state)
    assert {g.name: len(g.unused) for g in report.groups if g.unused} == {"text": len(report.unused)}
    assert any("resized from 14x14" in note for note in report.assumed)
    visual = {k.removeprefix("visual."): v.float() for k, v in state.items() if k.startswith("visual.")}
    visual["positional_embedding"] = resized_by_hand(visual["positional_embedding"], *grid)
    mean, std = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
    images = normalised(photos, (grid[0] * 16, grid[1] * 16), mean, std)
    tokens = clip_forward(visual, images[0], 1)
    got = sdtps.analyse(model, *photos.values())
    assert tuple(got.grid) == grid
    np.testing.assert_allclose(got.feature[:32], tokens[0, 0].numpy(), atol=1e-3)
    cosine = F.cosine_similarity(tokens[0, 1:], tokens[0, :1]).numpy()
    np.testing.assert_allclose(got["rgb"].raw_self_attention, cosine, atol=1e-4)


def test_the_compiled_archive_that_openai_publishes(tmp_path):
    class Branch(torch.nn.Module):
        def forward(self, x):
            return x

    state = openai_clip()
    root = Branch()
    for name, value in state.items():
        *path, last = name.split(".")
        node = root
        for part in path:
            if not hasattr(node, part):
                node.add_module(part, Branch())
            node = getattr(node, part)
        node.register_buffer(last, value)
    path = tmp_path / "ViT-B-16.pt"
    with pytest.warns(FutureWarning):
        torch.jit.save(torch.jit.trace(root, torch.zeros(1)), path)
    compiled = load_checkpoint(path)
    plain = load_checkpoint(saved(tmp_path, state, "plain.pt"))
    assert compiled[1].loaded == plain[1].loaded
    for (name, a), b in zip(compiled[0].state_dict().items(), plain[0].state_dict().values(), strict=True):
        assert torch.equal(a, b), name


@pytest.mark.parametrize("suffix", ["pth", "safetensors"])
def test_a_plain_vit_with_its_classifier(suffix, tmp_path, photos):
    from safetensors.torch import save_file

    state = random_state(vit_shapes(64, 2, 196, classes=10))
    path = tmp_path / f"vit.{suffix}"
    save_file(state, path) if suffix == "safetensors" else torch.save(state, path)
    model = sdtps.load_model(path, "cpu")
    assert (model.weights.family, model.weights.missing, model.weights.unexpected) == ("vit", (), ())
    assert set(model.weights.unused) == {"head.weight", "head.bias"}
    state["pos_embed"] = resized_by_hand(state["pos_embed"][0], 16, 8).unsqueeze(0)
    tokens = vit_forward(state, normalised(photos, (256, 128))[0], 1)
    got = sdtps.analyse(model, *photos.values())
    np.testing.assert_allclose(got.feature[:64], tokens[0, 0].numpy(), atol=1e-3)


def test_timm_state_dicts_of_many_kinds_load(tmp_path):
    small = {"embed_dim": 64, "depth": 1, "num_heads": 1}
    names = (
        "vit_base_patch16_224",
        "vit_base_patch16_clip_224",
        "vit_base_patch14_reg4_dinov2",
        "vit_base_patch32_224",
    )
    for name in names:
        state = timm.create_model(name, num_classes=16, **small).state_dict()
        report = load_checkpoint(saved(tmp_path, state, f"{name}.pth"))[1]
        assert (report.missing, report.unexpected) == ((), ()), name
        assert report.facts["grid"] == [16, 8]


def test_a_timm_name_takes_what_the_hub_gives(monkeypatch):
    state = random_state(vit_shapes(64, 1, 196))
    made = timm.create_model("vit_base_patch16_224", num_classes=0, embed_dim=64, depth=1, num_heads=1)
    made.load_state_dict(state)
    made.pretrained_cfg["mean"] = (0.4, 0.5, 0.6)
    asked = []
    with monkeypatch.context() as patch:
        patch.setattr("timm.create_model", lambda name, **options: asked.append((name, options)) or made)
        file = fetch_pretrained("vit_base_patch16_224.augreg_in1k")
    assert asked == [("vit_base_patch16_224.augreg_in1k", {"pretrained": True})]
    monkeypatch.setattr("sdtps.checkpoints.fetch_pretrained", lambda name: file)
    model = sdtps.load_model("timm:vit_base_patch16_224.augreg_in1k", "cpu")
    assert model.weights.name == "timm vit_base_patch16_224.augreg_in1k"
    assert model.weights.complete
    assert model.net.backbone.mean == (0.4, 0.5, 0.6)


@pytest.mark.parametrize(("name", "quick"), [("clip_openai.pth", True), ("vit_clip_laion2b.pth", False)])
def test_the_activation_of_a_timm_clip_goes_by_its_name(name, quick, tmp_path):
    state = timm.create_model(
        "vit_base_patch16_clip_224", num_classes=16, embed_dim=64, depth=1, num_heads=1
    ).state_dict()
    net, report = load_checkpoint(saved(tmp_path, state, name))
    assert type(net.backbone.vit.blocks[0].mlp.act).__name__ == ("QuickGELU" if quick else "GELU")
    assert any("activation is not stored" in note for note in report.assumed)


def test_a_vit_with_parts_that_are_not_known_is_refused(tmp_path):
    state = random_state(vit_shapes(64, 1, 196)) | {"blocks.0.attn.q_norm.weight": torch.ones(64)}
    with pytest.raises(MismatchError, match=r"blocks\.0\.attn\.q_norm\.weight is unknown"):
        load_checkpoint(saved(tmp_path, state))


def test_an_imagenet_vit_with_its_camera_embedding_inside(tmp_path, photos):
    state = random_state(demo_shapes(rows=25, imagenet=True, cameras=0)) | {
        "BACKBONE.base.sie_embed": torch.randn(4, 1, 64)
    }
    model = sdtps.load_model(saved(tmp_path, state), "cpu")
    assert (model.weights.facts["cameras"], model.weights.unexpected) == (4, ())
    without, with_camera = (sdtps.analyse(model, *photos.values(), camera=c)["rgb"].score for c in (None, 3))
    assert not np.array_equal(without, with_camera)


def test_without_a_hub_one_sentence_says_so(monkeypatch):
    def offline(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr("timm.create_model", offline)
    with pytest.raises(sdtps.CheckpointError, match=r"^The weights of 'vit_base_patch16_224' could not be fetched"):
        fetch_pretrained("vit_base_patch16_224")
    with pytest.raises(sdtps.CheckpointError, match="timm has no model"):
        fetch_pretrained("no_such_model")


def test_a_file_that_fits_in_part_is_refused_by_name_unless_one_insists(tmp_path, photos):
    state = random_state(demo_shapes(rows=25))
    del state["sdtps.nir_aggr.weight.1.weight"], state["BACKBONE.base.transformer.resblocks.1.ln_1.weight"]
    state["rgb_reduce.1.weight"] = torch.zeros(32, 60)
    state["sdtps.rgb_sparse.cross_attn.weight"] = torch.zeros(3)
    path = saved(tmp_path, state)
    with pytest.raises(MismatchError) as refused:
        sdtps.load_model(path)
    sentence = str(refused.value)
    assert "BACKBONE.base.transformer.resblocks.1.ln_1.weight is missing" in sentence
    assert "rgb_reduce.1.weight is 32x60, not 32x64" in sentence
    assert sentence.endswith("and 1 more. Insist with --force if you must.")
    model = sdtps.load_model(path, "cpu", insist=True)
    assert len(model.weights.missing) == 3
    assert model.weights.unexpected == ("sdtps.rgb_sparse.cross_attn.weight",)
    assert not model.weights.complete
    again = sdtps.load_model(path, "cpu", insist=True)
    a, b = (sdtps.analyse(m, *photos.values())["rgb"].score for m in (model, again))
    assert np.array_equal(a, b)


def test_parts_that_change_the_patches_before_selection_are_not_passed_over(tmp_path):
    state = random_state(demo_shapes(rows=25)) | {"sacr.conv.weight": torch.ones(3)}
    with pytest.raises(MismatchError, match=r"sacr\.conv\.weight is unknown"):
        load_checkpoint(saved(tmp_path, state))


def test_heads_play_no_part_in_what_is_shown(tmp_path):
    state = {k: v for k, v in random_state(demo_shapes(rows=25)).items() if not k.startswith("classifier")}
    report = load_checkpoint(saved(tmp_path, state))[1]
    assert report.complete
    assert all(name.startswith("bottleneck") for name in report.unused)


def test_a_checkpoint_of_no_training_step_says_so(tmp_path):
    state = random_state(demo_shapes(rows=25))
    state |= {k: torch.tensor(0) for k in state if k.endswith("num_batches_tracked")}
    assert not load_checkpoint(saved(tmp_path, state))[1].trained


def test_an_unknown_kind_is_named_by_its_first_tensors(tmp_path):
    with pytest.raises(sdtps.CheckpointError, match=r"no kind that is known here .* it begins with conv1\.weight, fc"):
        load_checkpoint(saved(tmp_path, {"conv1.weight": torch.ones(2), "fc.bias": torch.ones(2)}))


@pytest.mark.parametrize("grid", [Grid(16, 8), Grid(8, 16)])
def test_a_smooth_table_tells_its_own_grid(grid, tmp_path):
    coarse = torch.randn(1, 64, 7, 7, generator=torch.Generator().manual_seed(3))
    image = F.interpolate(coarse, size=tuple(grid), mode="bilinear", align_corners=False)
    table = image[0].flatten(1).T
    assert grid_of_table(table, possible_grids(128)) == grid
    state = random_state(demo_shapes(classes=9))
    state["BACKBONE.base.positional_embedding"][1:] = table
    report = load_checkpoint(saved(tmp_path, state))[1]
    assert report.facts["grid"] == list(grid)
    assert any("neighbours in the position table are alike" in note for note in report.assumed)


def test_a_random_table_tells_nothing_and_the_rest_decides(tmp_path):
    state = random_state(demo_shapes(classes=9))
    path = saved(tmp_path, state)
    report = load_checkpoint(path)[1]
    assert report.facts["grid"] == [16, 8]
    assert any("nothing says which" in note for note in report.assumed)
    (tmp_path / "MSVR310").mkdir()
    by_folder = load_checkpoint(saved(tmp_path / "MSVR310", state))[1]
    assert by_folder.facts["grid"] == [8, 16]
    told = load_checkpoint(path, size=(128, 256))[1]
    assert told.facts["grid"] == [8, 16]
    assert not any("is assumed" in note for note in told.assumed)
    with pytest.raises(sdtps.CheckpointError, match=r"Pictures of 224x224 have 196 patches, but .* for 128"):
        load_checkpoint(path, size=(224, 224))
    odd = random_state(demo_shapes(classes=9, patches=210))
    with pytest.raises(sdtps.CheckpointError, match="position table of 210 patches; say the size"):
        load_checkpoint(saved(tmp_path, odd))


def test_the_training_configuration_gives_ratios_size_and_factor(tmp_path, photos):
    config = tmp_path / "DeMo.yml"
    config.write_text(
        "MODEL:\n  SDTPS_SPARSE_RATIO: 0.7\n  SDTPS_AGGR_RATIO: 0.5\n  SDTPS_BETA: 0.3\n  SIE_COE: 2.0\n"
        'INPUT:\n  SIZE_TRAIN: [256, 128]\n  SIZE_TEST: "[128, 256]"\n  PIXEL_MEAN: [0.4, 0.4, 0.4]\n'
        "  PIXEL_STD: [0.3, 0.3, 0.3]\n"
    )
    model = sdtps.load_model(saved(tmp_path, random_state(demo_shapes(rows=44))), "cpu", config=config)
    assert model.weights.settings == {"sparse_ratio": 0.7, "aggr_ratio": 0.5, "beta": 0.3}
    assert model.net.backbone.sie_coefficient == 2.0
    assert model.net.backbone.mean == (0.4, 0.4, 0.4)
    analysis = sdtps.analyse(model, *photos.values())
    assert (analysis.settings.sparse_ratio, analysis.settings.beta) == (0.7, 0.3)
    assert (analysis["rgb"].kept, len(analysis["rgb"].aggregation_weights)) == (90, 44)
    assert tuple(analysis.grid) == (8, 16)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("- a list", "not a DeMo configuration"), ("a: [", "not a DeMo configuration"),
     ("MODEL: {SDTPS_BETA: 0.9}", "sets SDTPS_BETA to 0.9"), ("MODEL: {SDTPS_BETA: much}", "sets SDTPS_BETA to much"),
     ("INPUT: {SIZE_TEST: [1]}", "sets SIZE_TEST"), ("x: !!python/object/apply:os.getcwd []", "not a DeMo")],
)  # fmt: skip
def test_a_wrong_configuration_is_one_sentence(text, sentence, tmp_path):
    config = tmp_path / "c.yml"
    config.write_text(text)
    with pytest.raises(sdtps.CheckpointError, match=sentence):
        load_checkpoint(saved(tmp_path, random_state(demo_shapes(rows=25))), config=config)


def test_the_same_file_read_in_two_ways_is_not_mixed_up(tmp_path):
    grey = np.full((256, 128, 3), 90, np.uint8)  # the same bytes at either size
    path = saved(tmp_path, random_state(demo_shapes(rows=25)))
    upright, lying = (sdtps.load_model(path, "cpu", size=s) for s in ((256, 128), (128, 256)))
    first = sdtps.analyse(upright, grey, grey, grey)
    second = sdtps.analyse(lying, grey, grey, grey)
    assert first.weights.sha256 == second.weights.sha256
    assert (tuple(first.grid), tuple(second.grid)) == ((16, 8), (8, 16))
    state = torch.load(path, weights_only=True)
    want, _ = direct_analysis(state, torch.full((3, 1, 3, 128, 256), 90 / 255 * 2 - 1), 1, sdtps.Settings())
    np.testing.assert_allclose(second["rgb"].raw_self_attention, want["rgb"]["raw_self"], atol=1e-4)
