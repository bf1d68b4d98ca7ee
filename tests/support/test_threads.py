"""Small work on one core leaves every other thread, old or new, the cores it had."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from sdtps.support.threads import USES_OPENMP, one_thread, settle

pytestmark = pytest.mark.skipif(not USES_OPENMP, reason="this torch has no OpenMP")
USUAL = 3


@pytest.fixture(autouse=True)
def usual():
    before = torch.get_num_threads()
    torch.set_num_threads(USUAL)
    yield
    torch.set_num_threads(before)


def in_a_new_thread(work):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def settled() -> int:
    settle()
    return torch.get_num_threads()


def small_work_and_after() -> tuple[int, int]:
    with one_thread():
        inside = torch.get_num_threads()
    return inside, torch.get_num_threads()


def test_one_inside_and_as_before_outside():
    assert small_work_and_after() == (1, USUAL)
    with one_thread(), one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == USUAL


def test_torch_alone_would_hand_on_the_one():
    """What `settle` is for; should torch change this, it can go."""
    with one_thread():
        assert in_a_new_thread(torch.get_num_threads) == 1


def test_a_thread_born_meanwhile_gets_the_usual_number():
    with one_thread():
        assert in_a_new_thread(settled) == USUAL
        assert torch.get_num_threads() == 1, "this thread's own number is not touched"
        assert in_a_new_thread(small_work_and_after) == (1, USUAL)
    assert torch.get_num_threads() == USUAL
    assert in_a_new_thread(torch.get_num_threads) == USUAL


def test_a_thread_keeps_a_number_of_its_own():
    def own() -> int:
        settle()
        torch.set_num_threads(2)
        with one_thread():
            pass
        settle()
        return torch.get_num_threads()

    with one_thread():
        assert in_a_new_thread(own) == 2


def test_a_failure_inside_restores_the_number():
    with pytest.raises(RuntimeError, match="broken"), one_thread():
        raise RuntimeError("broken")
    assert torch.get_num_threads() == USUAL
