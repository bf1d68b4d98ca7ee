"""The corpus through the page's server functions and the command line: the same ends, and the next good one works."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sdtps.checkpoints.load import WeightsSource
from sdtps.cli.main import main
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.model_registry import ModelRegistry
from tests.hostile import pictures
from tests.hostile.bundles import BUNDLES
from tests.hostile.cases import GOOD, Case
from tests.hostile.checkpoints import CHECKPOINTS
from tests.hostile.configs import CONFIGS
from tests.hostile.ends import complaint

# Pictures of 40 megapixels take seconds each; they go through Python, where their memory is measured.
PICTURES = tuple(c for c in pictures.PICTURES if not c.name.startswith("forty"))


@pytest.fixture(scope="module")
def bench(tiny_model) -> PageBackend:
    return PageBackend(ModelRegistry([tiny_model], "cpu", uploads=True), {})


def still_works(bench: PageBackend) -> bool:
    """Upload a good picture and analyse it."""
    token = bench.stage("rgb", pictures.saved("PNG")())["pictures"]["rgb"]["token"]
    return "modalities" in bench.analyse({"pictures": {"rgb": {"token": token}}})


def sent(bench: PageBackend, cases: tuple[Case, ...], send: Callable[[Case], dict[str, Any]]) -> list[str]:
    """Send each case; what ended otherwise than it says, or not in a plain sentence, or broke the session."""
    wrong = []
    for case in cases:
        error = send(case).get("error")
        end = GOOD if error is None else error["code"]
        if end not in case.ends or (error is not None and complaint(error["text"])) or not still_works(bench):
            wrong.append(f"{case.name}: {error}")
    return wrong


def test_pictures_on_the_page(bench) -> None:
    assert sent(bench, PICTURES, lambda case: bench.stage("rgb", case.make())) == []


def test_bundles_on_the_page(bench) -> None:
    assert sent(bench, BUNDLES, lambda case: bench.open_bundle(case.make())) == []


def test_checkpoints_on_the_page(bench) -> None:
    assert sent(bench, CHECKPOINTS, lambda case: bench.upload_weights(case.name, case.make(), {})) == []
    assert [e.name for e in bench.models.entries.values() if "cut" in e.name] == []


@pytest.fixture
def run(tiny_model, monkeypatch, capsys, tmp_path) -> Callable[..., list[str]]:
    """Run the command on each case; what ended with another exit code, or not in one plain sentence."""
    monkeypatch.setattr(WeightsSource, "load", lambda *_: tiny_model)

    def run(cases: tuple[Case, ...], command: Callable[[Path], list[str]]) -> list[str]:
        wrong = []
        for case in cases:
            file = tmp_path / case.name
            file.write_bytes(case.make())
            code = main(command(file))
            errors = capsys.readouterr().err.strip()
            expected = {0 if end == GOOD else 1 for end in case.ends}
            plain = errors.startswith("sdtps: ") and complaint(errors) is None and str(tmp_path) not in errors
            if code not in expected or (code == 1 and not plain):
                wrong.append(f"{case.name}: {code} {errors}")
        return wrong

    return run


def test_pictures_in_the_terminal(run) -> None:
    assert run(PICTURES, lambda file: ["inspect", str(file)]) == []


def test_bundles_in_the_terminal(run) -> None:
    assert run(BUNDLES, lambda file: ["inspect", str(file)]) == []


def test_checkpoints_in_the_terminal(run) -> None:
    assert run(CHECKPOINTS, lambda file: ["weights", str(file)]) == []


def test_configurations_in_the_terminal(run, tmp_path) -> None:
    good = tmp_path / "weights.pth"
    good.write_bytes(CHECKPOINTS[0].make())
    assert run(CONFIGS, lambda file: ["weights", str(good), "--config", str(file)]) == []


@pytest.mark.parametrize("name", ["x" * 4000, "a\0b", "\u202egnp", "new\nline", "/dev/null", "."])
def test_names_that_no_file_can_have(name, run, capsys) -> None:
    for command in (
        ["inspect", name],
        ["inspect", name + ".zip"],
        ["weights", name],
        ["figure", name, "--out", "x.pdf"],
    ):
        assert main(command) == 1
        assert complaint(capsys.readouterr().err.strip()) is None
