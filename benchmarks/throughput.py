"""A folder as a batch against the bare batched forward of the same triplets, in one process and in two."""

import multiprocessing
import tempfile
from collections.abc import Callable
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import torch

import sdtps
from benchmarks.measure import Bar, Findings, Row, compare
from sdtps.checkpoints.load import load_model
from sdtps.datasets import read_rgbnt201
from sdtps.export.batch import ResultFolder, Task, items_of, run_local
from sdtps.export.batch.work import Item
from sdtps.images.read import prepare, read_triplet
from sdtps.training.synth import write_rgbnt201

BAR = Bar(1 / 0.9)  # of time: throughput at least 0.9 of the bare forward's
VIEWS = 2


def items_in(data: Path, share: tuple[int, int]) -> list[Item]:
    """Every so many-th triplet of a folder."""
    number, shares = share
    return items_of(read_rgbnt201(data, "test"))[number::shares]


class Half:
    """One process's share of a folder, with the embedded model.

    Args:
        data: a folder in the RGBNT201 layout.
        share: which of the shares, and of how many.
    """

    def __init__(self, data: Path, share: tuple[int, int] = (0, 1)) -> None:
        self.model = load_model(device="cpu")
        self.items = items_in(data, share)
        backbone = self.model.net.backbone
        prepared = [prepare(read_triplet(*item.record.paths), backbone.input_size) for item in self.items]
        self.images = torch.stack([p.tensor(backbone.mean, backbone.std) for p in prepared], dim=1)

    def batch(self) -> None:
        """Decode, forward, numbers, overlays and files of all triplets."""
        task = Task(sdtps.Settings())
        with tempfile.TemporaryDirectory() as out:
            folder = ResultFolder(out)
            folder.begin(task, self.model.weights, self.model.net.backbone.grid)
            run_local(self.model, self.items, task, folder)

    def bare(self) -> None:
        """The forward of all of them at once."""
        with torch.inference_mode():
            self.model.net.backbone(self.images)


_half: Half | None = None


def _begin(data: Path, shares: Any, threads: int) -> None:
    """A worker's start: its share, and its part of the cores."""
    global _half
    torch.set_num_threads(threads)
    _half = Half(data, (shares.get(), 2))


def _work(name: str) -> None:
    assert _half is not None
    getattr(_half, name)()


def _both(pool: Pool, name: str) -> Callable[[], object]:
    # Two tasks at once for two workers: each takes one, for it is busy until both were handed out.
    return lambda: pool.map(_work, [name, name], chunksize=1)


def two_processes(data: Path, count: int, rounds: int) -> Row:
    """Each process has half of the folder and half of the threads; so has its bare forward."""
    context = multiprocessing.get_context("spawn")
    shares = context.Queue()
    for share in range(2):
        shares.put(share)
    threads = max(1, torch.get_num_threads() // 2)
    with context.Pool(2, _begin, (data, shares, threads)) as pool:
        name = f"folder of {count} / bare batched forward, two processes"
        return compare(name, _both(pool, "batch"), _both(pool, "bare"), BAR, rounds, warm_up=1)


def run(quick: bool) -> Findings:
    """One process, then two."""
    people, rounds = (4, 3) if quick else (12, 9)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        write_rgbnt201(data, people, VIEWS, seed=0, split="test", workers=1)
        half = Half(data)
        count = len(half.items)
        name = f"folder of {count} / bare batched forward, one process"
        rows = [compare(name, half.batch, half.bare, BAR, rounds, warm_up=1), two_processes(data, count, rounds)]
    rate = count / (rows[0].value / 1e3)
    return Findings(tuple(rows), notes=(f"One process: {rate:.1f} triplets per second with the embedded model.",))
