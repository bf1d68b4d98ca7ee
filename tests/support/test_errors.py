"""When the engine or the disk fails: one sentence, nothing half-written, and the next request works."""

import errno
import logging
from pathlib import Path

import gradio as gr
import pytest
import torch
from PIL import Image

from sdtps import pipeline
from sdtps.checkpoints.load import WeightsSource, save_checkpoint
from sdtps.cli.main import main
from sdtps.models.reid import ReidModel
from sdtps.support import errors, files
from sdtps.web.server.api import answered
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.jobs import Jobs
from sdtps.web.session.model_registry import ModelRegistry
from tests.datasets import trees
from tests.hostile.ends import complaint
from tests.hostile.pictures import COLOUR, saved

OUT_OF_MEMORY = torch.OutOfMemoryError("CUDA out of memory.\nTried to allocate 2.00 GiB. /srv/secret")
FULL = OSError(errno.ENOSPC, "No space left on device", "/srv/secret")
FAILURES = {"server.memory": OUT_OF_MEMORY, "server.failed": RuntimeError("/srv/secret"), "disk.full": FULL}


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level(logging.CRITICAL)


@pytest.fixture
def picture(tmp_path) -> str:
    path = tmp_path / "one.png"
    Image.fromarray(COLOUR).save(path)
    return str(path)


@pytest.fixture
def loaded(tiny_model, monkeypatch):
    """The command line with a small model, and nothing cached."""
    pipeline.forget()
    monkeypatch.setattr(WeightsSource, "load", lambda *_: tiny_model)
    return tiny_model


def fail_with(monkeypatch, error: Exception, place: object = ReidModel, name: str = "encode", after: int = 0) -> None:
    """Let a function fail on every call after the first so many."""
    real, calls = getattr(place, name), []

    def failing(*args, **kwargs):
        calls.append(1)
        if len(calls) > after:
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(place, name, failing)


@pytest.mark.parametrize("code", FAILURES)
def test_each_failure_has_its_sentence(code) -> None:
    message = errors.sentence(FAILURES[code])
    assert (message.code, complaint(message)) == (code, None)
    assert "secret" not in message


@pytest.mark.parametrize("code", ["server.memory", "server.failed"])
def test_the_page_says_it_and_goes_on(code, tiny_model, monkeypatch) -> None:
    pipeline.forget()
    bench = PageBackend([tiny_model], {})
    token = bench.stage("rgb", saved("PNG")())["pictures"]["rgb"]["token"]
    request = {"pictures": {"rgb": {"token": token}}}
    with monkeypatch.context() as patch:
        fail_with(patch, FAILURES[code])
        assert bench.analyse(request)["error"]["code"] == code
    assert "modalities" in bench.analyse(request)


@pytest.mark.parametrize("code", FAILURES)
def test_http_and_jobs_say_it(code) -> None:
    def work(*_):
        raise FAILURES[code]

    with pytest.raises(gr.Error) as caught:
        answered(work)
    assert caught.value.message == errors.sentence(FAILURES[code])
    jobs = Jobs()
    key = jobs.start(work)["job"]
    jobs._jobs[key].future.result(60)
    assert jobs.poll(key)["error"]["code"] == code


def test_the_terminal_says_it(loaded, picture, monkeypatch, capsys) -> None:
    with monkeypatch.context() as patch:
        fail_with(patch, OUT_OF_MEMORY)
        assert main(["inspect", picture]) == 1
    assert "not enough memory" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        fail_with(patch, TypeError("x\ny"))
        assert main(["inspect", picture]) == 1
    assert "TypeError" in (error := capsys.readouterr().err)
    assert complaint(error.strip()) is None
    assert main(["inspect", picture]) == 0


def test_weights_that_overflow_are_said_so(loaded, picture, monkeypatch, capsys) -> None:
    real = loaded.net.encode
    monkeypatch.setattr(
        loaded.net, "encode", lambda *a: type(e := real(*a))(*({m: t * 1e38 * 1e38 for m, t in p.items()} for p in e))
    )
    assert main(["inspect", picture]) == 1
    assert "no finite numbers" in capsys.readouterr().err


def test_a_batch_keeps_what_is_done_and_goes_on(loaded, tmp_path, monkeypatch, capsys) -> None:
    data, out = trees.rgbnt201(tmp_path / "data", ids=1, cameras=3), tmp_path / "out"
    command = ["batch", str(data), "--out", str(out)]
    with monkeypatch.context() as patch:
        fail_with(patch, OUT_OF_MEMORY, after=1)
        assert main(command) == 1
    assert "not enough memory" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        fail_with(patch, FULL, Path, "write_bytes")
        assert main(command) == 1
    assert "disk is full" in capsys.readouterr().err
    assert list(out.rglob("*.partial")) == []
    assert main(command) == 0
    assert len(list((out / "maps").iterdir())) == 3


@pytest.mark.parametrize("name", ["figure", "bundle", "supplement"])
def test_a_full_disk_leaves_the_old_file(name, loaded, picture, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sdtps.export.supplement.PLANS", (((), (), ()),))
    monkeypatch.setattr("sdtps.export.supplement.RATIO_STRIDE", 19)
    out = tmp_path / {"figure": "a.svg", "bundle": "a.zip", "supplement": "a.html"}[name]
    out.write_text("old")
    look = [] if name == "supplement" else ["--columns", "kept"]
    command = [name, picture, "--out", str(out), *look]
    with monkeypatch.context() as patch:
        fail_with(patch, FULL, Path, "replace")
        assert main(command) == 1
    assert "disk is full" in capsys.readouterr().err
    assert (out.read_text(), list(tmp_path.glob("*.partial"))) == ("old", [])


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch) -> None:
    target, link = tmp_path / "a", tmp_path / "link"
    link.symlink_to(target)
    files.write_whole(link, b"one")
    assert (target.read_bytes(), link.is_symlink()) == (b"one", True)
    fail_with(monkeypatch, KeyboardInterrupt(), Path, "replace")  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        files.write_whole(target, b"two")
    assert (target.read_bytes(), list(tmp_path.glob("*.partial"))) == (b"one", [])


def test_features_on_a_full_disk_or_in_no_folder(loaded, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr("sdtps.load_model", lambda *_: loaded)
    data = trees.rgbnt201(tmp_path / "data", ids=1, cameras=2)
    (tmp_path / "file").write_text("x")
    assert main(["index", str(data), "--cache", str(tmp_path / "file" / "cache")]) == 1
    assert complaint(capsys.readouterr().err.strip().splitlines()[-1] + ".") in (None, "holds '/tmp/'")
    with monkeypatch.context() as patch:
        fail_with(patch, FULL, __import__("numpy"), "savez")
        assert main(["index", str(data), "--cache", str(tmp_path / "cache")]) == 1
    assert "disk is full" in capsys.readouterr().err
    assert list((tmp_path / "cache").iterdir()) == []
    assert main(["index", str(data), "--cache", str(tmp_path / "cache")]) == 0


def test_a_checkpoint_that_is_gone_is_named_and_the_others_work(tiny_model, tmp_path) -> None:
    path = tmp_path / "gone.safetensors"
    save_checkpoint(tiny_model.net, path, half=False)
    shelf = ModelRegistry([tiny_model], "cpu", uploads=True)
    key = shelf.add(WeightsSource(path), now=False)
    if key in shelf.loaded:  # the same weights are in memory
        key = shelf.add(WeightsSource(path, force=True), now=False)
    bench = PageBackend(shelf, {})
    path.unlink()
    token = bench.stage("rgb", saved("PNG")())["pictures"]["rgb"]["token"]
    request = {"pictures": {"rgb": {"token": token}}}
    assert bench.analyse(request | {"weights": key})["error"]["code"] == "weights.not_found"
    assert "modalities" in bench.analyse(request)


def test_an_upload_on_a_full_disk_leaves_nothing(tiny_model, monkeypatch) -> None:
    bench = PageBackend(ModelRegistry([tiny_model], "cpu", uploads=True), {})
    fail_with(monkeypatch, FULL, Path, "write_bytes")
    assert bench.upload_weights("\U0001d49c" * 100 + ".pth", b"x", {})["error"]["code"] == "disk.full"
    assert list(Path(bench.models._folder.name).iterdir()) == []
    assert len(bench.models) == 1
