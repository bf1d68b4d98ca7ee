"""The wheel: what is in it, and that it works from an empty folder; and how light the package is to import."""

import ast
import json
import os
import subprocess
import sys
import sysconfig
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sdtps
from sdtps.models.reid import LoadedModel
from sdtps.resources import CHECKPOINTS, EMBEDDED, EXAMPLES, PROJECT
from sdtps.types import MODALITIES
from tests.harness import free_port

HEAVY = ("torch", "timm", "gradio", "matplotlib")
LARGEST = 45 * 2**20


def imported(code: str) -> list[str]:
    """Which heavy packages a piece of code has brought in."""
    code += f"\nimport sys; print('brought', [m for m in {HEAVY} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    return json.loads(result.stdout.rpartition("brought ")[2].replace("'", '"'))


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert imported("import sdtps") == []


HELPS = """
import contextlib, io
from sdtps.cli import page
from sdtps.cli.main import every_parser, main

commands = [name for name in every_parser() if name != "sdtps-lens"]
for program, words in [(main, []), (page.main, []), *((main, [name]) for name in commands)]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        program([*words, "--help"])
    assert said.getvalue().startswith("usage: "), words
main(["completion", "bash"])
"""


def test_no_help_loads_anything_heavy() -> None:
    """Of `sdtps`, of each of its commands, and of `sdtps-lens`: all in one process, so that one culprit is enough."""
    assert imported(HELPS) == []


def test_every_public_name_is_there() -> None:
    assert all(hasattr(sdtps, name) for name in sdtps.__all__)
    assert set(sdtps.__all__) <= set(dir(sdtps))
    assert callable(sdtps.metrics.patch_provenance), "modules of the package, too"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = sdtps.nothing


def test_the_metadata_declares_every_import() -> None:
    """As needed, or as an extra's."""
    facts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    asked = [*facts["dependencies"], *(r for rs in facts["optional-dependencies"].values() for r in rs)]
    declared = {canonicalize_name(Requirement(r).name) for r in asked}
    known = {"sdtps", "IPython", *sys.stdlib_module_names}  # IPython is there where a notebook runs
    found = {(f.name, n) for f in (PROJECT / "sdtps").rglob("*.py") for n in imports(f) - known}
    called = {"PIL": "pillow", "yaml": "pyyaml"}
    assert sorted((f, n) for f, n in found if canonicalize_name(called.get(n, n)) not in declared) == []


def imports(file: Path) -> set[str]:
    """The packages that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as a release is, but without an environment of its own."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(PROJECT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment that has the wheel, and sees the packages of this one but not the source tree."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    Path(own, "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, str(wheel)], check=True)
    return folder / "bin"


def outside(tmp_path: Path) -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"HOME": str(tmp_path)}


def test_the_wheel_holds_all_that_is_shipped(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        meta = Parser().parsestr(archive.read(next(n for n in names if n.endswith("METADATA"))).decode())
    shipped = "sdtps/_shipped"
    assert {
        "sdtps/py.typed",
        "sdtps/web/static/waiting.html",
        "sdtps/web/static/icon.png",
        "sdtps/training/people/view/surface.frag",
        f"{shipped}/assets/examples/day/rgb.png",
        f"{shipped}/assets/examples/examples.json",
        f"{shipped}/checkpoints/sdtps-lens-hiera-tiny.safetensors",
        f"{shipped}/checkpoints/NOTICE",
        f"{shipped}/configs/embedded.yaml",
    } <= names
    for folder in ("gallery", "lab", "environments"):
        assert any(n.startswith(f"{shipped}/assets/{folder}/") for n in names)
    assert {f"{shipped}/checkpoints/{p.name}" for p in CHECKPOINTS.glob("sdtps-lens-*")} <= names
    assert [n for n in names if not n.startswith(("sdtps/", "sdtps_lens-"))] == []
    assert [n for n in names if "__pycache__" in n or "screenshots" in n] == []
    assert wheel.stat().st_size < LARGEST
    assert meta["Version"] == sdtps.__version__
    assert set(meta.get_all("Provides-Extra") or ()) == {"mcp", "ray", "parquet", "synth", "notebook", "bench"}


def test_the_metadata_can_be_published(wheel: Path) -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel)], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout
    assert "PASSED" in checked.stdout


def test_commands_work_from_an_empty_folder(installed: Path, tmp_path: Path, tiny_model: LoadedModel) -> None:
    """A figure of a bundle, which needs no weights; those that are shipped are the page's below."""
    pictures = [EXAMPLES / "day" / f"{m}.png" for m in MODALITIES]
    sdtps.analyse(tiny_model, *pictures).save(tmp_path / "day.zip")
    command = [str(installed / "sdtps"), "figure", "day.zip", "--out", "figure.svg", "--columns", "input,kept"]
    result = subprocess.run(command, cwd=tmp_path, env=outside(tmp_path), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "figure.svg").read_text().lstrip().startswith("<?xml")


def test_the_page_works_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    """It answers before the model is there, then with the model, and has analysed a shipped example by it."""
    port = free_port()
    command = [str(installed / "sdtps-lens"), "--port", str(port), "--device", "cpu"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=outside(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    seen: list[str] = []
    try:
        while not seen or seen[-1] != "ok":
            assert process.poll() is None, process.stderr and process.stderr.read()
            if (said := status(port)) and said not in seen[-1:]:
                seen.append(said)
            time.sleep(0.1)  # whoever asks without a pause keeps the start from its processor
        assert seen == ["starting", "ok"]
        assert set(asked(port, "sets")["examples"]) == {p.name for p in EXAMPLES.iterdir() if p.is_dir()}
        assert [w["name"] for w in asked(port, "weights")] == [EMBEDDED.name]
    finally:
        process.terminate()
        process.wait(20)
    assert list(tmp_path.glob("*.safetensors")) == []


def asked(port: int, name: str) -> Any:
    """What a public endpoint without parameters answers."""
    address = f"http://127.0.0.1:{port}/gradio_api/call/{name}"
    question = urllib.request.Request(address, b'{"data": []}', {"Content-Type": "application/json"})
    with urllib.request.urlopen(question, timeout=30) as taken:
        event = json.load(taken)["event_id"]
    with urllib.request.urlopen(f"{address}/{event}", timeout=30) as answer:
        return json.loads(answer.read().decode().partition("data: ")[2].partition("\n")[0])[0]


def status(port: int) -> str:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return str(json.load(answer)["status"])
    except urllib.error.HTTPError as refused:
        return str(json.load(refused)["status"])
    except OSError:
        return ""  # nobody listens yet, or between the two servers
