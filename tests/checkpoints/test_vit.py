"""CLIP as OpenAI publishes it, plain ViTs and timm names: read, and run as their own program would."""

import numpy as np
import pytest
import timm
import torch
import torch.nn.functional as F

import sdtps
from sdtps.checkpoints.load import MismatchError, fetch_pretrained, load_checkpoint
from tests.checkpoints.checkpoint_files import (
    clip_forward,
    clip_shapes,
    demo_shapes,
    normalised,
    random_state,
    saved,
    vit_forward,
    vit_shapes,
)


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
    monkeypatch.setattr("sdtps.checkpoints.load.fetch_pretrained", lambda name: file)
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
