"""Ray: one local cluster for all commands, which give the same files there as in this process."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest
import torch

from sdtps.checkpoints.load import random_model, save_checkpoint
from sdtps.cli.main import main
from sdtps.resources import PROJECT
from sdtps.retrieval.engine import ray_session
from tests.conftest import tiny_vit_config
from tests.datasets import trees

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is an optional extra and is not installed")

SETS = 8
PATIENCE = 240  # seconds; a busy machine is slow, not wrong


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster of two; starting it takes longer than the work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # a worker asks for as many cores
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "disabled")
        patch.setenv("OMP_NUM_THREADS", "1")
        patch.setattr("os.cpu_count", lambda: 2)
        with ray_session(1, None) as ray:
            yield ray.get_runtime_context().gcs_address
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trees.rgbnt201(tmp_path_factory.mktemp("data") / "people", ids=SETS // 2)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_checkpoint(random_model(tiny_vit_config(), device="cpu").net, path, half=False)
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_index_evaluate_and_matters_give_the_same_files(cluster, data, weights, tmp_path, capsys):
    """Three commands twice: the features and chunks they keep, what they print and what they write."""
    common = [str(data), "--weights", str(weights), "--device", "cpu", "--batch", "3"]
    commands = {
        "index": (["--json"], 1),
        "evaluate": (["--json", "--sparse-ratio", "0.25"], 1),  # other settings, so that it computes its own features
        "matters": (["--seeds", "2", "--ratios", "0.25"], 2),
    }
    printed: dict[str, list[str]] = {}
    for engine in ("local", "ray"):
        for name, (more, workers) in commands.items():
            where = ["--cache", str(tmp_path / engine / "cache" / name), "--engine", engine, "--workers", str(workers)]
            out = ["--out", str(tmp_path / engine / "out")] if name == "matters" else []
            assert main([name, *common, *more, *where, *out]) == 0
            printed.setdefault(name, []).append(capsys.readouterr().out.replace(str(tmp_path / engine), ""))
    for name, (ours, theirs) in printed.items():
        assert ours == theirs, name
    assert json.loads(printed["evaluate"][0])["retrieval"]["all"]["mAP"] > 0
    ours, theirs = (files(tmp_path / engine) for engine in ("local", "ray"))
    assert {name.split(os.sep)[1] for name in ours if name.startswith("cache")} == set(commands)
    assert {Path(name).suffix for name in ours if name.startswith("out")} == {".pdf", ".svg", ".csv", ".tex", ".json"}
    assert list(ours) == list(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []


def batch(data: Path, weights: Path, out: Path, *more: str) -> list[str]:
    return [
        "batch",
        str(data),
        "--out",
        str(out),
        "--weights",
        str(weights),
        "--device",
        "cpu",
        "--threads",
        "1",
        *more,
    ]


def workers_of_batch() -> list[psutil.Process]:
    """Processes of the cluster that hold a model."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "MapWorker" in " ".join(process.cmdline()):
                found.append(process)
    return found


def test_a_batch_on_a_running_cluster_is_the_same_folder_though_a_worker_is_killed(cluster, data, weights, tmp_path):
    """From a process of its own, with relative paths, which mean another folder to a worker."""
    assert main(batch(data, weights, tmp_path / "local")) == 0
    relative = [Path(os.path.relpath(path, tmp_path)) for path in (data, weights)]
    arguments = batch(*relative, Path("ray"), "--engine", "ray", "--workers", "2", "--ray-address", cluster)
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    command_line = [sys.executable, "-m", "sdtps", *arguments]
    process = subprocess.Popen(command_line, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    victims: list[psutil.Process] = []
    while process.poll() is None and not victims:
        victims = workers_of_batch()
        time.sleep(0.05)  # nothing to wait on but the list of processes
    assert victims, f"the batch ended before a worker was seen: {process.communicate()[1].decode()}"
    victims[0].kill()
    complaints = process.communicate(timeout=PATIENCE)[1]
    assert (process.returncode, complaints.count(b"skipped")) == (0, 0)
    assert len(list((tmp_path / "ray" / "maps").iterdir())) == SETS
    assert files(tmp_path / "ray") == files(tmp_path / "local")
