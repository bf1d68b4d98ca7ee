"""Somebody who reads a document and types what it says, in a folder of their own."""

import io
import re
import shlex
import shutil
import subprocess
import urllib.request
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from typing import Any

import sdtps
from sdtps.cli.main import main as run_command
from sdtps.cli.page_options import parse_arguments
from sdtps.resources import PROJECT
from tests.docs.blocks import Block, commands_of

ADDRESS = re.compile(r"http://127\.0\.0\.1:7860")  # another page may be there
PEOPLE = re.compile(r"00000[01]_cam[12]_")  # a few of the gallery: every further one costs the same work again
LINKED = ("app.py", "checkpoints", "configs", "sdtps")
PAGE = ("python", "app.py")
COMMAND = ("python", "-m", "sdtps")


def set_the_table(folder: Path) -> Path:
    """What a clone holds, as links, with a small gallery; what is written stays in the folder."""
    for name in LINKED:
        (folder / name).symlink_to(PROJECT / name)
    (folder / "assets").mkdir()
    (folder / "assets" / "examples").symlink_to(PROJECT / "assets" / "examples")
    for source in (PROJECT / "assets" / "gallery").rglob("*.jpg"):
        if PEOPLE.match(source.name):
            _link(source, folder)
    for source in (PROJECT / "assets" / "gallery").rglob("masks/*.png"):
        if PEOPLE.match(source.name):
            _link(source, folder)
    return folder


def _link(source: Path, folder: Path) -> None:
    target = folder / source.relative_to(PROJECT)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(source)


class Reader:
    """Reads one document: its Python blocks share their names, its servers run until the end of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.address: str | None = None
        self.stack = ExitStack()
        self.said = ""

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        for value in self.names.values():  # a page that a document left open
            if type(value).__name__ == "LivePage":
                value.close()
        self.stack.close()

    def run(self, block: Block) -> int:
        """Do what a block says; fails where that fails, and returns how many things were done."""
        if block.language == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(self._here(block.text), str(block), "exec"), self.names)
            self.said += out.getvalue()
            return 1
        commands = list(commands_of(block.text))
        for command in commands:
            self._type(self._here(command), f"{block}: {command}")
        return len(commands)

    def _here(self, text: str) -> str:
        return ADDRESS.sub(self.address or "http://127.0.0.1:1", text)

    def _type(self, command: str, label: str) -> None:
        words = shlex.split(command)
        if words[0] == "make":  # the target is there and its steps can be read; running them is this test run itself
            subprocess.run(["make", "-n", *words[1:]], cwd=PROJECT, check=True, capture_output=True)
        elif tuple(words[:2]) == PAGE:
            self._open(words[2:])
        elif tuple(words[:3]) == COMMAND:
            target = words[words.index(">") + 1] if ">" in words else None
            arguments = words[3 : words.index(">")] if target else words[3:]
            with redirect_stdout(io.StringIO()) as out:
                code = run_command(arguments)
            assert code == 0, label
            if target:
                (self.folder / target).write_text(out.getvalue(), encoding="utf-8")
        else:
            assert shutil.which("curl"), "the documents' curl examples need curl"
            subprocess.run(
                ["bash", "-euo", "pipefail", "-c", command], cwd=self.folder, check=True, capture_output=True
            )

    def _open(self, words: list[str]) -> None:
        """A page that answers: closed at once, or with & when the document ends."""
        stays = words[-1:] == ["&"]
        options = parse_arguments(words[:-1] if stays else words)
        weights = [source.path for source in options.sources] or None
        page = sdtps.launch(weights, data=options.data, runs=options.run, inline=False)
        self.stack.callback(page.close)
        with urllib.request.urlopen(f"{page.url}/health", timeout=30) as answer:
            assert answer.status == 200
        if stays:
            self.address = page.url
        else:
            page.close()
