import torch

from sdtps.algorithm.scoring import ScoreWeights, cosine_attention, fuse, min_max_norm


def test_constant_map_becomes_zeros():
    assert torch.count_nonzero(min_max_norm(torch.full((2, 9), 0.3))) == 0


def test_norm_is_per_sample():
    scores = torch.tensor([[0.0, 1.0, 2.0], [10.0, 30.0, 20.0]])
    torch.testing.assert_close(min_max_norm(scores), torch.tensor([[0.0, 0.5, 1.0], [0.0, 1.0, 0.5]]))


def test_zero_vectors_have_cosine_zero():
    (cosines,) = cosine_attention(torch.zeros(1, 4, 8), torch.ones(1, 8))
    assert torch.count_nonzero(cosines) == 0


def test_equal_patches_get_equal_bits():
    torch.manual_seed(0)
    row = torch.randn(1, 1, 513)
    (cosines,) = cosine_attention(row.expand(1, 131, 513).contiguous(), torch.randn(1, 513))
    assert cosines.unique().numel() == 1


def test_published_effective_weights():
    weights = ScoreWeights.fused(0.25)
    assert (weights.predictor, weights.self_attention, weights.cross_attention) == (0.5, 0.5, 0.25)
    ones = torch.ones(1, 4)
    assert fuse(ones, ones, ones, ones, 0.25).unique().item() == 1.5
    total = weights.predictor + weights.self_attention + 2 * weights.cross_attention
    assert fuse(ones, ones, ones, ones, 0.25)[0, 0].item() == total
