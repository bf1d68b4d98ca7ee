import pytest
import torch

from sdtps.models.adapters import Adapter, own_places, smooth_places, surroundings
from sdtps.models.backbone import create_backbone
from sdtps.types import Grid

TINY = {"depth": 2, "embed_dim": 48, "num_heads": 3}
TINY_HIERA = {"embed_dim": 16, "num_heads": 1, "stages": (1, 1, 1, 1), "global_att_blocks": ()}


@pytest.mark.parametrize(
    ("size", "grid"), [((256, 128), Grid(16, 8)), ((128, 256), Grid(8, 16)), ((64, 96), Grid(4, 6))]
)
def test_vit_at_any_grid(size, grid):
    backbone = create_backbone("vit", "vit_tiny_patch16_224", size, timm_options=TINY).eval()
    tokens = backbone(torch.randn(3, 2, 3, *size))
    assert backbone.grid == grid
    assert tokens.patches.shape == (3, 2, grid.patches, 48)
    assert tokens.global_vectors.shape == (3, 2, 48)


def test_mean_pool_is_the_mean_patch():
    backbone = create_backbone("vit", "vit_tiny_patch16_224", (64, 32), pool="mean", timm_options=TINY).eval()
    tokens = backbone(torch.randn(3, 1, 3, 64, 32))
    torch.testing.assert_close(tokens.global_vectors, tokens.patches.mean(2))


def test_register_tokens_are_not_patches():
    backbone = create_backbone("vit", "vit_tiny_patch16_224", (64, 32), timm_options={**TINY, "reg_tokens": 4}).eval()
    assert backbone(torch.randn(3, 1, 3, 64, 32)).patches.shape[2] == 8


def test_vit_tokens_are_timm_s_own():
    backbone = create_backbone("vit", "vit_tiny_patch16_224", (64, 32), timm_options=TINY).eval()
    images = torch.randn(3, 2, 3, 64, 32)
    with torch.no_grad():
        want = backbone.vit.forward_features(images.flatten(0, 1)).unflatten(0, (3, 2))
        got = backbone(images)
    assert torch.equal(got.patches, want[:, :, 1:])
    assert torch.equal(got.global_vectors, want[:, :, 0])


@pytest.mark.parametrize("pool", ["attention", "mean"])
@pytest.mark.parametrize("adapter_dim", [0, 24])
def test_hiera_gives_one_token_per_sixteen_pixels(pool, adapter_dim):
    backbone = create_backbone(
        "hiera", "sam2_hiera_tiny", (256, 128), pool=pool, adapter_dim=adapter_dim, timm_options=TINY_HIERA
    ).eval()
    tokens = backbone(torch.randn(3, 1, 3, 256, 128))
    assert tokens.patches.shape == (3, 1, 128, adapter_dim or 64)
    assert tokens.global_vectors.shape == (3, 1, adapter_dim or 64)
    assert backbone.grid == Grid(16, 8)


def test_hiera_rows_and_columns_are_where_they_are_in_the_picture():
    backbone = create_backbone("hiera", "sam2_hiera_tiny", (256, 128), pool="mean", timm_options=TINY_HIERA).eval()
    images = torch.zeros(3, 1, 3, 256, 128)
    with torch.no_grad():
        calm = backbone(images).patches[0, 0]
        images[0, 0, :, 208:224, 80:96] = 3.0  # row 13, column 5
        change = (backbone(images).patches[0, 0] - calm).norm(dim=-1)
    assert change.argmax().item() == 13 * 8 + 5


def test_attention_pool_stays_inside_the_patches():
    backbone = create_backbone("hiera", "sam2_hiera_tiny", (64, 32), timm_options=TINY_HIERA).eval()
    tokens = backbone(torch.randn(3, 2, 3, 64, 32))
    low, high = tokens.patches.amin(2), tokens.patches.amax(2)
    assert ((tokens.global_vectors >= low) & (tokens.global_vectors <= high)).all()


def test_surroundings_are_the_mean_of_a_patch_and_its_neighbours():
    features = torch.arange(12.0).view(1, 12, 1)  # 3 rows of 4
    around = surroundings(features, Grid(3, 4)).view(3, 4)
    assert around[1, 1] == features[0, [0, 1, 2, 4, 5, 6, 8, 9, 10]].mean()
    assert around[0, 0] == features[0, [0, 1, 4, 5]].mean()  # a corner has three neighbours


def test_places_are_alike_for_neighbours():
    torch.manual_seed(0)
    table = smooth_places(Grid(16, 8), 256)
    cosines = table @ table.T
    torch.testing.assert_close(cosines.diag(), torch.ones(128))
    middle = 8 * 8 + 4
    assert cosines[middle, middle + 1] > 0.3 > cosines[middle, 0].abs()


def test_a_place_is_added_to_every_modality_s_token():
    backbone = create_backbone(
        "hiera", "sam2_hiera_tiny", (64, 32), adapter_dim=16, places=2.0, timm_options=TINY_HIERA
    ).eval()
    images = torch.randn(3, 1, 3, 64, 32)
    with torch.no_grad():
        here = backbone(images).patches
        backbone.places.zero_()
        nowhere = backbone(images).patches
    torch.testing.assert_close((here - nowhere).norm(dim=-1), torch.full((3, 1, 8), 2.0), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close((here - nowhere)[0], (here - nowhere)[2], rtol=1e-4, atol=1e-4)


def test_a_mean_of_own_places_says_where_it_was_taken():
    table = own_places(Grid(16, 8), 64)
    person = torch.zeros(16, 8, dtype=torch.bool)
    person[3:14, 2:5] = True
    said = (table @ table[person.flatten()].mean(0)).view(16, 8)
    assert said[person].min() > said[~person].max()


def test_places_of_their_own_leave_looks_alone():
    backbone = create_backbone(
        "hiera", "sam2_hiera_tiny", (64, 32), adapter_dim=80, places=2.0, place_channels=64, timm_options=TINY_HIERA
    ).eval()
    with torch.no_grad():
        tokens = backbone(torch.randn(3, 2, 3, 64, 32))
    assert tokens.patches.shape == (3, 2, 8, 80)
    assert torch.equal(tokens.patches[..., 16:], backbone.places.expand(3, 2, -1, -1))
    torch.testing.assert_close(backbone.places.norm(dim=-1), torch.full((8,), 2.0))


def test_a_gate_weighs_looks_and_leaves_the_place_alone():
    torch.manual_seed(0)
    options = {"adapter_dim": 80, "places": 2.0, "place_channels": 64, "gate": True}
    backbone = create_backbone("hiera", "sam2_hiera_tiny", (64, 32), timm_options=TINY_HIERA, **options).eval()
    images = torch.randn(3, 1, 3, 64, 32)
    gate = backbone.adapters["rgb"].gate
    found = []
    with torch.no_grad():
        gate.weight.zero_()
        for bias in (0.0, -100.0):
            gate.bias.fill_(bias)
            found.append(backbone(images).patches[0])
    (open_looks, shut_looks), (open_places, shut_places) = (
        [t[..., k] for t in found] for k in (slice(16), slice(16, 80))
    )
    assert shut_looks.abs().max() == 0 < open_looks.abs().min()
    assert torch.equal(open_places, shut_places)


@pytest.mark.parametrize("options", [{"adapter_dim": 80}, {"places": 1.0}, {"adapter_dim": 80, "places": 1.0}])
def test_places_of_their_own_need_a_code_adapters_and_room(options):
    with pytest.raises(ValueError, match="channels"):
        create_backbone("hiera", "sam2_hiera_tiny", (64, 32), place_channels=32, timm_options=TINY_HIERA, **options)


def test_mirrored_pictures_have_mirrored_tokens_when_both_are_averaged():
    torch.manual_seed(0)
    backbone = create_backbone(
        "hiera", "sam2_hiera_tiny", (64, 32), adapter_dim=16, mirror=True, surround=True, timm_options=TINY_HIERA
    ).eval()
    images = torch.randn(3, 1, 3, 64, 32)
    with torch.no_grad():
        tokens, turned = backbone(images), backbone(images.flip(-1))
        backbone.mirror = False
        plain = backbone(images)
    by_place = turned.patches.unflatten(2, (4, 2)).flip(3).flatten(2, 3)
    torch.testing.assert_close(tokens.patches, by_place, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(tokens.global_vectors, turned.global_vectors, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(tokens.patches, plain.patches, atol=1e-3)


def test_with_heads_an_adapter_s_patch_asks_the_others():
    torch.manual_seed(0)
    alone, asking = Adapter(8, 16), Adapter(8, 16, heads=2)
    features = torch.randn(1, 6, 8)
    swapped = features[:, [1, 0, 2, 3, 4, 5]]  # the same mean and spread
    mixed = torch.cat([features[:, :1], features[:, 1:].roll(1, 2)], dim=1)
    for adapter in (alone, asking):
        torch.testing.assert_close(adapter(features)[:, 2:], adapter(swapped)[:, 2:])
    with torch.no_grad():
        for adapter in (alone, asking):
            adapter.context.weight.zero_()
        assert torch.equal(alone(features)[:, 0], alone(mixed)[:, 0])
        assert not torch.allclose(asking(features)[:, 0], asking(mixed)[:, 0])


def test_the_real_hiera_trunk_has_about_thirteen_million_parameters():
    backbone = create_backbone("hiera", "sam2_hiera_tiny")
    assert backbone.dim == 384
    assert 13.0e6 < sum(p.numel() for p in backbone.trunk.parameters()) < 13.6e6


@pytest.mark.parametrize(("kind", "pool"), [("hiera", "class"), ("vit", "attention")])
def test_a_pool_the_backbone_cannot_have_is_refused(kind, pool):
    name = "sam2_hiera_tiny" if kind == "hiera" else "vit_tiny_patch16_224"
    with pytest.raises(ValueError, match=r"pool|class token"):
        create_backbone(kind, name, (64, 32), pool=pool)


def test_unknown_kinds_and_other_architectures_are_refused():
    with pytest.raises(ValueError, match="choose clip, vit or hiera"):
        create_backbone("resnet", "resnet18")
