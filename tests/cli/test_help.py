"""Help, completion and Ctrl-C: the same for every command."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sdtps.cli import completion, index
from sdtps.cli.main import COMMANDS, build_parser, main
from sdtps.resources import PROJECT

PARSERS = dict(completion._commands(build_parser()))


@pytest.mark.parametrize("name", [n for n in PARSERS if n != "serve"])
def test_examples_are_right(name: str) -> None:
    """Every command has some, and each can be parsed."""
    lines = re.findall(r"^  python -m sdtps (.+)$", PARSERS[name].epilog or "", re.MULTILINE)
    assert lines
    for line in lines:
        words = shlex.split(line.partition(">")[0])
        build_parser().parse_known_args(words) if words[0] == "serve" else build_parser().parse_args(words)


def test_every_command_is_described() -> None:
    assert len(PARSERS) == len(COMMANDS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fig", {"figure"}),
        ("figure --wi", {"--wide", "--width"}),
        ("figure --fit s", {"stretch"}),
        ("completion z", {"zsh"}),
    ],
)
def test_bash_completes(words: str, expected: set[str]) -> None:
    given = ["sdtps", *words.split()]
    ask = f"COMP_WORDS=({shlex.join(given)}); COMP_CWORD={len(given) - 1}; _sdtps; echo ${{COMPREPLY[@]}}"
    script = f"{completion.script(build_parser(), 'bash')}\n{ask}"
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    assert set(found.split()) == expected


def test_fish_gets_a_line_per_option() -> None:
    lines = completion.script(build_parser(), "fish").splitlines()
    assert any("-l sparse-ratio" in line and "figure" in line for line in lines)
    assert all(line.startswith("complete -c sdtps ") for line in lines)


def test_ctrl_c_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(index, "open_dataset", pressed)
    assert main(["index", "anything"]) == 130
    assert capsys.readouterr().err.strip() == "sdtps: stopped; what is written is complete."


def test_ctrl_c_while_the_page_starts(tmp_path: Path) -> None:
    from tests.harness import free_port
    from tests.test_package import status

    port = free_port()
    command = [sys.executable, str(PROJECT / "app.py"), "--port", str(port), "--device", "cpu"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"HOME": str(tmp_path)})
    try:
        while status(port) != "starting":
            assert process.poll() is None
            time.sleep(0.05)  # nothing to wait on but the port
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    # The line that counts the steps of the start may stand before it.
    assert said.strip().endswith("Stopped before the page was ready.")
    assert "Traceback" not in said
    assert process.returncode == 130


@pytest.mark.parametrize(
    "start", ["run_path('app.py', run_name='__main__')", "run_module('sdtps', run_name='__main__')"]
)
def test_ctrl_c_during_the_first_imports(start: str) -> None:
    """Pressed at the first module of ours behind the entry."""
    code = f"""
import runpy, sys
def pressed(name, *_):
    if name == "sdtps.cli":
        raise KeyboardInterrupt
sys.meta_path.insert(0, type("Pressed", (), {{"find_spec": staticmethod(pressed)}}))
runpy.{start}
"""
    ended = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (130, 1), ended.stderr
