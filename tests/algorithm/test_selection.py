import math

import numpy as np
import torch

from sdtps.algorithm.selection import (
    gumbel_noise,
    kept_count,
    select_top_k,
    selection_frequency,
    soft_decision,
    straight_through,
)


def uniform(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def test_kept_count_follows_the_float_trap():
    assert kept_count(100, 0.07) == 8
    assert kept_count(128, 0.5) == 64
    assert kept_count(128, 1e-6) == 1


def test_straight_through_is_the_hard_mask_bit_for_bit():
    score = uniform(64, 128)
    hard = select_top_k(torch.zeros(64, 128, 1), score, 50).mask
    assert torch.equal(straight_through(hard, score, gumbel_noise(uniform(64, 128, seed=1)), 1.0), hard)


def test_noise_is_finite_at_both_ends_of_the_unit_interval():
    ends = gumbel_noise(torch.tensor([0.0, 1.0 - 2**-24]))
    np.testing.assert_allclose(ends, [-3.03, 16.6], atol=0.05)
    assert gumbel_noise(torch.tensor([0.0, 1.0 - 2**-24]), clamp=5.0).tolist() == [ends[0].item(), 5.0]


def test_frequency_of_one_kept_patch_tends_to_the_soft_decision():
    score = 1.5 * uniform(2, 12)
    noise = gumbel_noise(uniform(60_000, 12, seed=2))
    frequency = selection_frequency(score, 1, 0.4, noise)
    np.testing.assert_allclose(frequency, soft_decision(score, 0.4), atol=0.01)


def test_frequency_sums_to_k_and_hardens_as_tau_falls():
    score = uniform(3, 40, seed=4)
    noise = gumbel_noise(uniform(300, 40, seed=5))
    for k in (1, 13, 40):
        np.testing.assert_allclose(selection_frequency(score, k, 1.0, noise).sum(-1), k, rtol=1e-5)
    hard = select_top_k(torch.zeros(3, 40, 1), score, 13).mask
    assert torch.equal(selection_frequency(score, 13, 1e-5, noise), hard)


def test_frequency_equals_counting_draw_by_draw():
    score = uniform(1, 10, seed=6)
    noise = gumbel_noise(uniform(50, 10, seed=7))
    counts = np.zeros(10)
    for draw in noise.numpy():
        counts[np.argsort(-(score[0].numpy() / 0.7 + draw))[:4]] += 1
    np.testing.assert_allclose(selection_frequency(score, 4, 0.7, noise)[0], counts / 50, atol=1e-6)


def test_soft_decision_is_a_distribution_that_flattens_with_tau():
    score = uniform(1, 128)
    sharp, flat = soft_decision(score, 0.05), soft_decision(score, 100.0)
    np.testing.assert_allclose([sharp.sum(), flat.sum()], 1.0, rtol=1e-5)
    assert sharp.max() > flat.max()
    assert math.isclose(flat.max(), 1 / 128, rel_tol=0.02)
