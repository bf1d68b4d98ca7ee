"""Three browsers, one set of hands: Chromium by Playwright, Firefox by WebDriver BiDi, WebKitGTK by WebDriver."""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.harness import chromium
from tests.web.browsers.websocket import WebSocket

PATIENCE = 60.0
SIZE = (1366, 768)
MINI_BROWSER = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Missing(Exception):
    """The browser is not on this machine."""


class Hands(ABC):
    """What a reader can do, in any browser. Positions are CSS pixels of the window."""

    @abstractmethod
    def open(self, url: str) -> None:
        """Go to an address."""

    @abstractmethod
    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, as JSON knows it."""

    @abstractmethod
    def pointer(self, moves: Sequence[tuple[float, float]], *, press: bool) -> None:
        """Move the mouse over some points; with `press` the button is down from the first to the last."""

    @abstractmethod
    def give(self, selector: str, paths: Sequence[str]) -> None:
        """Choose files in a field."""

    def wait(self, condition: str) -> Any:
        """Until a JavaScript condition holds."""
        deadline = time.monotonic() + PATIENCE
        while not (value := self.ask(condition)):
            if time.monotonic() > deadline:
                raise TimeoutError(condition)
            time.sleep(0.05)
        return value

    def middle(self, selector: str, across: float = 0.5, down: float = 0.5) -> tuple[float, float]:
        """A point inside an element that stands still; late fonts and texts move the page a little."""
        where = f"(r => [r.x, r.y, r.width, r.height])({_one(selector)}.getBoundingClientRect())"
        box, before = self.ask(where), None
        while box != before:
            time.sleep(0.1)  # between two looks
            box, before = self.ask(where), box
        return box[0] + box[2] * across, box[1] + box[3] * down

    def click(self, selector: str, across: float = 0.5, down: float = 0.5) -> None:
        """Press and let go."""
        self.pointer([self.middle(selector, across, down)], press=True)


class Chromium(Hands):
    """Through Playwright."""

    def __init__(self, stack: ExitStack) -> None:
        browser = stack.enter_context(chromium())
        self.page = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]}, locale="en-US")

    def open(self, url: str) -> None:
        self.page.goto(url)

    def ask(self, expression: str) -> Any:
        return self.page.evaluate(f"() => ({expression})")

    def pointer(self, moves: Sequence[tuple[float, float]], *, press: bool) -> None:
        for i, (x, y) in enumerate(moves):
            self.page.mouse.move(x, y)
            if press and i == 0:
                self.page.mouse.down()
        if press:
            self.page.mouse.up()

    def give(self, selector: str, paths: Sequence[str]) -> None:
        self.page.set_input_files(selector, list(paths))


class Firefox(Hands):
    """Through the line that Firefox opens itself."""

    def __init__(self, stack: ExitStack) -> None:
        program = shutil.which("firefox-esr") or shutil.which("firefox")
        if program is None:
            raise Missing("Firefox is not installed; as root, make test brings it.")
        profile = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        preferences = {"intl.accept_languages": "en-US", "browser.shell.checkDefaultBrowser": False}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in preferences.items()]
        (Path(profile) / "user.js").write_text("\n".join(lines))
        log = Path(profile) / "log"
        size = [f"--width={SIZE[0]}", f"--height={SIZE[1]}"]
        command = [program, "--headless", *size, "--no-remote", "--profile", profile, "--remote-debugging-port=0"]
        _started(stack, command, log, {"HOME": profile})
        address = _appears(log, lambda text: LISTENING.search(text))[1]
        self._line = stack.enter_context(WebSocket(f"{address}/session"))
        self._number = 0
        self._call("session.new", capabilities={})
        self._context = self._call("browsingContext.getTree")["contexts"][0]["context"]
        viewport = {"width": SIZE[0], "height": SIZE[1]}
        self._call("browsingContext.setViewport", context=self._context, viewport=viewport)

    def open(self, url: str) -> None:
        self._call("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def ask(self, expression: str) -> Any:
        text = f"Promise.resolve({expression}).then((value) => JSON.stringify(value ?? null))"
        answer = self._call("script.evaluate", expression=text, target={"context": self._context}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def pointer(self, moves: Sequence[tuple[float, float]], *, press: bool) -> None:
        source = {"type": "pointer", "id": "mouse", "actions": _actions(moves, press=press)}
        self._call("input.performActions", context=self._context, actions=[source])

    def give(self, selector: str, paths: Sequence[str]) -> None:
        found = self._call(
            "script.evaluate", expression=_one(selector), target={"context": self._context}, awaitPromise=False
        )
        element = {"sharedId": found["result"]["sharedId"]}
        self._call("input.setFiles", context=self._context, element=element, files=list(paths))

    def _call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        self._line.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while (answer := json.loads(self._line.receive())).get("id") != self._number:
            pass  # events of pages
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['message']}")
        return answer["result"]


class WebKit(Hands):
    """Through WebKitGTK's own driver; it needs a screen, and brings one that nobody sees."""

    def __init__(self, stack: ExitStack) -> None:
        driver, screen = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
        browser = next(iter(sorted(Path("/").glob(MINI_BROWSER.lstrip("/")))), None)
        if driver is None or screen is None or browser is None:
            raise Missing("WebKitGTK is not installed: apt-get install webkit2gtk-driver xvfb")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        shown = folder / "display"
        with shown.open("w") as stream:
            size = f"{SIZE[0] + 100}x{SIZE[1] + 200}x24"
            command = [screen, "-displayfd", str(stream.fileno()), "-screen", "0", size, "-nolisten", "tcp"]
            _started(stack, command, folder / "screen", {}, (stream.fileno(),))
        display = _appears(shown, lambda text: re.fullmatch(r"(\d+)\s*\n", text))[1]
        port = _free_port()
        quiet = {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1", "WEBKIT_DISABLE_COMPOSITING_MODE": "1"}
        around = {"DISPLAY": f":{display}", "HOME": str(folder), "LANG": "en_US.UTF-8", **quiet}
        _started(stack, [driver, f"--port={port}"], folder / "driver", around)
        self._http = stack.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE))
        options = {"binary": str(browser), "args": ["--automation"]}
        asked = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self._session = self._first("/session", asked)["sessionId"]
        stack.callback(self._http.delete, f"/session/{self._session}")
        self._call("window/rect", x=0, y=0, width=SIZE[0], height=SIZE[1] + 60)

    def open(self, url: str) -> None:
        self._call("url", url=url)

    def ask(self, expression: str) -> Any:
        text = (
            "const done = arguments[arguments.length - 1];"
            f"Promise.resolve().then(() => ({expression})).then((value) => done(JSON.stringify(value ?? null)))"
            ".catch((error) => done(JSON.stringify({ failed: String(error) })));"
        )
        found = json.loads(self._call("execute/async", script=text, args=[]))
        if isinstance(found, dict) and "failed" in found:
            raise RuntimeError(found["failed"])
        return found

    def pointer(self, moves: Sequence[tuple[float, float]], *, press: bool) -> None:
        source = {"type": "pointer", "id": "mouse", "actions": _actions(moves, press=press)}
        self._call("actions", actions=[source])

    def give(self, selector: str, paths: Sequence[str]) -> None:
        element = next(iter(self._call("element", using="css selector", value=selector).values()))
        self._call(f"element/{element}/value", text="\n".join(paths))

    def _call(self, path: str, **body: Any) -> Any:
        answer = self._http.post(f"/session/{self._session}/{path}", json=body).json()["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(f"{path}: {answer['message'] or answer['error']}")
        return answer

    def _first(self, path: str, body: Any) -> Any:
        """The driver takes a moment before it listens."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._http.post(path, json=body).json()["value"]
            except httpx.ConnectError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                if "error" in answer:
                    raise RuntimeError(answer["message"])
                return answer


KINDS: dict[str, type[Hands]] = {"chromium": Chromium, "firefox": Firefox, "webkit": WebKit}


@contextmanager
def hands(name: str) -> Iterator[Hands]:
    """A browser with an empty page."""
    with ExitStack() as stack:
        yield KINDS[name](stack)  # type: ignore[call-arg]


def _one(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def _actions(moves: Sequence[tuple[float, float]], *, press: bool) -> list[dict[str, Any]]:
    """The same words in both protocols; a moment between moves, as a hand takes."""
    listed: list[dict[str, Any]] = []
    for i, (x, y) in enumerate(moves):
        listed.append({"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0 if i == 0 else 20})
        if press and i == 0:
            listed.append({"type": "pointerDown", "button": 0})
    return [*listed, {"type": "pointerUp", "button": 0}] if press else listed


def _started(
    stack: ExitStack, command: list[str], log: Path, around: dict[str, str], keep: tuple[int, ...] = ()
) -> None:
    """A process that ends with the stack."""
    with log.open("w") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=os.environ | around, pass_fds=keep)

    def end() -> None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)

    stack.callback(end)


def _appears(path: Path, find: Callable[[str], re.Match[str] | None]) -> re.Match[str]:
    """What a program writes once it is ready."""
    deadline = time.monotonic() + PATIENCE
    while (found := find(path.read_text(errors="replace"))) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path.name}: {path.read_text(errors='replace')[-500:]}")
        time.sleep(0.1)
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
