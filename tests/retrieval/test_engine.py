"""Where long work runs: what a cluster's workers are asked for, without a cluster. Real ones: tests of the commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from sdtps.checkpoints.load import WeightsSource
from sdtps.cli import options as shared
from sdtps.cli import work
from sdtps.cli.main import build_parser
from sdtps.models.reid import LoadedModel
from sdtps.retrieval import engine as engines
from sdtps.retrieval.engine import Engine, for_workers
from sdtps.support.errors import InputError

DRIVEN = ("index", "evaluate", "matters", "batch")


class FakeRay:
    """As much of Ray as the engine uses; a worker notes what it was told and doubles its chunk."""

    def __init__(self, **resources: float) -> None:
        self.resources, self.asked, self.told = resources, {}, []

    def cluster_resources(self) -> dict[str, float]:
        return self.resources

    def remote(self, **asked: Any) -> Any:
        self.asked = asked
        outer = self

        class Remote:
            def __init__(self, *told: Any) -> None:
                outer.told.append(told)
                self.run = self

            def remote(self, chunk: Any) -> Any:
                return 2 * chunk

        return lambda _worker: type("Kind", (), {"remote": staticmethod(Remote)})

    def get(self, value: Any) -> Any:
        return value


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    ray = FakeRay(CPU=8.0 * torch.get_num_threads(), GPU=2.0)

    @contextmanager
    def session(_threads: int, _address: str | None) -> Iterator[FakeRay]:
        yield ray

    monkeypatch.setattr(engines, "ray_session", session)
    return ray


def test_gpu_workers_need_no_gpu_here(cluster: FakeRay, tiny_model: LoadedModel) -> None:
    engine = Engine(5, "auto", WeightsSource(), device="cuda:1")
    assert list(engine.run(tiny_model, lambda *_: None, [1, 2, 3, 4])) == [2, 4, 6, 8]
    assert cluster.asked["num_gpus"] == 1
    assert len(cluster.told) == 2, "no more workers than GPUs"
    assert {told[1] for told in cluster.told} == {"cuda"}, "Ray shows a worker one GPU, under the first number"


def test_without_a_device_the_workers_have_the_drivers(cluster: FakeRay, tiny_model: LoadedModel) -> None:
    assert list(Engine(2).run(tiny_model, lambda *_: None, [1])) == [2]
    assert cluster.asked["num_gpus"] == 0
    assert [told[1] for told in cluster.told] == ["cpu"]


def test_a_machine_without_a_gpu_says_so_instead_of_waiting(cluster: FakeRay, tiny_model: LoadedModel) -> None:
    del cluster.resources["GPU"]
    with pytest.raises(InputError, match="no GPU for --device cuda"):
        list(Engine(2, device="cuda").run(tiny_model, lambda *_: None, [1]))
    # A cluster that grows has none until it is asked for one.
    assert list(Engine(2, "auto", device="cuda").run(tiny_model, lambda *_: None, [1])) == [2]


def test_results_of_gpu_workers_are_kept_under_their_identity(
    tiny_model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(WeightsSource, "load", lambda _self, _device: tiny_model)
    model = for_workers(WeightsSource(), "cuda")
    there = LoadedModel(tiny_model.net, tiny_model.weights, torch.device("cuda"))
    assert model.device.type == "cpu"
    assert model.identity == there.identity != tiny_model.identity
    assert for_workers(WeightsSource(), "cpu").identity == tiny_model.identity


@pytest.mark.parametrize("command", DRIVEN)
def test_every_command_gives_the_device_to_the_workers(
    command: str, tiny_model: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(WeightsSource, "load", lambda _self, device: loaded.append(device) or tiny_model)
    more = ["--out", "results"] if command == "batch" else []
    line = [command, "folder", *more, "--engine", "ray", "--device", "cuda"]
    options = build_parser().parse_args(line)
    shared.load(options)
    assert loaded == ["cpu"]
    assert work.engine_from(options).device == "cuda"
    here = build_parser().parse_args([*line, "--engine", "local"])
    shared.load(here)
    assert loaded == ["cpu", "cuda"]
    assert work.engine_from(here).workers == 0
