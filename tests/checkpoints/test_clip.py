"""CLIP names mapped to timm, against a plain forward pass written from the architecture alone."""

import timm
import torch

from sdtps.checkpoints.families.clip import clip_name, clip_to_timm, resize_position_table, timm_name
from sdtps.models.backbone import VitBackbone, create_backbone
from sdtps.types import Grid
from tests.checkpoints.checkpoint_files import clip_forward, clip_shapes, random_state

WIDTH, HEADS, DEPTH, OUT = 64, 4, 3, 32
GRID = Grid(4, 2)


def clip_state() -> dict[str, torch.Tensor]:
    return random_state(clip_shapes(WIDTH, OUT, DEPTH, GRID.patches))


def small_clip_backbone(cameras: int = 0) -> VitBackbone:
    backbone = create_backbone(
        "clip",
        "vit_base_patch16_clip_quickgelu_224",
        (64, 32),
        projection=OUT,
        cameras=cameras,
        timm_options={"embed_dim": WIDTH, "num_heads": HEADS, "depth": DEPTH},
    )
    assert isinstance(backbone, VitBackbone)
    return backbone.eval()


def test_mapped_weights_give_the_same_tokens():
    state = clip_state()
    backbone = small_clip_backbone()
    backbone.vit.load_state_dict(clip_to_timm(state), strict=True)
    images = torch.randn(3, 2, 3, 64, 32)
    with torch.no_grad():
        got = backbone(images)
        want = clip_forward(state, images.flatten(0, 1), HEADS).unflatten(0, (3, 2))
    torch.testing.assert_close(got.patches, want[:, :, 1:], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(got.global_vectors, want[:, :, 0], rtol=1e-4, atol=1e-5)
    assert backbone.grid == GRID


def test_camera_embedding_goes_to_the_class_token_before_the_blocks():
    state = clip_state()
    backbone = small_clip_backbone(cameras=4)
    backbone.vit.load_state_dict(clip_to_timm(state), strict=True)
    images, camera = torch.randn(3, 2, 3, 64, 32), torch.tensor([3, 1])
    with torch.no_grad():
        got = backbone(images, camera)
        want = clip_forward(state, images.flatten(0, 1), HEADS, backbone.cv_embed[camera.repeat(3)])
        without = backbone(images)
    torch.testing.assert_close(got.patches.flatten(0, 1), want[:, 1:], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(got.patches, without.patches, atol=1e-4)


def test_openai_prefix_and_half_precision():
    state = clip_state()
    mapped = clip_to_timm({f"visual.{k}": v.half() for k, v in state.items()})
    assert all(v.dtype == torch.float32 for v in mapped.values())
    small_clip_backbone().vit.load_state_dict(mapped, strict=True)


def test_position_table_is_resized_bilinearly_and_keeps_its_first_row():
    table = torch.randn(197, 8, generator=torch.Generator().manual_seed(0))
    resized = resize_position_table(table, Grid(16, 8))
    assert resized.shape == (129, 8)
    assert torch.equal(resized[0], table[0])
    # Row 5, column 2 of 16x8 looks at (5.5 * 14/16 - .5, 2.5 * 14/8 - .5) of the 14x14 table.
    y, x = 5.5 * 14 / 16 - 0.5, 2.5 * 14 / 8 - 0.5
    (y0, fy), (x0, fx) = (int(y), y - int(y)), (int(x), x - int(x))
    square = table[1:].reshape(14, 14, 8)
    want = (
        square[y0, x0] * (1 - fy) * (1 - fx)
        + square[y0 + 1, x0] * fy * (1 - fx)
        + square[y0, x0 + 1] * (1 - fy) * fx
        + square[y0 + 1, x0 + 1] * fy * fx
    )
    torch.testing.assert_close(resized[1 + 5 * 8 + 2], want)


def test_a_table_that_already_fits_is_left_alone():
    table = torch.randn(129, 8)
    assert resize_position_table(table, Grid(16, 8)) is table


def test_every_name_of_the_real_architecture_is_mapped():
    vit = timm.create_model("vit_base_patch16_clip_quickgelu_224", img_size=(64, 32), num_classes=OUT, depth=DEPTH)
    want = set(vit.state_dict())
    assert set(clip_to_timm(clip_state())) == want


def test_names_can_be_given_back():
    assert all(clip_name(timm_name(name)) == name for name in clip_state())
