"""Intervals over identities: the right distribution, the reference protocol at equal weights, and coverage."""

import numpy as np
import pytest

from scripts.interval_coverage import World, difference, draw, truth_of
from sdtps.datasets import UNKNOWN
from sdtps.matters.interval import Interval, identity_weights, interval, student_t
from sdtps.matters.judged import Labelled, judge
from sdtps.matters.replacements import Kind
from sdtps.matters.verdict import choosing, shown, verdict, what
from sdtps.retrieval.ranking import retrieval

RANDOM = what(Kind.RANDOM, 64, 128, "final")


@pytest.mark.parametrize(("freedom", "table"), [(1, 12.706), (4, 2.776), (29, 2.045), (1000, 1.962)])
def test_student_t_is_that_of_the_tables(freedom, table):
    assert student_t(0.95, freedom) == pytest.approx(table, abs=2e-3)


def test_equal_weights_give_the_reference_protocol():
    rng = np.random.default_rng(3)
    pid = np.array([0, 0, 0, 1, 1, 2, 2, 2, UNKNOWN, 4])
    cam = np.array([0, 1, 2, 0, 1, 0, 0, 1, 0, 1])
    features = (rng.normal(size=(10, 6)) + 0.8 * rng.normal(size=(9, 6))[pid]).astype(np.float32)
    # The protocol of `judge` leaves out sets of unknown identity, which could be anybody.
    known = pid != UNKNOWN
    ours = judge(*[Labelled(features, pid, cam)] * 2)
    theirs = retrieval(*[features[known], pid[known], cam[known]] * 2)
    assert len(ours.query) == theirs.queries == 8
    expected = [theirs.mean_average_precision, theirs.rank(1), theirs.rank(5), theirs.rank(10)]
    np.testing.assert_allclose(ours.scores()[0], expected, atol=1e-7)
    np.testing.assert_allclose(ours.by_query().mean(0), expected, atol=1e-7)


def test_an_identity_without_weight_is_neither_asked_nor_in_the_way():
    rng = np.random.default_rng(5)
    pid, cam = np.repeat(np.arange(5), 3), np.tile(np.arange(3), 5)
    features = rng.normal(size=(15, 4)).astype(np.float32)
    weights = np.ones((1, 5))
    weights[0, 2] = 0
    left = pid != 2
    without = judge(*[Labelled(features[left], pid[left], cam[left])] * 2).scores()
    np.testing.assert_allclose(judge(*[Labelled(features, pid, cam)] * 2).scores(weights), without, atol=1e-7)


def test_the_interval_holds_a_planted_effect_and_claims_none_where_there_is_none():
    rng = np.random.default_rng(11)
    world, same = World(identities=12, cameras=3), World(identities=12, cameras=3, worse=None)
    truth = truth_of(world, 100, rng)
    held = [i.low <= truth <= i.high for i in (difference(draw(world, rng)) for _ in range(24))]
    quiet = [i.low <= 0 <= i.high for i in (difference(draw(same, rng)) for _ in range(24))]
    assert truth > 0.05
    assert 0.85 <= np.mean(held) <= 1.0  # the script measures it with 400; two dozen can only catch a gross error
    assert np.mean(quiet) >= 0.85


def test_equal_features_differ_by_exactly_nothing():
    pair = draw(World(identities=6), np.random.default_rng(0))
    assert difference((pair[0], pair[0])) == Interval(0.0, 0.0, 0.0)


def test_one_identity_alone_shows_nothing():
    found = interval(np.full((4, 1), 0.1), np.ones(1), np.ones((4, 1)))
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_a_mean_is_over_pictures_and_few_identities_are_careful():
    weights = identity_weights(3, draws=200)
    found = interval(np.tile([2.0, 4.0, 3.0], (201, 1)), np.array([2.0, 1.0, 1.0]), weights)
    assert found.value == pytest.approx(9 / 4)
    assert found.high - found.value == pytest.approx(found.value - found.low)
    assert found.low < 1.0


def test_two_identities_that_differ_out_of_thirty_show_nothing():
    weights = identity_weights(30)
    sums = np.zeros((len(weights), 30))
    sums[:, [3, 17]] = 1.0
    found = interval(sums, np.full(30, 4.0), weights)
    assert found.low < 0 < found.value


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (Interval(0.021, -0.004, 0.048), "matters.open"),
        (Interval(0.021, 0.004, 0.048), "matters.better"),
        (Interval(-0.021, -0.04, -0.002), "matters.worse"),
        (Interval(0.021, 0.0003, 0.048), "matters.open"),  # the digits shown say 0.0
        (Interval(0.0, 0.0, 0.0), "matters.same"),
        (Interval(0.021, -np.inf, np.inf), "matters.alone"),
    ],
)
def test_the_verdict_follows_from_the_digits_that_are_shown(found, code):
    said = verdict("mAP", found, RANDOM, choosing(64, False), 30, True)
    assert said.code == code


def test_the_verdict_is_one_sentence_with_its_numbers():
    said = verdict("mAP", Interval(0.021, -0.004, 0.048), RANDOM, choosing(64, False), 30, True)
    assert said == (
        "Keeping 64 chosen patches is worth +2.1 mAP over 64 random ones, 95 % interval −0.4 to +4.8: "
        "not shown on 30 identities."
    )


@pytest.mark.parametrize(("value", "text"), [(0.8125, 81.3), (-0.0625, -6.3), (0.00049, 0.0), (0.0005, 0.1)])
def test_halves_are_rounded_as_the_page_rounds_them(value, text):
    assert shown("mAP", Interval(value, -1.0, 1.0)).value == text


def test_an_end_that_is_not_known_is_no_infinity_in_json():
    assert Interval(0.5, -np.inf, np.inf).as_dict() == {"value": 0.5, "low": None, "high": None}


def test_a_soft_selection_is_not_said_to_keep_patches():
    said = verdict("mAP", Interval(0.021, 0.004, 0.048), RANDOM, choosing(64, True), 30, True)
    assert said.startswith("Weighing 64 chosen patches most is worth +2.1 mAP over 64 random ones")
