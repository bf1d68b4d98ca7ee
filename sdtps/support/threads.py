"""How many cores torch may use, thread by thread.

With OpenMP the number is a thread's own, but a thread that meets torch for the first time takes over whatever was set
last anywhere, which may be the 1 of a thread that is busy with something small.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

USES_OPENMP = "OpenMP" in torch.__config__.parallel_info()

_lock = threading.Lock()
_usual: list[int] = []  # what the threads inside `one_thread` will go back to
_this = threading.local()


def settle() -> None:
    """To be called before a thread's first work with torch: gives it the number that the others usually have."""
    if not USES_OPENMP or getattr(_this, "settled", False):
        return
    with _lock:
        torch.get_num_threads()  # here torch takes the number over
        if _usual:
            torch.set_num_threads(max(_usual))
    _this.settled = True


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep small tensors off the thread pool: waiting for a busy core costs more than the work itself.

    A backbone running beside this one keeps its threads.
    """
    if not USES_OPENMP:
        yield
        return
    settle()
    before = torch.get_num_threads()
    with _lock:
        _usual.append(before)
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _usual.remove(before)
            torch.set_num_threads(before)
