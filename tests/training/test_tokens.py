"""Cached tokens are the trunk's own, wherever they are read from."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sdtps.images.masks import patch_share
from sdtps.models.adapters import COLOURS
from sdtps.models.backbone import create_backbone
from sdtps.models.reid import ModelConfig, build_model
from sdtps.training.sources import CachedTokens, black_pictures
from sdtps.training.synth import sample
from sdtps.training.tokens import TokenSet, cache_synthetic, from_afar
from sdtps.types import Grid
from tests.training.test_training import TINY_HIERA

OPTIONS = {
    "adapter_dim": 16,
    "colours": True,
    "surround": True,
    "adapter_heads": 2,
    "places": 1.0,
    "timm_options": TINY_HIERA,
}


@pytest.fixture(scope="module")
def backbone():
    torch.manual_seed(0)
    return create_backbone("hiera", "sam2_hiera_tiny", **OPTIONS).eval()


@pytest.fixture(scope="module")
def tokens(backbone):
    return cache_synthetic(backbone, seed=4, ids=2, views=3)


def test_share_of_a_patch():
    mask = np.zeros((4, 4), bool)
    mask[:2, :2] = True
    mask[2, 2] = True
    np.testing.assert_array_equal(patch_share(mask, Grid(2, 2)), [1, 0, 0, 0.25])


def test_tokens_equal_the_stem_of_the_picture(backbone, tokens):
    shot = sample(1, 2, seed=4)
    pixels = torch.from_numpy(np.stack([shot.rgb, shot.nir, shot.tir])).permute(0, 3, 1, 2) / 255
    mean, std = (torch.tensor(v)[:, None, None] for v in (backbone.mean, backbone.std))
    with torch.no_grad():
        stem = backbone.stem((pixels - mean) / std)
    index = np.array([5])
    torch.testing.assert_close(tokens.stem(index).tokens, stem.tokens, rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(tokens.stem(index).skips, stem.skips, rtol=2e-3, atol=2e-3)
    assert (tokens.pid[5], tokens.cam[5]) == (1, 3)


def test_tokens_in_bfloat16_are_nearly_the_same_and_colours_exactly(backbone, tokens):
    rough = cache_synthetic(backbone, seed=4, ids=2, views=3, bfloat16=True)
    np.testing.assert_array_equal(rough.skips[..., -COLOURS:], tokens.skips[..., -COLOURS:])
    off = np.linalg.norm(rough.tokens.astype(float) - tokens.tokens) / np.linalg.norm(tokens.tokens.astype(float))
    assert 1e-3 < off < 0.1  # fp16, in which both are kept, is off by 3e-4


def test_pictures_from_afar_keep_their_colours_and_people_but_less_detail(backbone, tokens):
    near, far = sample(1, 2, seed=4), from_afar(sample(1, 2, seed=4), np.random.default_rng(0))
    for m in ("rgb", "nir", "tir"):
        before, after = (np.asarray(getattr(shot, m), float) for shot in (near, far))
        assert after.shape == before.shape
        assert abs(after.mean() - before.mean()) < 1
        assert np.abs(np.diff(after, axis=1)).mean() < 0.9 * np.abs(np.diff(before, axis=1)).mean()
    np.testing.assert_array_equal(far.person, near.person)


def test_a_share_of_the_sets_is_seen_from_afar(backbone, tokens):
    some = cache_synthetic(backbone, seed=4, ids=2, views=3, distant=0.5)
    changed = (some.skips != tokens.skips).any(axis=(1, 2, 3))
    assert 0 < changed.sum() < 6
    np.testing.assert_array_equal(some.person, tokens.person)


def test_files_come_back_and_people_of_two_files_stay_apart(tokens, tmp_path):
    for name in ("a.npz", "b.npz"):
        tokens.save(tmp_path / name)
    both = TokenSet.load([tmp_path / "a.npz", tmp_path / "b.npz"])
    assert len(both) == 12
    assert len(np.unique(both.pid)) == 4
    assert both.world.tolist() == [0] * 6 + [1] * 6
    np.testing.assert_array_equal(both.tokens[6:], tokens.tokens)
    assert not list(tmp_path.glob("*.partial"))


def test_chosen_patches_are_columns_of_all_patches(backbone, tokens):
    net = build_model(ModelConfig("hiera", "sam2_hiera_tiny", backbone_options=OPTIONS))
    with torch.no_grad():
        source = CachedTokens(tokens, backbone.stem(torch.zeros(1, 3, 256, 128)))
    index, columns = np.array([0, 4]), np.array([[3, 100, 7], [127, 0, 64]])
    whole, some = source.features(net, index), source.features(net, index, columns)
    assert some.shape[:3] == (3, 2, 3)
    for b in range(2):
        assert torch.equal(some[:, b], whole[:, b, columns[b]])


def test_cached_features_are_the_trunk_s_with_their_surroundings(backbone, tokens):
    net = build_model(ModelConfig("hiera", "sam2_hiera_tiny", backbone_options=OPTIONS))
    with torch.no_grad():
        source = CachedTokens(tokens, backbone.stem(torch.zeros(1, 3, 256, 128)))
        whole = backbone.finish(tokens.stem(np.array([1]))).unflatten(0, (3, 1))
    torch.testing.assert_close(source.features(net, np.array([1])), whole, rtol=2e-3, atol=2e-3)


def test_a_batch_matches_its_people(backbone, tokens):
    net = build_model(ModelConfig("hiera", "sam2_hiera_tiny", backbone_options=OPTIONS)).train()
    with torch.no_grad():
        source = CachedTokens(tokens, backbone.stem(torch.zeros(1, 3, 256, 128)), patches=128)
    batch = source.batch(net, np.array([2, 3]), np.random.default_rng(0), torch.device("cpu"))
    assert batch.tokens.patches.shape == (3, 2, 128, 16)
    assert batch.pid.tolist() == [0, 1]
    np.testing.assert_allclose(batch.patches.person.sum(1), tokens.person[[2, 3]].astype(np.float32).sum(1), rtol=1e-3)


def test_a_dark_picture_takes_the_place_of_rgb_alone(backbone, tokens):
    net = build_model(ModelConfig("hiera", "sam2_hiera_tiny", backbone_options=OPTIONS)).eval()
    skips = tokens.skips.copy()
    skips[5, 0, :, -15:] = 0  # nothing to see
    night = replace(tokens, skips=skips)
    assert black_pictures(night).tolist() == [5]
    with torch.no_grad():
        blank = backbone.stem(torch.zeros(1, 3, 256, 128))
        lit, dark = (
            CachedTokens(night, blank, 128, 0.0, 0.0, dark=chance).batch(
                net, np.array([0, 1]), np.random.default_rng(0), torch.device("cpu")
            )
            for chance in (0.0, 1.0)
        )
    assert not torch.allclose(lit.tokens.patches[0], dark.tokens.patches[0])
    assert dark.patches.person.shape == lit.patches.person.shape
    assert lit.patches.dark.tolist() == [False, False]
    assert dark.patches.dark.tolist() == [True, True]
    assert dark.shown.tolist() == [[False, False], [True, True], [True, True]]
