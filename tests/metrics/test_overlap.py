from itertools import combinations

import numpy as np
import pytest

from sdtps.metrics import chance_jaccard, cross_modal_overlap, overlap


def test_identical_sets_give_one():
    same = overlap([3, 1, 2], [1, 2, 3], 10)
    assert (same.jaccard, same.corrected, same.shared) == (1.0, 1.0, 3)


def test_disjoint_sets_are_below_chance():
    apart = overlap([0, 1], [2, 3], 10)
    assert apart.jaccard == 0.0
    assert apart.corrected == pytest.approx(-apart.chance / (1 - apart.chance))


def test_chance_is_the_mean_over_all_pairs_of_sets():
    pairs = [(set(a), set(b)) for a in combinations(range(6), 2) for b in combinations(range(6), 3)]
    counted = np.mean([len(a & b) / len(a | b) for a, b in pairs])
    assert chance_jaccard(6, 2, 3) == pytest.approx(counted)


def test_random_sets_are_zero_on_average_once_corrected():
    rng = np.random.default_rng(0)
    found = [overlap(rng.permutation(128)[:64], rng.permutation(128)[:40], 128) for _ in range(3000)]
    raw, corrected = ([getattr(o, name) for o in found] for name in ("jaccard", "corrected"))
    assert np.mean(raw) > 0.2, "raw overlap of random sets is far from nothing"
    assert abs(np.mean(corrected)) < 4 * np.std(corrected) / np.sqrt(len(corrected))


def test_sets_without_a_choice_have_no_corrected_overlap():
    everything = overlap(range(5), range(5), 5)
    assert everything.jaccard == everything.chance == 1.0
    assert np.isnan(everything.corrected)
    assert overlap([], [], 5).jaccard == 1.0


def test_pairs_of_modalities(analyse_at):
    analysis = analyse_at()
    pairs = cross_modal_overlap(analysis)
    assert set(pairs) == {"rgb-nir", "rgb-tir", "nir-tir"}
    expected = len(set(analysis["rgb"].keep) & set(analysis["tir"].keep))
    assert pairs["rgb-tir"].shared == expected
