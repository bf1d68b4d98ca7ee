"""Many samples, in order, on several processes."""

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from .noise import noise_bank
from .triplet import sample
from .types import EDITION, SynthSample

Progress = Callable[[int, int], None]
Job = tuple[int, int]
Result = TypeVar("Result")
STYLES = ("rendered", "drawn")
_CHUNK = 8


def sampler(style: str) -> Callable[..., SynthSample]:
    """The function that makes one sample: of rendered people, or of drawn ones, which need no further package."""
    if style == "drawn":
        return sample
    if style != "rendered":
        raise ValueError(f"There are no {style!r} people; choose {' or '.join(STYLES)}.")
    # Imported when asked for: it needs OpenGL and body data.
    from sdtps.training.people import sample as rendered

    return rendered


def edition(style: str) -> int:
    """Raised when a seed gives other pictures than before; what is cached of them carries it."""
    if style == "drawn":
        return EDITION
    from sdtps.training.people import EDITION as RENDERED

    return RENDERED


def run_jobs(
    work: Callable[[Job], Result], jobs: Sequence[Job], workers: int, progress: Progress | None
) -> Iterator[Result]:
    """Yield ``work(job)`` for every job in order; ``progress(done, total)`` is called after each."""
    if workers <= 1:
        for done, job in enumerate(jobs, 1):
            yield work(job)
            if progress is not None:
                progress(done, len(jobs))
        return
    # Built once here and shared by forked workers.
    noise_bank()
    # Forked workers start at once; platforms without fork start afresh, and so do those that hold an OpenGL context.
    forks = "fork" in multiprocessing.get_all_start_methods() and "moderngl" not in sys.modules
    method = "fork" if forks else "spawn"
    with multiprocessing.get_context(method).Pool(workers) as pool:
        for done, result in enumerate(pool.imap(work, jobs, chunksize=_CHUNK), 1):
            yield result
            if progress is not None:
                progress(done, len(jobs))


def list_jobs(ids: int | Sequence[int], views: int, start_pid: int = 0) -> list[Job]:
    """(pid, view) pairs, all views of a person before the next person."""
    pids = range(start_pid, start_pid + ids) if isinstance(ids, int) else ids
    return [(pid, view) for pid in pids for view in range(views)]


def _sample_job(job: Job, seed: int, force: frozenset[str], style: str) -> SynthSample:
    return sampler(style)(job[0], job[1], seed, force)


def generate(
    ids: int | Sequence[int],
    views: int,
    seed: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
    start_pid: int = 0,
    force: Iterable[str] = (),
    style: str = "drawn",
) -> Iterator[SynthSample]:
    """Yield samples in order, identity by identity; the bytes do not depend on ``workers``.

    Args:
        ids: how many identities, counted from ``start_pid``, or the identity labels themselves.
        views: views per identity.
        seed: the world, see ``sample``.
        workers: processes; 1 stays in this one.
        progress: called with (done, total) after each sample.
        start_pid: first identity label when ``ids`` is a count.
        force: tags that every sample must have.
        style: `drawn` or `rendered`.
    """
    work = partial(_sample_job, seed=seed, force=frozenset(force), style=style)
    yield from run_jobs(work, list_jobs(ids, views, start_pid), workers, progress)
