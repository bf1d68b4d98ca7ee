"""Where long work over a data set runs: in this process, or on a Ray cluster. The same chunks, so the same bytes.

Every node of a cluster needs this package, the images and the checkpoint under the same paths. A worker asks for as
many CPUs as torch has threads here, and looks at relative paths from the driver's folder.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch

from sdtps.checkpoints.load import WeightsSource
from sdtps.models.reid import LoadedModel
from sdtps.panels import use_selector_file
from sdtps.resources import PACKAGE
from sdtps.support.errors import InputError

MISSING = "--engine ray needs Ray, which is not installed; install it with: pip install 'ray[data]'"
AHEAD = 2  # chunks that wait per worker

Work = Callable[[LoadedModel, Any], Any]  # a chunk to its result; it is sent to workers, so it must be picklable


@dataclass(frozen=True)
class Engine:
    """Where chunks are computed.

    Attributes:
        workers: processes of a Ray cluster; 0 means this process alone.
        address: of a running cluster; a local one is started by default.
        source: what the workers load; a path that every node knows.
        selectors: Python files with selectors of one's own, which the workers run first; paths that every node knows.
    """

    workers: int = 0
    address: str | None = None
    source: WeightsSource | None = None
    selectors: tuple[str, ...] = ()

    def run(self, model: LoadedModel, work: Work, chunks: Sequence[Any]) -> Iterator[Any]:
        """The result of every chunk, in order.

        Args:
            model: loaded weights; workers load their own.
            work: what is done with one chunk.
            chunks: the pieces; what they hold must not depend on the engine.
        """
        if not self.workers:
            yield from (work(model, chunk) for chunk in chunks)
        elif chunks:
            yield from self._run_ray(str(model.device), work, chunks)

    def _run_ray(self, device: str, work: Work, chunks: Sequence[Any]) -> Iterator[Any]:
        threads, source = torch.get_num_threads(), (self.source or WeightsSource()).absolute()
        with ray_session(threads, self.address) as ray:
            # A killed worker is started again, and what it was doing is done again.
            kind = ray.remote(
                num_cpus=threads,
                num_gpus=1 if device.startswith("cuda") else 0,
                max_restarts=-1,
                max_task_retries=-1,
            )(_Worker)
            fitting = max(1, int(ray.cluster_resources().get("CPU", 1)) // threads)
            count = min(self.workers, fitting, len(chunks))
            told = (source, device, threads, work, os.getcwd(), self.selectors)
            workers = [kind.remote(*told) for _ in range(count)]
            waiting: deque[Any] = deque()
            for i, chunk in enumerate(chunks):
                waiting.append(workers[i % len(workers)].run.remote(chunk))
                if len(waiting) >= AHEAD * len(workers):
                    yield ray.get(waiting.popleft())
            while waiting:
                yield ray.get(waiting.popleft())


LOCAL = Engine()


class _Worker:
    """One process of the cluster: the weights are loaded once."""

    def __init__(
        self,
        source: WeightsSource,
        device: str,
        threads: int,
        work: Work,
        folder: str,
        selectors: Sequence[str] = (),
    ) -> None:
        with suppress(OSError):
            os.chdir(folder)
        torch.set_num_threads(threads)  # the last bits of a result can depend on it, so it is the driver's number
        for path in selectors:  # before the weights: they may be this selector's
            use_selector_file(path)
        self.model = source.load(device)
        self.work = work

    def run(self, chunk: Any) -> Any:
        """One chunk."""
        return self.work(self.model, chunk)


@contextmanager
def ray_session(threads: int, address: str | None) -> Iterator[Any]:
    """Ray, started here unless it runs already, and then ended here, too.

    Args:
        threads: of one worker; a cluster that is started here has the cores of this machine, and at least so many.
        address: of a running cluster.
    """
    if not find_spec("ray"):
        raise InputError("batch.no_ray", MISSING)
    import ray

    started = not ray.is_initialized()
    if started:
        # Workers import this package from where the driver did.
        paths = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))
        local: dict[str, Any] = {"num_cpus": max(os.cpu_count() or 1, threads)} if address is None else {}
        environment = {"env_vars": {"PYTHONPATH": paths}}
        # "local" starts one of our own, even where another program left one running.
        place = address or "local"
        ray.init(address=place, runtime_env=environment, include_dashboard=False, log_to_driver=False, **local)
    try:
        yield ray
    finally:
        if started:
            ray.shutdown()
