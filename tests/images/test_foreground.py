import numpy as np
import pytest

from sdtps.metrics import auc, best_precision, correlation, precision, recall


def test_auc_of_known_orders():
    person = np.array([True, True, False, False])
    assert auc(person, np.array([4.0, 3.0, 2.0, 1.0])) == 1.0
    assert auc(person, np.array([1.0, 2.0, 3.0, 4.0])) == 0.0
    assert auc(person, np.array([4.0, 2.0, 3.0, 1.0])) == 0.75


def test_ties_count_half():
    assert auc(np.array([True, False, True, False]), np.zeros(4)) == 0.5
    assert auc(np.array([True, False, False]), np.array([1.0, 1.0, 0.0])) == 0.75


def test_auc_equals_counting_pairs():
    rng = np.random.default_rng(0)
    person, score = rng.random(60) < 0.4, rng.integers(0, 12, 60).astype(float)
    pairs = [(a > b) + 0.5 * (a == b) for a in score[person] for b in score[~person]]
    assert auc(person, score) == pytest.approx(np.mean(pairs))


def test_auc_without_one_kind_is_not_a_number():
    assert np.isnan(auc(np.ones(3, bool), np.arange(3.0)))


def test_precision_of_the_person_is_one():
    person = np.arange(10) < 4
    assert precision(person, np.array([0, 1, 2, 3])) == 1.0
    assert precision(person, np.array([3, 4])) == 0.5


def test_the_best_precision_is_below_one_where_the_person_is_small():
    person = np.arange(10) < 4
    assert best_precision(person, 3) == 1.0
    assert best_precision(person, 8) == precision(person, np.arange(8)) == 0.5
    assert best_precision(np.zeros(10, bool), 8) == 0.0


def test_correlation():
    a = np.arange(5.0)
    assert correlation(a, -2 * a) == pytest.approx(-1)
    assert np.isnan(correlation(a, np.ones(5)))


def test_recall_of_the_person():
    person = np.arange(10) < 4
    assert recall(person, np.array([0, 1, 2, 3, 8])) == 1.0
    assert recall(person, np.array([3, 4])) == 0.25
    assert np.isnan(recall(np.zeros(3, bool), np.array([1])))
