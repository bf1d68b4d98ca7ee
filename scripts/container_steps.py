"""The Dockerfile without an engine: its own steps, read from it, in a clean folder as another user.

COPY copies what .dockerignore lets through, RUN runs with a clean virtual environment first in the path, and CMD starts
as the user that USER names, without any capability, on a tree that cannot be written. Then the health check of the file
is run, a triplet is analysed, a figure and a bundle of it are fetched, and SIGTERM must end it. `useradd` alone is
replaced: this machine gets no new account.
"""

import argparse
import fnmatch
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNPRIVILEGED = "setpriv --reuid {uid} --regid {uid} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all"
START_SECONDS = 300
# The image holds no tests, so the visitor's own text goes in front.
VISIT = (
    (ROOT / "tests" / "visitor.py").read_text(encoding="utf-8")
    + """
import sys

with Visitor(sys.argv[1]) as visitor:
    answer = visitor.analyse({m: {"example": "day"} for m in ("rgb", "nir", "tir")})
print("kept", answer["counts"]["kept"], "of", answer["counts"]["patches"])

from pathlib import Path
from gradio_client import Client
from sdtps.export.bundle import read_bundle

client = Client(sys.argv[1], verbose=False)
figure, bundle = (Path(client.predict(example="day", api_name=name)) for name in ("/figure", "/bundle"))
assert figure.read_bytes().startswith(b"%PDF"), figure
kept = {trace.kept for trace in read_bundle(bundle).analysis.traces.values()}
assert kept == {answer["counts"]["kept"]}, kept
print("figure", figure.stat().st_size, "bytes, bundle", bundle.stat().st_size, "bytes")
"""
)


@dataclass
class Stage:
    """One `FROM`: where it starts, and its steps."""

    base: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)


def read_dockerfile(text: str) -> list[Stage]:
    """Stages with (instruction, rest) steps; lines that go on are joined, comments dropped."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    stages: list[Stage] = []
    for line in re.sub(r"\\\n\s*", " ", lines).splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == "FROM":
            base, _, alias = rest.partition(" AS ")
            stages.append(Stage(base.strip(), alias.strip()))
        elif name and stages:
            stages[-1].steps.append((name, rest.strip()))
    return stages


def ignored(path: str, rules: list[str]) -> bool:
    """As .dockerignore says: the last rule that matches the path or a folder above it decides."""
    parts = path.split("/")
    names = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    verdict = False
    for rule in rules:
        pattern = rule.lstrip("!").removeprefix("**/")
        candidates = [*names, *parts] if "**/" in rule else names
        if any(fnmatch.fnmatch(name, pattern) for name in candidates):
            verdict = not rule.startswith("!")
    return verdict


class Steps:
    """Walks a target.

    Args:
        folder: stands for `/`.
        python: makes the virtual environment.
        site_packages: packages that are there already, to save the download.
    """

    def __init__(self, folder: Path, python: str, site_packages: str | None) -> None:
        self.folder = folder
        self.stages = {stage.name: stage for stage in read_dockerfile((ROOT / "Dockerfile").read_text())}
        self.rules = (ROOT / ".dockerignore").read_text().split()
        self.user, self.workdir = "root", "/"
        self.environment: dict[str, str] = {}
        self.command: list[str] = []
        self.health: list[str] = []
        self.done: set[str] = set()
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        if site_packages:
            own = next((folder / "venv" / "lib").glob("python3*/site-packages"))
            (own / "existing.pth").write_text(f"{Path(site_packages).resolve()}\n")
        (folder / "shims").mkdir()
        (folder / "shims" / "useradd").write_text('#!/bin/sh\necho "  (no account is made: useradd $*)"\n')
        (folder / "shims" / "useradd").chmod(0o755)
        (folder / "image").mkdir()
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)

    def place(self, path: str) -> Path:
        """Where a path of the image is."""
        return self.folder / "image" / (path if path.startswith("/") else f"{self.workdir}/{path}").lstrip("/")

    def values(self) -> dict[str, str]:
        """The environment of a step; the image's /tmp is a folder of its own."""
        own = {k: v.replace("/tmp", str(self.folder / "tmp")) for k, v in self.environment.items()}
        path = f"{self.folder}/shims:{self.folder}/venv/bin:/usr/bin:/bin"
        kept = {k: v for k, v in os.environ.items() if k.startswith("PIP_") or k.lower().endswith("_proxy")}
        return {**kept, "PATH": path, "HOME": str(self.folder / "tmp"), "TMPDIR": str(self.folder / "tmp"), **own}

    def walk(self, name: str) -> None:
        """A stage after the stage it starts from."""
        stage = self.stages[name]
        if stage.base in self.stages and stage.base not in self.done:
            self.walk(stage.base)
        self.done.add(name)
        for instruction, rest in stage.steps:
            print(f"[{name}] {instruction} {rest[:100]}", flush=True)
            getattr(self, f"_{instruction.lower()}")(rest)

    def _run(self, rest: str) -> None:
        subprocess.run(["sh", "-ec", rest], cwd=self.place("."), env=self.values(), check=True)

    def _workdir(self, rest: str) -> None:
        self.workdir = rest
        self.place(".").mkdir(parents=True, exist_ok=True)

    def _env(self, rest: str) -> None:
        self.environment |= dict(part.split("=", 1) for part in shlex.split(rest))

    def _arg(self, rest: str) -> None:
        name, _, value = rest.partition("=")
        self.environment.setdefault(name, os.environ.get(name, value))

    def _copy(self, rest: str) -> None:
        *sources, target = rest.split()
        if sources[0].startswith("--from="):
            self.walk(sources[0].removeprefix("--from="))
            return  # stages share one folder here, so what the other stage copied is in place
        for source in sources:
            files = [ROOT / source] if (ROOT / source).is_file() else sorted((ROOT / source).rglob("*"))
            for file in files:
                name = str(file.relative_to(ROOT))
                if file.is_file() and not ignored(name, self.rules):
                    inside = file.name if file == ROOT / source else str(file.relative_to(ROOT / source))
                    goal = self.place(target) / inside
                    goal.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, goal)

    def _user(self, rest: str) -> None:
        self.user = rest

    def _cmd(self, rest: str) -> None:
        self.command = json.loads(rest)

    def _healthcheck(self, rest: str) -> None:
        self.health = json.loads(rest.partition("CMD")[2])

    def _expose(self, rest: str) -> None:
        assert rest.isdecimal()

    def uid(self) -> int:
        """Of the user, which must be given by number and not be root."""
        number = int(self.user.partition(":")[0])
        assert number > 0, "the target must not run as root"
        return number


def contents(folder: Path) -> dict[str, float]:
    """Every file and when it was changed."""
    return {str(p): p.stat().st_mtime for p in folder.rglob("*") if p.is_file()}


def try_it(steps: Steps) -> None:
    """Start, look after, use and stop what was built."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    image, uid = steps.folder / "image", steps.uid()
    subprocess.run(["chmod", "-R", "a-w,a+rX", str(image)], check=True)
    before = contents(image)
    environment = steps.values() | {"SDTPS_PORT": port}
    as_user = shlex.split(UNPRIVILEGED.format(uid=uid)) if os.getuid() == 0 else []

    def run(*command: str) -> subprocess.CompletedProcess[str]:
        cwd = steps.place(".")
        return subprocess.run([*as_user, *command], cwd=cwd, env=environment, capture_output=True, text=True)

    assert run("touch", "written").returncode != 0, "the tree can be written to"
    server = subprocess.Popen([*as_user, *steps.command], cwd=steps.place("."), env=environment)
    try:
        deadline = time.monotonic() + START_SECONDS
        while (health := run(*steps.health)).returncode != 0:
            if server.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"The container's command did not become healthy: {health.stderr[-500:]}")
            time.sleep(1)
        owner = Path(f"/proc/{server.pid}").stat().st_uid
        assert owner == (uid if os.getuid() == 0 else os.getuid()), f"it runs as {owner}"
        print(f"healthy, as user {owner}")
        analysed = run("python", "-c", VISIT, f"http://127.0.0.1:{port}")
        assert analysed.returncode == 0, analysed.stderr[-500:]
        print(analysed.stdout.strip())
        start = time.monotonic()
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0, "it did not end by itself"
        print(f"ended after {time.monotonic() - start:.1f} s")
    finally:
        server.kill()
    assert contents(image) == before, "something was written into the tree"
    written = sorted({p.relative_to(steps.folder / "tmp").parts[0] for p in (steps.folder / "tmp").rglob("*")})
    print(f"written below /tmp only: {', '.join(written) or 'nothing'}")


def main() -> int:
    """Build and try a target."""
    parser = argparse.ArgumentParser(prog="scripts/container_steps.py", description=__doc__)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--python", default="python3.11", help="one that other users may run: not below /root")
    parser.add_argument("--site-packages", help="packages that are there already, to save the download")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="container-") as folder:
        Path(folder).chmod(0o755)
        steps = Steps(Path(folder), options.python, options.site_packages)
        steps.walk(options.target)
        try:
            try_it(steps)
        finally:
            subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    print("all steps work")
    return 0


if __name__ == "__main__":
    sys.exit(main())
