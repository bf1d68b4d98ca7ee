"""Nothing grows without end: temporary files, answers of jobs, entries of caches."""

import os
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from sdtps.images.read import Picture
from sdtps.support.byte_lru import ByteLru
from sdtps.web.server import temporary_files
from sdtps.web.server.temporary_files import TemporaryFiles, tidy
from sdtps.web.session import jobs as jobs_module
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.jobs import Jobs
from sdtps.web.session.requests import Refusal
from tests.visitor import Visitor
from tests.web.conftest import App


@pytest.fixture
def folder(tmp_path):
    """Four files of 100 bytes: two days, three hours, two hours and no time old."""
    for name, age in (("ancient", 172_800), ("old", 10_800), ("middle", 7200), ("new", 0)):
        path = tmp_path / name / "file"
        path.parent.mkdir()
        path.write_bytes(b"x" * 100)
        for place in (path, path.parent):
            os.utime(place, (time.time() - age,) * 2)
    return tmp_path


def names(folder) -> set[str]:
    return {path.parent.name for path in folder.glob("*/file")}


def test_old_files_go_whatever_their_size(folder):
    assert tidy(folder) == 300
    assert names(folder) == {"old", "middle", "new"}


def test_the_oldest_go_until_the_rest_fits_and_new_ones_are_spared(folder):
    assert tidy(folder, max_bytes=200) == 200
    assert names(folder) == {"middle", "new"}
    assert tidy(folder, max_bytes=50) == 100
    assert names(folder) == {"new"}
    assert tidy(folder, max_bytes=10) == 0, "twice the budget is too much even for what is new"


def test_lists_of_files_forget_what_is_gone_and_empty_folders_go(folder):
    listed = {str(folder / name / "file") for name in ("ancient", "new")}
    tidy(folder, listed=[listed])
    assert listed == {str(folder / "new" / "file")}
    os.utime(folder / "ancient", (0, 0))
    tidy(folder)
    assert not (folder / "ancient").exists()


def test_leftovers_are_cleared_and_it_clears_leftovers_at_the_start_and_goes_on(folder, monkeypatch):
    monkeypatch.setattr(temporary_files, "EVERY", 0.01)
    worker = TemporaryFiles(folder, max_bytes=250)
    worker.start()
    while names(folder) != {"middle", "new"}:
        time.sleep(0.01)
    (folder / "old").mkdir(exist_ok=True)
    (folder / "old" / "file").write_bytes(b"x" * 100)
    os.utime(folder / "old" / "file", (time.time() - 10_800,) * 2)
    while names(folder) != {"middle", "new"}:
        time.sleep(0.01)
    worker.stop()
    assert names(folder) == {"middle", "new"}


def test_answers_of_jobs_are_bounded_in_bytes(monkeypatch):
    monkeypatch.setattr(jobs_module, "KEPT_BYTES", 2500)
    jobs = Jobs()
    keys = []
    for _ in range(4):
        keys.append(jobs.start(lambda p, c: {"file": "x" * 1000})["job"])
        jobs._find(keys[-1]).future.result(10)
    jobs.start(lambda p, c: {})
    with pytest.raises(Refusal, match="no longer knows"):
        jobs.poll(keys[0])
    assert jobs.poll(keys[-1])["result"]["file"] == "x" * 1000
    assert sum(job.bytes for job in jobs._jobs.values()) <= 2500
    jobs.close()


def test_many_small_values_are_bounded_by_number():
    cache = ByteLru[bytes](10**9, len, max_items=3)
    for i in range(10):
        cache.put(i, b"x")
    assert (len(cache), cache.bytes, cache.get(9), cache.get(6)) == (3, 3, b"x", None)


def test_uploads_that_wait_are_bounded(tiny_model, photos):
    size = photos["rgb"].nbytes
    bench = PageBackend([tiny_model], {}, picture_bytes=3 * size)
    for _ in range(10):
        bench.keep(Picture(photos["rgb"]))
    assert bench._pictures.bytes == 3 * size


def test_health_counts_sessions_and_cached_bytes(app: App):
    before = httpx.get(f"{app.url}/health").json()
    with Visitor(app.url) as visitor:
        visitor.stage("rgb", Path(app.files("day")[0]).read_bytes())
    after = httpx.get(f"{app.url}/health").json()
    assert after["sessions"] == before["sessions"] + 1
    assert after["cached_bytes"] - before["cached_bytes"] == np.asarray(Image.open(app.files("day")[0])).nbytes
