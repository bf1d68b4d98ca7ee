"""A progress bar as the callback that long work takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm


@contextmanager
def progress_bar(total: int, label: str | None = None) -> Iterator[Callable[[int, int], None]]:
    """A bar in the terminal; work that goes on from where it stopped starts in the middle."""
    with tqdm(total=total, unit="triplet", desc=label) as bar:

        def update(done: int, _total: int) -> None:
            bar.update(done - bar.n)

        yield update
