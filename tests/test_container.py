"""The Dockerfile, read by the same code that walks its steps; and the bill of materials."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from scripts import container
from scripts.container_steps import ROOT, Stage, ignored, read_dockerfile
from scripts.sbom import bill, closure, licence, normalised, pinned
from scripts.soak import SLACK, Reading, judge
from sdtps import resources

DOCKERFILE = (ROOT / "Dockerfile").read_text()
RULES = (ROOT / ".dockerignore").read_text().split()


@pytest.fixture(scope="module")
def stages() -> dict[str, Stage]:
    return {stage.name: stage for stage in read_dockerfile(DOCKERFILE)}


def steps_of(stages: dict[str, Stage], name: str) -> list[tuple[str, str]]:
    """The steps of a target, those it starts from included."""
    stage = stages[name]
    return (steps_of(stages, stage.base) if stage.base in stages else []) + stage.steps


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_both_targets_run_as_nobody_special_and_are_watched(stages, target) -> None:
    steps = steps_of(stages, target)
    names = [name for name, _ in steps]
    assert steps[-1] == ("USER", "1000:1000")
    assert {"HEALTHCHECK", "EXPOSE", "CMD"} <= set(names)
    assert "/health" in dict(steps)["HEALTHCHECK"]
    assert json.loads(dict(steps)["CMD"]) == ["python", "app.py"]
    assert all("ADD" not in name for name in names)


def test_the_default_target_is_for_cpus_and_carries_no_cuda(stages) -> None:
    assert list(stages)[-1] == "cpu"
    lock, torch = (rest for name, rest in stages["cpu"].steps if name == "RUN")
    assert "--require-hashes -r requirements-cpu.lock" in lock
    assert '${TORCH_INDEX:+--index-url "${TORCH_INDEX}"}' in torch
    names = locked("requirements-cpu.lock")
    assert not {n for n in names if n.startswith(("nvidia", "cuda", "triton", "torch"))}
    left_out = {n for n in locked("requirements.lock") if n.startswith(("nvidia", "cuda", "triton", "torch"))}
    assert names | left_out == locked("requirements.lock")


def locked(name: str) -> set[str]:
    """The packages of a lock file."""
    return set(re.findall(r"^([a-z0-9-]+)(?:\[.*\])?==", (ROOT / name).read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    ("lock", "source"), [("requirements.lock", "requirements.txt"), ("requirements-dev.lock", "requirements-dev.txt")]
)
def test_locks_hold_every_package_with_hashes_and_no_address(lock: str, source: str) -> None:
    text = (ROOT / lock).read_text()
    pins = dict(re.findall(r"^([a-z0-9-]+)(?:\[.*\])?==(\S+)", text, re.MULTILINE))
    conditional = re.findall(r"^([a-z0-9-]+)(?:\[.*\])?==\S+ ;", text, re.MULTILINE)
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) > len(pins)
    assert "://" not in text
    for requirement in pinned(ROOT / source):
        name = normalised(requirement.name)
        assert pins[name] in requirement.specifier, "run: make lock"
        assert name not in conditional, "run: make lock"
    assert set(closure(pinned(ROOT / source))) - {"pip"} <= set(pins)


def test_versions_are_pinned() -> None:
    assert re.search(r"^ARG BASE=python:3\.11\.\d+-slim-\w+@sha256:[0-9a-f]{64}$", DOCKERFILE, re.MULTILINE)
    assert all("==" in str(requirement) for requirement in pinned(ROOT / "requirements.txt"))


def test_everything_that_is_written_goes_below_tmp(stages) -> None:
    settings = dict(stages["base"].steps)["ENV"]
    for name in ("SDTPS_CACHE", "GRADIO_TEMP_DIR", "MPLCONFIGDIR", "XDG_CACHE_HOME"):
        assert f"{name}=/tmp/" in settings


def test_what_is_copied_exists_and_is_let_through(stages) -> None:
    copies = [rest for stage in stages.values() for i, rest in stage.steps if i == "COPY" and "--from=" not in rest]
    copied = [source for rest in copies for source in rest.split()[:-1]]
    assert {"app.py", "sdtps", "checkpoints", "requirements.txt"} <= set(copied)
    for source in copied:
        assert (ROOT / source).exists()
        assert not ignored(source, RULES)
    for path in (".git/config", "tests/conftest.py", ".venv/bin/python", "sdtps/__pycache__/x.pyc", "runs/x.pth"):
        assert ignored(path, RULES)


def test_what_the_program_looks_for_is_inside() -> None:
    """All but the pictures behind rendered people, whose packages are not in the image either."""
    for folder in (resources.CHECKPOINTS, resources.EXAMPLES, resources.GALLERY, resources.LAB, resources.CONFIGS):
        path = str(folder.relative_to(ROOT))
        assert f"COPY {path.split('/')[0]} " in DOCKERFILE, path
        assert path == "checkpoints" or not ignored(path, RULES), path
    assert not ignored("configs/embedded.yaml", RULES)


def test_wheels_of_a_folder_are_for_the_build_alone(monkeypatch, tmp_path) -> None:
    asked, settings = [], []

    def run(*words: str) -> None:
        asked.extend(words)
        settings.append(Path(next(w for w in words if ":/etc/pip.conf:" in w)[9:].split(":")[0]).read_text())

    monkeypatch.setattr(container, "run", run)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("TORCH", "torch==2.13.0+cpu")
    container.build("cpu", "tried")
    assert f"--volume={tmp_path}:/mnt/wheels0:ro" in asked
    assert "find-links = /mnt/wheels0\n" in settings[0]
    assert "--build-arg=TORCH=torch==2.13.0+cpu" in asked


def test_a_build_that_fails_is_a_sentence(monkeypatch, capsys) -> None:
    def fails(*_: str) -> str:
        raise subprocess.CalledProcessError(1, "buildah")

    monkeypatch.setattr(container, "run", fails)
    monkeypatch.setattr(container, "make_base", lambda: None)
    monkeypatch.setattr(container, "TOOLS", ())
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(sys, "argv", ["container.py", "--target", "cpu"])
    assert container.main() == 1
    assert capsys.readouterr().err == "The cpu image was not built; the step that failed is above.\n"


def test_only_the_shipped_weights_get_into_an_image_and_its_base_takes_a_digest() -> None:
    assert not ignored("checkpoints/sdtps-lens-hiera-tiny.safetensors", RULES)
    assert not ignored("checkpoints/NOTICE", RULES)
    assert ignored("checkpoints/mine.pth", RULES)
    assert ignored("checkpoints/other.safetensors", RULES)
    assert "FROM ${BASE} AS base" in DOCKERFILE


def test_the_bill_of_materials_names_what_is_installed() -> None:
    wanted = pinned(ROOT / "requirements.txt")
    found = closure(wanted)
    assert {normalised(r.name) for r in wanted} <= set(found)
    assert {"starlette", "httpx"} <= set(found), "what is needed indirectly is there, too"
    assert "pytest" not in found
    written = bill(found, {normalised(r.name) for r in wanted}, "1")
    assert (written["bomFormat"], written["specVersion"]) == ("CycloneDX", "1.6")
    entries = {entry["name"]: entry for entry in written["components"]}
    assert entries["pillow"]["version"] == version("pillow")
    references = {entry["bom-ref"] for entry in written["components"]}
    assert all(set(need["dependsOn"]) <= references for need in written["dependencies"])
    assert licence(found["pillow"]) == "MIT-CMU"


def readings(values: list[float]) -> list[Reading]:
    return [Reading(i, dict.fromkeys(SLACK, value)) for i, value in enumerate(values)]


def test_the_soak_tells_growth_from_warm_up() -> None:
    warming_up = [10.0, 200.0, 400.0, 500.0, 500.0, 500.0, 500.0, 500.0]
    assert judge(readings(warming_up))[1]
    table, flat = judge(readings([100.0 * i for i in range(8)]))
    assert not flat
    assert table.count("**no**") == len(SLACK)


@pytest.mark.parametrize(("browser", "code"), [("chromium", 0), ("google-chrome", 0), ("lynx", 1)])
def test_a_browser_of_any_name_that_the_tests_know_is_enough(browser: str, code: int, tmp_path: Path) -> None:
    for name, does in ((browser, "exit 0"), ("fc-list", "echo Noto Sans CJK"), ("id", "echo 1000")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "grep").symlink_to(shutil.which("grep") or "/bin/grep")
    shell = shutil.which("sh") or "/bin/sh"
    ended = subprocess.run([shell, ROOT / "scripts" / "setup.sh", "browser"], env={"PATH": str(tmp_path)})
    assert ended.returncode == code


def test_make_has_a_target_for_each() -> None:
    makefile = Path(ROOT / "Makefile").read_text()
    for name in ("soak", "load", "container", "sbom", "audit", "lock", "coverage", "release"):
        assert re.search(rf"^{name}:.*## ", makefile, re.MULTILINE)
