"""The page in a process of its own, and a browser to look at it: for tests, benchmarks and screenshots."""

import asyncio
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sdtps.resources import PROJECT

if TYPE_CHECKING:
    from tests.warm import Warm

APP = PROJECT / "app.py"
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
START_SECONDS = 180
# The tests set this: servers are forked from a process that has imported everything, as starts are not what they test.
warm_start = False
READY = ".lens-grid[data-settings]"
Result = TypeVar("Result")
_browsers: list[Any] = []


@dataclass(frozen=True)
class Running:
    """A server in a process of its own.

    Attributes:
        url: its address.
        process: the process.
        log: the file with all it says.
        cache: the folder of its temporary files.
    """

    url: str
    process: "subprocess.Popen[bytes] | Warm"
    log: Path
    cache: Path


def free_port() -> int:
    """One that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(*command: str, descriptors: int | None = None) -> Iterator[Running]:
    """Run a server; `{port}` in the command becomes a free port, `descriptors` are all it may ever have."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        cache = Path(folder) / "cache"
        (Path(folder) / "tmp").mkdir()
        places = {"GRADIO_TEMP_DIR": str(cache), "TMPDIR": str(Path(folder) / "tmp")}
        environment = os.environ | places | {"GRADIO_ANALYTICS_ENABLED": "False"}
        process = _start([part.replace("{port}", str(port)) for part in command], environment, log)
        try:
            if descriptors is not None:
                resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (descriptors, descriptors))
            url = f"http://127.0.0.1:{port}"
            _wait_for(url, process, log)
            yield Running(url, process, log, cache)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                raise


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """Run a server and yield its address."""
    with running(*command) as server:
        yield server.url


@contextmanager
def running_app(*arguments: str, app: Path = APP, descriptors: int | None = None) -> Iterator[Running]:
    """Run `app.py`, or that of another state of this program."""
    with running(str(app), "--port", "{port}", *arguments, descriptors=descriptors) as server:
        yield server


@contextmanager
def serving_app(*arguments: str) -> Iterator[str]:
    """Run `app.py` and yield its address."""
    with running_app(*arguments) as server:
        yield server.url


@contextmanager
def chromium() -> Iterator[Any]:
    """A headless browser: the system's Chromium, or else the one Playwright installed; one per test process."""
    if _browsers:  # Playwright can be started once
        yield _browsers[0]
        return
    from playwright.sync_api import sync_playwright

    system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=system, args=CHROMIUM_FLAGS)
        _browsers.append(browser)
        try:
            yield browser
        finally:
            _browsers.remove(browser)
            browser.close()


def finished(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine, in a thread of its own: Playwright keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, asyncio.run, coroutine).result()


def _start(command: list[str], environment: dict[str, str], log: Path) -> "subprocess.Popen[bytes] | Warm":
    if warm_start and command[0] == str(APP):
        from tests.warm import Warm

        return Warm(command[0], command[1:], environment, log)
    with log.open("wb") as stream:
        whole = [sys.executable, *command]
        return subprocess.Popen(whole, cwd=APP.parent, env=environment, stdout=stream, stderr=stream)


def _wait_for(url: str, process: "subprocess.Popen[bytes] | Warm", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The server stopped while starting:\n{log.read_text()}")
        try:
            urllib.request.urlopen(f"{url}/config", timeout=2).close()
            return
        except urllib.error.HTTPError as answer:
            if answer.code != 503:
                return  # it answers, if only that one has to sign in
            time.sleep(0.2)  # it says that it is starting
        except OSError:
            time.sleep(0.2)  # nothing to wait on yet but time
    raise RuntimeError(f"The server did not start within {START_SECONDS} seconds.")
