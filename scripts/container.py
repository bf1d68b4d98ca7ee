"""`make container`: the image, built by buildah on a Debian base from debootstrap, and tried as it will be run.

Read-only, as user 1000, without capabilities, with a temporary /tmp: it must become healthy by its own health check,
analyse an example, give a figure and a bundle of it, and end within seconds of SIGTERM. Needs root, buildah and
debootstrap; where they are not there, this is said, and the steps of the Dockerfile are walked without an engine.

The CPU image needs wheels that are not on the usual index: TORCH_INDEX is the address of one that has them, TORCH names
other versions, and PIP_FIND_LINKS may be a folder that holds them.
"""

import argparse
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scripts import container_steps as steps

ROOT = steps.ROOT
TOOLS = ("buildah", "debootstrap", "unshare", "setpriv")
BASE = "localhost/sdtps-base"
SUITE = "bookworm"
INSIDE = "python3,python3-pip,python-is-python3,ca-certificates"
STOP_SECONDS = 10
CPU_WHEELS = ("TORCH_INDEX", "TORCH")
WHEELS = " or ".join(CPU_WHEELS)


def run(*command: str, **options: Any) -> str:
    """Run and return what it printed; the command is shown."""
    print("+", shlex.join(command)[:160], flush=True)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout.strip()


def make_base() -> None:
    """A Debian with Python, under the name that the build asks for; kept for the next time."""
    if subprocess.run(["buildah", "inspect", "--type", "image", BASE], capture_output=True).returncode == 0:
        return
    with tempfile.TemporaryDirectory(prefix="base-") as folder:
        run("debootstrap", "--variant=minbase", f"--include={INSIDE}", SUITE, folder)
        archive = Path(folder, "base.tar")
        run("tar", "--exclude=./base.tar", "--exclude=./var/cache/apt", "-C", folder, "-cf", str(archive), ".")
        container = run("buildah", "from", "scratch")
        run("buildah", "add", container, str(archive), "/")
        # Debian keeps pip away from its own packages; this image has no others.
        run("buildah", "config", "--env", "PIP_BREAK_SYSTEM_PACKAGES=1", container)
        run("buildah", "commit", "--rm", container, BASE)


def build(target: str, tag: str) -> None:
    """The Dockerfile; in Docker's format, because the other has no health check."""
    arguments = [f"--build-arg=BASE={BASE}"]
    arguments += [f"--build-arg={name}={os.environ[name]}" for name in CPU_WHEELS if os.environ.get(name)]
    folders = [f for f in os.environ.get("PIP_FIND_LINKS", "").split() if Path(f).is_dir()]
    inside = [f"/mnt/wheels{i}" for i, _ in enumerate(folders)]
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as settings:
        settings.write(pip_settings({**os.environ, "PIP_FIND_LINKS": " ".join(inside)}))
        settings.flush()
        # Mounted while it is built, so that nothing of this machine stays in the image.
        mounts = [f"--volume={settings.name}:/etc/pip.conf:ro", "--volume=/etc/ssl/certs:/etc/ssl/certs:ro"]
        mounts += [f"--volume={here}:{there}:ro" for here, there in zip(folders, inside, strict=True)]
        run("buildah", "build", "--format", "docker", "--pull-never", "--isolation", "chroot", "--network", "host",
            "--target", target, "--tag", tag, *arguments, *mounts, str(ROOT))  # fmt: skip


def pip_settings(environment: Mapping[str, str]) -> str:
    """What pip needs on a machine with an index of its own, from its environment, as a file."""
    found = {n[4:].lower().replace("_", "-"): v for n, v in environment.items() if n.startswith("PIP_") and v}
    return "\n".join(["[global]", *(f"{name} = {value}" for name, value in found.items())]) + "\n"


def size_of(tag: str) -> float:
    """Gigabytes."""
    images = json.loads(run("buildah", "images", "--json", tag))
    number, unit = images[0]["size"].split()
    return float(number) * {"MB": 1e-3, "GB": 1.0}.get(unit, 1e-6)


def try_it(tag: str) -> None:
    """Start, look after, use and stop what was built, in a mount of its own."""
    facts = json.loads(run("buildah", "inspect", "--type", "image", tag))["Docker"]["config"]
    assert facts["User"] == "1000:1000", facts["User"]
    health = facts["Healthcheck"]["Test"][1:]
    container = run("buildah", "from", "--pull-never", tag)
    try:
        root = run("buildah", "mount", container)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
        environment = {**dict(e.split("=", 1) for e in facts["Env"]), "SDTPS_PORT": port, "HOME": "/tmp"}
        started = time.monotonic()
        server = subprocess.Popen(inside(root, environment, facts["WorkingDir"], facts["Cmd"]))
        try:
            check = [sys.executable, "-c", health[-1]]
            deadline = started + steps.START_SECONDS
            while subprocess.run(check, env={"SDTPS_PORT": port}, capture_output=True).returncode:
                assert server.poll() is None, "it ended by itself"
                assert time.monotonic() < deadline, "it did not become healthy"
                time.sleep(1)
            print(f"healthy after {time.monotonic() - started:.0f} s")
            visit = inside(
                root, environment, facts["WorkingDir"], ["python", "-c", steps.VISIT, f"http://127.0.0.1:{port}"]
            )
            print(subprocess.run(visit, check=True, capture_output=True, text=True).stdout.strip())
            written = inside(root, environment, facts["WorkingDir"], ["touch", "/home/lens/app/written"])
            assert subprocess.run(written, capture_output=True).returncode, "the image can be written to"
            started = time.monotonic()
            subprocess.run(["pkill", "-TERM", "-P", str(server.pid)], check=True)  # its only child: the server
            server.wait(STOP_SECONDS)
            print(f"ended after {time.monotonic() - started:.1f} s")
        finally:
            server.kill()
    finally:
        run("buildah", "rm", container)


def inside(root: str, environment: dict[str, str], folder: str, command: list[str]) -> list[str]:
    """The command in the image: read-only, with /tmp, /proc and /dev, as user 1000 without any capability."""
    values = " ".join(shlex.quote(f"{k}={v}") for k, v in environment.items())
    enter = (
        f"cp /etc/hosts {root}/etc/hosts && "  # as an engine does: without it nobody is called localhost
        f"mount --bind {root} {root} && mount -o remount,bind,ro {root} && "
        f"mount -t tmpfs -o size=2g tmpfs {root}/tmp && "
        f"mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && "
        f"exec chroot {root} {steps.UNPRIVILEGED.format(uid=1000)} env -i {values} "
        f"sh -c {shlex.quote(f'cd {folder} && exec {shlex.join(command)}')}"
    )
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", enter]


def main() -> int:
    """Build and try, or say why not and walk the steps."""
    parser = argparse.ArgumentParser(prog="scripts/container.py", description=__doc__)
    parser.add_argument("--target", choices=("cpu", "cuda"), help=f"default: cpu with {WHEELS}, else cuda")
    parser.add_argument("--tag", default="sdtps-lens")
    parser.add_argument("--try-only", action="store_true", help="the image is there already")
    options, more = parser.parse_known_args()
    target = options.target or ("cpu" if any(map(os.environ.get, CPU_WHEELS)) else "cuda")
    lacking = [tool for tool in TOOLS if shutil.which(tool) is None]
    if lacking or os.getuid() != 0:
        why = f"missing: {', '.join(lacking)}" if lacking else "this needs root"
        print(f"No image was built ({why}); the steps of the Dockerfile are walked without an engine instead.")
        sys.argv = ["scripts/container_steps.py", "--target", target, *more]
        return steps.main()
    if target == "cuda" and not options.target:
        print(f"The CPU image is not built, because no CPU wheels of torch are named ({WHEELS}); this is the CUDA one.")
    if not options.try_only:
        make_base()
        started = time.monotonic()
        try:
            build(target, options.tag)
        except subprocess.CalledProcessError:
            print(f"The {target} image was not built; the step that failed is above.", file=sys.stderr)
            return 1
        print(f"built in {time.monotonic() - started:.0f} s")
    print(f"{options.tag}: {size_of(options.tag):.2f} GB")
    try_it(options.tag)
    return 0


if __name__ == "__main__":
    sys.exit(main())
