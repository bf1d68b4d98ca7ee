"""Where long work over a data set runs: in this process, or on a Ray cluster. The same chunks, so the same bytes.

Every node of a cluster needs this package, the images and the checkpoint under the same paths. A worker asks for as
many CPUs as torch has threads here, and looks at relative paths from the driver's folder. The device is the workers':
the driver needs no GPU for theirs.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
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

NO_GPU = "This machine has no GPU for --device {device}; use --device cpu, or a cluster that has some (--ray-address)."
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
        device: of the workers; by default what the driver's model has.
    """

    workers: int = 0
    address: str | None = None
    source: WeightsSource | None = None
    selectors: tuple[str, ...] = ()
    device: str | None = None

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
            yield from self._run_ray(worker_device(self.device or str(model.device)), work, chunks)

    def _run_ray(self, device: str, work: Work, chunks: Sequence[Any]) -> Iterator[Any]:
        threads, source = torch.get_num_threads(), (self.source or WeightsSource()).absolute()
        with ray_session(threads, self.address) as ray:
            gpus = gpus_of(ray, device, self.address)
            # A killed worker is started again, and what it was doing is done again.
            kind = ray.remote(num_cpus=threads, num_gpus=gpus, max_restarts=-1, max_task_retries=-1)(_Worker)
            count = min(self.workers, _fitting(ray.cluster_resources(), threads, gpus), len(chunks))
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


def for_workers(source: WeightsSource, device: str) -> LoadedModel:
    """The weights for a driver whose workers run on `device`: on the CPU, where they are only asked what they are.

    They have the workers' identity, because by it results are kept, and those of a GPU have other last digits.
    """
    return source.load("cpu").standing_for(device)


def worker_device(device: str) -> str:
    """The device as a worker calls it: Ray shows it one GPU, which is then the first."""
    return "cuda" if device.startswith("cuda") else device


def gpus_of(ray: Any, device: str, address: str | None) -> int:
    """How many GPUs a worker asks for; refused where the machine itself has none, which Ray would wait for."""
    if not device.startswith("cuda"):
        return 0
    if address is None and not ray.cluster_resources().get("GPU"):
        raise InputError("engine.no_gpu", NO_GPU, device=device)
    return 1


def _fitting(resources: Mapping[str, float], threads: int, gpus: int) -> int:
    """How many workers have room at once; a cluster that grows says nothing of the GPUs it does not have yet."""
    room = int(resources.get("CPU", 1)) // threads
    if gpus and resources.get("GPU"):
        room = min(room, int(resources["GPU"]) // gpus)
    return max(1, room)


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
