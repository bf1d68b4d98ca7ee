"""A batch in one process: the next triplets are read and the last ones written while the backbone runs."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from sdtps.export.batch import work
from sdtps.export.batch.folder import ResultFolder
from sdtps.export.batch.work import Item, Result, Task
from sdtps.models.reid import LoadedModel
from sdtps.support.progress import Progress

IN_FLIGHT = 6  # groups between the first read and the last write
READERS = WRITERS = 2


def run_local(
    model: LoadedModel,
    items: Sequence[Item],
    task: Task,
    folder: ResultFolder,
    progress: Progress | None = None,
) -> list[Result]:
    """Compute what the folder lacks.

    Args:
        model: loaded weights.
        items: the triplets.
        task: what to compute.
        folder: where results go; what is there already is not computed again.
        progress: called with (done, total).

    Returns:
        The triplets that could not be used.
    """
    groups = folder.remaining(items, task.together)
    left = sum(len(g) for g in groups)
    failures: list[Result] = []

    def write(found: Any) -> list[Result]:
        results = work.pack(found, task)
        folder.store(results)
        return results

    stages: list[tuple[Callable[[Any], Any], int]] = [
        (lambda group: work.load(model, group, task), READERS),
        (lambda loaded: work.compute(model, loaded, task), 1),
        (write, WRITERS),
    ]
    done = len(items) - left
    for results in overlapped(groups, stages):
        failures += [r for r in results if r.error]
        done += len(results)
        if progress is not None:
            progress(done, len(items))
    return failures


def overlapped(items: Iterable[Any], stages: Sequence[tuple[Callable[[Any], Any], int]]) -> Iterator[Any]:
    """Each item through all stages, in order, with the stages running beside each other.

    Args:
        items: what enters the first stage.
        stages: functions of one value, with the number of threads of each.
    """
    waiting: deque[Future[Any]] = deque()
    with ExitStack() as stack:
        pools = [ThreadPoolExecutor(threads) for _, threads in stages]
        for pool in pools:
            # Stopped early (Ctrl-C, an error): what runs is finished, what waits is not begun.
            stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        for item in items:
            waiting.append(_chain(pools, stages, item))
            if len(waiting) >= IN_FLIGHT:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _chain(
    pools: Sequence[ThreadPoolExecutor], stages: Sequence[tuple[Callable[[Any], Any], int]], item: Any
) -> Future[Any]:
    future = pools[0].submit(stages[0][0], item)
    for pool, (stage, _) in zip(pools[1:], stages[1:], strict=True):
        future = pool.submit(_after, future, stage)
    return future


def _after(before: Future[Any], stage: Callable[[Any], Any]) -> Any:
    # A later stage waits in its own thread; items come in order, so what it waits for is always running.
    return stage(before.result())
