"""A few rounds of fuzzing with a fixed seed: the same examples each time."""

import logging

import pytest

from tests.fuzz.__main__ import fuzz
from tests.fuzz.targets import TARGETS, Target

ENOUGH = 600.0  # the rounds end long before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: t.name)
def test_nothing_but_answers_and_plain_sentences(target: Target, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    found = fuzz(target, ENOUGH, start=1, rounds=1)
    assert found.failures == {}
    assert len(found.outcomes) >= 2


def test_a_failure_is_found_and_reported() -> None:
    def run(example: bytes) -> str:
        if len(example) > 20:
            raise ZeroDivisionError("long")
        return "short"

    found = fuzz(Target("broken", TARGETS[0].examples, run), ENOUGH, start=1, rounds=1)
    assert list(found.failures) == ["ZeroDivisionError: long"]
    assert "seed 1" in found.failures["ZeroDivisionError: long"]
