"""`deploy/nginx.conf` with Debian's nginx and two replicas: a visitor stays at one, and survives its end."""

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
import yaml

from sdtps.checkpoints.load import random_model, save_checkpoint
from sdtps.resources import EXAMPLES, PROJECT
from tests.conftest import tiny_vit_config
from tests.harness import Running, free_port, running_app
from tests.visitor import Visitor

CONFIGURATION = (PROJECT / "deploy" / "nginx.conf").read_text()
PICTURES = {m: {"example": "day"} for m in ("rgb", "nir", "tir")}


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Running]]:
    weights = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_checkpoint(random_model(tiny_vit_config(), device="cpu").net, weights, half=False)
    given = ("--weights", str(weights), "--examples", str(EXAMPLES), "--device", "cpu")
    with ExitStack() as stack, ThreadPoolExecutor(2) as starters:  # one start takes as long as two
        yield list(starters.map(lambda _: stack.enter_context(running_app(*given)), range(2)))


@pytest.fixture(scope="module")
def proxy(replicas: list[Running], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    text = CONFIGURATION.replace("listen 80;", f"listen 127.0.0.1:{port};")
    for name, replica in zip(("lens-a:7860", "lens-b:7860"), replicas, strict=True):
        assert name in text
        text = text.replace(name, replica.url.removeprefix("http://"))
    paths = " ".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off; pid {folder}/pid; events {{}} http {{ access_log off; {paths}\n{text}\n}}"
    (folder / "nginx.conf").write_text(whole)
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    command = [program, "-p", str(folder), "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"]
    process = subprocess.Popen(command)
    try:
        _answers(f"http://127.0.0.1:{port}/health", process, folder / "error.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _answers(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)  # nothing to wait on but the port
    pytest.fail("nginx did not answer")


def requests_of(replica: Running) -> int:
    """How many requests for the page a replica has seen."""
    return replica.log.read_text().count("/config")


def test_a_visitor_stays_at_one_replica_and_survives_its_end(proxy: str, replicas: list[Running]) -> None:
    before = [requests_of(r) for r in replicas]
    with Visitor(proxy) as visitor:
        first = visitor.analyse(PICTURES)
        moved = visitor.decide(first["key"], {"sparse_ratio": 0.25})
        assert moved["counts"]["kept"] == 32
        seen = [requests_of(r) - b for r, b in zip(replicas, before, strict=True)]
        assert sorted(seen) == [0, 1], "both replicas were asked"
        replicas[seen.index(1)].process.send_signal(signal.SIGKILL)
        replicas[seen.index(1)].process.wait(20)
        # The other does not know the set: it says so, and the page sends its pictures again.
        assert "error" in visitor.decide(first["key"], {"sparse_ratio": 0.25})
        again = visitor.analyse(PICTURES)
        assert visitor.decide(again["key"], {"sparse_ratio": 0.25})["modalities"] == moved["modalities"]


def test_compose_runs_two_replicas_as_the_dockerfile_says() -> None:
    services = yaml.safe_load((PROJECT / "compose.yaml").read_text())["services"]
    for name in ("lens-a", "lens-b"):
        service = services[name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert f"server {name}:7860" in CONFIGURATION
    assert all("127.0.0.1" in port for port in services["proxy"]["ports"]), "open to this machine only"
