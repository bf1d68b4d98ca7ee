"""A progress bar as the callback that long work takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

Progress = Callable[[int, int], None]  # called with (done, total)


@contextmanager
def progress_bar(total: int, label: str | None = None) -> Iterator[Progress]:
    """A bar in the terminal; work that goes on from where it stopped starts in the middle."""
    with tqdm(total=total, unit="set", desc=label) as bar:

        def update(done: int, _total: int) -> None:
            bar.update(done - bar.n)

        yield update
