import itertools

import numpy as np
import pytest

from sdtps.training.sampling import PkSampler

PID = np.repeat(np.arange(7), [4, 4, 4, 4, 4, 2, 9])


def test_batches_have_p_people_with_k_views():
    for batch in itertools.islice(PkSampler(PID, 3, 4, seed=0), 10):
        people, counts = np.unique(PID[batch], return_counts=True)
        assert len(people) == 3
        assert set(counts) == {4}


def test_same_seed_same_order():
    a, b = (list(itertools.islice(PkSampler(PID, 3, 4, seed=5), 6)) for _ in range(2))
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_everyone_comes_by():
    seen = np.concatenate(list(itertools.islice(PkSampler(PID, 3, 2, seed=1), 20)))
    assert set(PID[seen]) == set(range(7))


def test_too_few_people_is_said():
    with pytest.raises(ValueError, match="needs as many; the data has 7"):
        PkSampler(PID, 8, 4, seed=0)


def test_people_of_one_world_meet():
    pid, world = np.repeat(np.arange(24), 2), np.repeat(np.arange(3), 16)
    batches = list(itertools.islice(PkSampler(pid, 4, 2, seed=0, world=world), 12))
    assert all(len(set(world[batch])) == 1 for batch in batches)
    assert {int(world[batch[0]]) for batch in batches} == {0, 1, 2}
