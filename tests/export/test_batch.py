"""Batches: the same numbers as one at a time, resumable at any point, one bad triplet skipped."""

import csv
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import sdtps
from sdtps.checkpoints.load import random_model, save_checkpoint
from sdtps.cli.main import main
from sdtps.datasets import read_rgbnt201
from sdtps.export import serialise
from sdtps.export.batch import ResultFolder, Task, items_of, run_local, write_summary
from sdtps.export.batch.run import overlapped
from sdtps.resources import PROJECT
from sdtps.support.errors import InputError
from sdtps.training.synth import write_rgbnt201
from tests.conftest import tiny_vit_config

ROOT = PROJECT
IDS, VIEWS = 4, 2


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_rgbnt201(folder, IDS, VIEWS, seed=0, split="test", workers=1)
    return folder


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_checkpoint(random_model(tiny_vit_config(), device="cpu").net, path, half=False)
    return path


@pytest.fixture(scope="module")
def finished(data, weights, tmp_path_factory) -> Path:
    """An uninterrupted run."""
    out = tmp_path_factory.mktemp("finished") / "out"
    assert main(command(data, weights, out)) == 0
    return out


def command(data: Path, weights: Path, out: Path, *more: str) -> list[str]:
    return ["batch", str(data), "--out", str(out), "--weights", str(weights), "--device", "cpu", *more]


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_numbers_are_those_of_a_single_analysis(data, weights, finished):
    model = sdtps.load_model(weights, device="cpu")
    for item in items_of(read_rgbnt201(data, "test"))[:3]:
        expected = serialise.arrays_of(sdtps.analyse(model, *item.record.paths))
        found = serialise.unpack_npz((finished / "maps" / f"{item.name}.npz").read_bytes())
        assert expected.keys() == found.keys()
        assert [n for n in expected if expected[n].tobytes() != found[n].tobytes()] == []


def test_summary_holds_overlaps_foreground_and_frequency(data, weights, finished):
    with (finished / "summary.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == IDS * VIEWS
    kept = []
    for row in rows:
        arrays = serialise.unpack_npz((finished / "maps" / f"{row['name']}.npz").read_bytes())
        rgb, tir = arrays["rgb.mask"], arrays["tir.mask"]
        expected = (rgb & tir).sum() / (rgb | tir).sum()
        assert float(row["overlap_rgb_tir"]) == expected
        assert 0 <= float(row["foreground_nir"]) <= 1
        kept.append(arrays["nir.mask"])
    with np.load(finished / "frequency.npz") as frequency:
        assert frequency["nir"].shape == (16, 8)
        assert np.allclose(frequency["nir"].ravel(), np.mean(kept, axis=0))
        assert frequency["rgb"].sum() == pytest.approx(64, abs=1e-3)


def test_contact_sheet_shows_every_triplet(finished):
    page = (finished / "index.html").read_text(encoding="utf-8")
    overlays = list((finished / "overlays").glob("*.jpg"))
    assert len(overlays) == IDS * VIEWS
    assert [o.name for o in overlays if f"overlays/{o.name}" not in page] == []
    assert "http" not in page


def test_a_second_run_computes_nothing_and_changes_nothing(data, weights, finished, monkeypatch):
    before = files(finished)
    monkeypatch.setattr("sdtps.export.batch.work.encode_together", lambda *_: pytest.fail("computed again"))
    assert main(command(data, weights, finished)) == 0
    assert files(finished) == before


@pytest.mark.parametrize("seed", range(2))
def test_killed_at_a_random_point_and_resumed_it_is_the_same_folder(data, weights, finished, tmp_path, seed):
    """SIGKILL after a random number of files, twice; then the same command to its end."""
    out = tmp_path / "out"
    chance = random.Random(seed)
    arguments = [sys.executable, "-m", "sdtps", *command(data, weights, out)]
    for _ in range(2):
        enough = chance.randrange(1, 3 * IDS * VIEWS)
        process = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and sum(1 for _ in out.rglob("*.*")) < enough:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert main(command(data, weights, out)) == 0
    assert files(out) == files(finished)


def test_what_a_kill_can_leave_behind_is_repaired(data, weights, finished, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(finished, out)
    names = sorted(p.stem for p in (out / "maps").iterdir())
    (out / "maps" / f"{names[0]}.npz.partial").write_bytes(b"half")
    (out / "summary.csv.partial").write_bytes(b"half")
    (out / "rows" / f"{names[1]}.json").unlink()
    (out / "overlays" / f"{names[2]}.jpg").unlink()
    (out / "rows" / f"{names[3]}.json").write_bytes(b"")
    assert main(command(data, weights, out)) == 0
    assert files(out) == files(finished)


def test_ctrl_c_leaves_whole_files_and_goes_on(data, weights, finished, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    stored = ResultFolder.store

    def interrupted(self, results):
        stored(self, results)
        if len(list((out / "rows").iterdir())) >= 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ResultFolder, "store", interrupted)
        assert main(command(data, weights, out)) == 130
    assert "Run the same command to go on" in capsys.readouterr().err
    for row in (out / "rows").iterdir():
        assert all((out / f).is_file() for f in json.loads(row.read_bytes())["files"])
    assert main(command(data, weights, out)) == 0
    assert files(out) == files(finished)


def test_one_bad_triplet_is_reported_and_skipped(data, weights, tmp_path, capsys):
    broken = tmp_path / "data"
    shutil.copytree(data, broken)
    victim = sorted((broken / "RGBNT201" / "test" / "NI").iterdir())[2]
    victim.write_bytes(victim.read_bytes()[:200])
    out = tmp_path / "out"
    assert main(command(broken, weights, out)) == 3
    assert f"skipped {victim.stem}" in capsys.readouterr().err
    assert "NIR: The " in (out / "summary.csv").read_text(encoding="utf-8")
    assert victim.stem in (out / "index.html").read_text(encoding="utf-8")
    assert len(list((out / "maps").iterdir())) == IDS * VIEWS - 1
    assert main(command(broken, weights, out, "--json")) == 3
    assert list(json.loads(capsys.readouterr().out)["skipped"]) == [victim.stem]


def test_another_batch_or_another_folder_is_not_touched(data, weights, finished, tmp_path, capsys):
    assert main(command(data, weights, finished, "--beta", "0.1")) == 1
    assert "other settings or weights" in capsys.readouterr().err
    (tmp_path / "mine.txt").write_text("mine")
    assert main(command(data, weights, tmp_path)) == 1
    assert "holds other files" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_several_together_group_by_place_so_that_resuming_gives_the_same_groups(data, weights, tmp_path):
    model, task = sdtps.load_model(weights, device="cpu"), Task(sdtps.Settings(), together=3)
    items = items_of(read_rgbnt201(data, "test"))
    folder = ResultFolder(tmp_path / "out")
    folder.begin(task, model.weights, model.net.backbone.grid)
    run_local(model, items, task, folder)
    whole = files(folder.path)
    (folder.path / "rows" / f"{items[4].name}.json").unlink()
    assert [[i.name for i in g] for g in folder.remaining(items, 3)] == [[i.name for i in items[3:6]]]
    run_local(model, items, task, folder)
    assert files(folder.path) == whole
    assert write_summary(folder, items, model.net.backbone.grid, {}) == []


def test_names_are_unique(data):
    record = read_rgbnt201(data, "test")[0]
    assert [i.name for i in items_of([record, record])] == [Path(record.name).stem, f"{Path(record.name).stem}-2"]


def test_stages_keep_order_and_pass_errors_on():
    stages = [(lambda x: x + 1, 2), (lambda x: x * 10, 1), (str, 2)]
    assert list(overlapped(range(50), stages)) == [str(10 * (i + 1)) for i in range(50)]

    def fails(x: int) -> int:
        if x == 3:
            raise InputError("test", "three")
        return x

    with pytest.raises(InputError, match="three"):
        list(overlapped(range(50), [(fails, 1), (str, 1)]))


def test_without_ray_one_sentence_says_what_to_install(data, weights, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sdtps.retrieval.engine.find_spec", lambda _: None)
    assert main(command(data, weights, tmp_path / "out", "--engine", "ray")) == 1
    assert "pip install 'ray[data]'" in capsys.readouterr().err


def test_the_driver_needs_no_gpu(data, weights, tmp_path, monkeypatch):
    """What `--device cuda` asks of the cluster, on a machine that has none."""
    asked = {}
    monkeypatch.setattr("sdtps.export.batch.cluster.run_ray", lambda *given, **_: asked.update(device=given[1]) or [])
    main([*command(data, weights, tmp_path / "out", "--engine", "ray", "--limit", "1"), "--device", "cuda"])
    assert asked == {"device": "cuda"}
