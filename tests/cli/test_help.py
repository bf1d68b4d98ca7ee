"""Help, completion and Ctrl-C: the same for every command."""

import contextlib
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sdtps
from sdtps.cli import completion, index, page, train
from sdtps.cli.main import COMMANDS, build_parser, every_parser, main
from sdtps.cli.page_options import parse_arguments
from sdtps.resources import CONFIGS, PROJECT
from sdtps.support.errors import InputError

PARSERS = every_parser()


@pytest.mark.parametrize("name", PARSERS)
def test_examples_are_right(name: str) -> None:
    """Every command has some, and each can be parsed."""
    lines = re.findall(
        r"^  (?:SDTPS_PORT=8000 )?(sdtps-lens|python -m sdtps)(.*?)(?:   |$)", PARSERS[name].epilog or "", re.MULTILINE
    )
    assert lines
    for program, line in lines:
        command, *words = shlex.split(f"{program} {line}".removeprefix("python -m sdtps ").partition(">")[0])
        PARSERS[command].parse_args(words)


def test_the_list_of_commands_has_examples_that_can_be_parsed() -> None:
    parser = build_parser()
    lines = re.findall(rf"^  {parser.prog} (.+)$", parser.format_help(), re.MULTILINE)
    assert len(lines) >= 3
    for line in lines:
        parser.parse_args(shlex.split(line))


@pytest.mark.parametrize(
    ("called", "by"), [("/usr/bin/sdtps", "sdtps"), ("sdtps.exe", "sdtps"), ("sdtps/__main__.py", "python -m sdtps")]
)
def test_examples_call_the_program_as_it_was_called(called: str, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [called])
    for name, parser in every_parser().items():
        if name not in ("serve", "sdtps-lens"):  # the page has a name of its own
            assert (parser.epilog or "").startswith(f"examples:\n  {by} {name}"), name


@pytest.mark.parametrize("program", [main, page.main])
def test_the_version_is_said(program, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        program(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"SDTPS Lens {sdtps.__version__}\n")


def test_every_command_is_described() -> None:
    assert len(PARSERS) == len(COMMANDS) + 1  # the page by its own name, too


@pytest.mark.parametrize("name", PARSERS)
def test_every_option_says_what_it_is(name: str) -> None:
    assert [a.option_strings or a.dest for a in PARSERS[name]._actions if not a.help] == []


@pytest.mark.parametrize("name", ["SDTPS_PORT", "SDTPS_RATE_LIMIT"])
def test_a_wrong_number_in_the_environment_is_a_sentence(name, monkeypatch, capsys) -> None:
    monkeypatch.setenv(name, "many")
    with pytest.raises(SystemExit):
        parse_arguments([])
    assert "invalid int value: 'many'" in capsys.readouterr().err


def in_bash(words: list[str]) -> set[str]:
    """What bash's own completion offers for the last word."""
    ask = f"COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _sdtps; echo ${{COMPREPLY[@]}}"
    script = f"{completion.script(PARSERS, 'bash')}\n{ask}"
    return set(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("fig", {"figure"}),
        ("figure --wi", {"--wide", "--width"}),
        ("figure --fit s", {"stretch"}),
        ("figure night.p", set()),  # files are the shell's own matter
        ("completion z", {"zsh"}),
        ("serve --log-format j", {"json"}),
    ],
)
def test_bash_completes(words: str, expected: set[str]) -> None:
    assert in_bash(["sdtps", *words.split()]) == expected


@pytest.mark.parametrize("name", PARSERS)
def test_bash_knows_every_option(name: str) -> None:
    program = ["/usr/local/bin/sdtps-lens"] if name == "sdtps-lens" else ["sdtps", name]
    assert in_bash([*program, "-"]) == {o for action in PARSERS[name]._actions for o in action.option_strings}


@pytest.mark.parametrize("start", [s for s in ("bash --norc --noprofile", "zsh -f") if shutil.which(s.split()[0])])
@pytest.mark.parametrize(
    ("words", "expected"), [("sdtps serve --root", "--root-path"), ("sdtps-lens --log-format j", "json")]
)
def test_the_tab_key_completes(start: str, words: str, expected: str, tmp_path: Path) -> None:
    """Typed at a terminal."""
    shell = start.split()[0]
    (tmp_path / "script").write_text(
        "zstyle ':completion:*' insert-tab false\n" * (shell == "zsh") + completion.script(PARSERS, shell)
    )
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "dumb"}
    process = subprocess.Popen(
        [*start.split(), "-i"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment,
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        # Ctrl-A and Ctrl-E go to both ends of the line, to write it down instead of running it.
        os.write(ours, f". ./script\n{words}\t\x01echo '\x05' > said; exit\n".encode())
        with contextlib.suppress(OSError):  # it ended
            while os.read(ours, 4096):
                pass
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert (tmp_path / "said").read_text().strip() == f"{words.rpartition(' ')[0]} {expected}"


def test_fish_gets_a_line_per_option() -> None:
    lines = completion.script(PARSERS, "fish").splitlines()
    assert any("-l sparse-ratio" in line and "figure" in line for line in lines)
    assert any("-l root-path" in line and "serve" in line for line in lines)
    assert any(line.startswith("complete -c sdtps-lens -l root-path ") for line in lines)
    assert all(line.startswith("complete -c sdtps") for line in lines)
    assert "complete -c sdtps -n __fish_use_subcommand -l version" in lines


def test_shipped_recipes_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert train.find_recipe("configs/rgbnt201.yaml") == str(CONFIGS / "rgbnt201.yaml")
    assert train.find_recipe("nowhere.yaml") == "nowhere.yaml"
    (tmp_path / "embedded.yaml").touch()
    assert train.find_recipe("embedded.yaml") == "embedded.yaml", "one's own comes first"


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m sdtps completion bash | head -0"
    ended = subprocess.run(["sh", "-c", command], cwd=PROJECT, capture_output=True, text=True)
    assert ended.stderr == ""


def test_ctrl_c_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(index, "open_dataset", pressed)
    assert main(["index", "anything"]) == 130
    assert capsys.readouterr().err.strip() == "sdtps: stopped; what is written is complete."


def test_ctrl_c_that_a_library_calls_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def library(*_: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise InputError("weights.damaged", "The file is damaged.") from None

    monkeypatch.setattr(index, "open_dataset", library)
    assert main(["index", "anything"]) == 130
    assert capsys.readouterr().err.strip() == "sdtps: stopped; what is written is complete."
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


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
