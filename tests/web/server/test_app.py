"""The command line of the app, and the same by environment."""

import os

import pytest

from sdtps.cli import page as program
from sdtps.cli import page_options
from tests.harness import free_port


def test_options_by_command_line() -> None:
    given = "--host 0.0.0.0 --port 8123 --weights a.pth --weights b.pth --device cpu --share --root-path /lens --data d"
    options = page_options.parse_arguments(given.split())
    assert (options.host, options.port, options.device, options.root_path) == ("0.0.0.0", 8123, "cpu", "/lens")
    assert [source.path for source in options.sources] == ["a.pth", "b.pth"]
    assert options.data == ["d"]
    assert options.share is True


def test_options_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"HOST": "::1", "PORT": "9000", "WEIGHTS": f"a{os.pathsep}b", "DEVICE": "mps", "SHARE": "yes", "DATA": "x"}
    for name, value in values.items():
        monkeypatch.setenv(f"SDTPS_{name}", value)
    options = page_options.parse_arguments([])
    assert (options.host, options.port, options.device, options.share) == ("::1", 9000, "mps", True)
    assert ([source.path for source in options.sources], options.data) == (["a", "b"], ["x"])
    assert page_options.parse_arguments(["--port", "1"]).port == 1


def test_defaults() -> None:
    options = page_options.parse_arguments([])
    assert (options.host, options.share, options.sources, options.data) == ("127.0.0.1", False, [], [])


def test_options_belong_to_the_weights_before_them(capsys: pytest.CaptureFixture[str]) -> None:
    given = "--weights a.pth --size 128x256 --force --weights b.pth --config c.yml --allow-upload-weights"
    options = page_options.parse_arguments(given.split())
    first, second = options.sources
    assert (first.size, first.config, first.force) == ((128, 256), None, True)
    assert (second.size, second.config, second.force) == (None, "c.yml", False)
    assert options.allow_upload_weights
    for wrong in (["--size", "128x256"], ["--weights", "a", "--size", "tall"]):
        with pytest.raises(SystemExit):
            page_options.parse_arguments(wrong)
    assert "belongs to a --weights before it" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--weights", "nowhere.pth"], ["--data", "nowhere"]])
def test_what_is_not_there_ends_in_one_sentence(arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match=r"^There is no .*nowhere.*; check"):
        program.main([*arguments, "--port", str(free_port())])  # beside a page on the usual one


def test_nothing_is_reported_to_anyone() -> None:
    assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"
    assert "127.0.0.1" in os.environ["NO_PROXY"]
