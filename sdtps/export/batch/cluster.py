"""The same batch on a Ray cluster, through Ray Data: workers compute, the driver writes, so one folder is enough.

Every node needs this package, the images and the checkpoint under the same paths. They are made absolute here: a
worker has another folder than the driver.
"""

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from sdtps.checkpoints.load import WeightsSource
from sdtps.export.batch import work
from sdtps.export.batch.folder import ResultFolder
from sdtps.export.batch.work import Item, Result, Task
from sdtps.panels import use_selector_file
from sdtps.retrieval.engine import gpus_of, ray_session, worker_device
from sdtps.support.progress import Progress


class Worker:
    """One process of the cluster: the weights are loaded once.

    Args:
        weights: what to load; a path that every node knows.
        device: a torch device name.
        threads: of torch; the last bits of a result can depend on it, so it is the driver's number.
        task: what to compute.
        selectors: Python files with selectors of one's own, under paths that every node knows.
    """

    def __init__(
        self, weights: WeightsSource, device: str, threads: int, task: Task, selectors: Sequence[str] = ()
    ) -> None:
        torch.set_num_threads(threads)
        for path in selectors:  # before the weights: they may be this selector's
            use_selector_file(path)
        self.model = weights.load(device)
        self.task = task

    def __call__(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        """A group of triplets to their files."""
        items = pickle.loads(row["items"])
        return [{"result": pickle.dumps(result)} for result in work.process(self.model, items, self.task)]


def run_ray(  # noqa: PLR0913 - each stands for itself
    weights: WeightsSource,
    device: str,
    items: Sequence[Item],
    task: Task,
    folder: ResultFolder,
    *,
    workers: int = 2,
    address: str | None = None,
    selectors: Sequence[str] = (),
    progress: Progress | None = None,
) -> list[Result]:
    """Compute what the folder lacks; the same files as `run_local`.

    Args:
        weights: what to load; a path that every node knows.
        device: of the workers; `cuda` asks Ray for one GPU each, and the driver needs none.
        items: the triplets.
        task: what to compute.
        folder: where results go.
        workers: processes, at most; each asks for as many CPUs as torch has threads here.
        address: of a running cluster; a local one is started by default.
        selectors: Python files that every worker runs first, as the driver did.
        progress: called with (done, total).

    Returns:
        The triplets that could not be used.
    """
    groups = folder.remaining(items, task.together)
    done = len(items) - sum(len(g) for g in groups)
    failures: list[Result] = []
    if not groups:
        return failures
    threads = torch.get_num_threads()
    with ray_session(threads, address) as ray:
        ray.data.DataContext.get_current().enable_progress_bars = False
        rows = [{"items": pickle.dumps([_absolute(item) for item in group])} for group in groups]
        results = ray.data.from_items(rows, override_num_blocks=len(rows)).flat_map(
            Worker,
            fn_constructor_args=(weights.absolute(), worker_device(device), threads, task, tuple(selectors)),
            # Where fewer fit at once, fewer run: a worker without cores of its own would only slow the others down.
            compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
            num_cpus=threads,
            num_gpus=gpus_of(ray, device, address) or None,
        )
        for row in results.iter_rows():
            result: Result = pickle.loads(row["result"])
            folder.store([result])
            failures += [result] if result.error else []
            done += 1
            if progress is not None:
                progress(done, len(items))
    return failures


def _absolute(item: Item) -> Item:
    record = item.record
    rgb, nir, tir = (path.resolve() for path in record.paths)
    return replace(item, record=replace(record, paths=(rgb, nir, tir), mask=record.mask and record.mask.resolve()))
