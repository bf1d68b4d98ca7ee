"""Pictures of strangers in a process of its own: the same answers, and bounds that the system holds."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sdtps.images import confined
from sdtps.images.read import MAX_BYTES, Picture, read_picture, read_wide
from sdtps.support.confined import Overran, Pool
from sdtps.support.errors import InputError
from tests.attack.files import large_picture, many_scans
from tests.hostile.pictures import PICTURES


def small_pool(monkeypatch, *, megabytes: int = 900, processor: float = 10) -> Pool:
    limits = {"megabytes": megabytes, "seconds": processor, "most": MAX_BYTES}
    options = {"bare": True, "size": 1, "seconds": 60, "most": confined.MAX_PIXEL_BYTES}
    pool = Pool("sdtps.images.worker", **options, limits=limits)
    monkeypatch.setattr(confined, "decoders", lambda: pool)
    return pool


def png(height: int, width: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), (1, 2, 3)).save(stream, "PNG")
    return stream.getvalue()


def end_of(read: Callable[[bytes], Picture], content: bytes) -> tuple[object, ...]:
    """What a reader makes of a file, in full."""
    try:
        found = read(content)
    except InputError as error:
        return error.message.code, str(error), error.message.values
    return found.pixels.tobytes(), found.size, [(n.code, str(n), n.values) for n in found.notes]


def test_every_hostile_picture_has_the_same_end_as_in_this_process() -> None:
    cases = [case for case in PICTURES if not case.name.startswith("forty")]
    differing = [c.name for c in cases if end_of(read_picture, c.make()) != end_of(confined.read_picture, c.make())]
    assert differing == []


def test_three_side_by_side_and_the_modality_of_a_refusal() -> None:
    content = png(128, 768)
    expected, found = read_wide(content), confined.read_wide(content)
    assert all(np.array_equal(found.pictures[m].pixels, p.pixels) for m, p in expected.pictures.items())
    with pytest.raises(InputError) as refused:
        confined.read_triplet({"rgb": content, "nir": b"x", "tir": None})
    assert refused.value.modality == "nir"


def test_a_picture_that_takes_too_long_is_given_up_and_the_next_one_is_read(monkeypatch) -> None:
    pool = small_pool(monkeypatch)
    confined.read_picture(png(8, 8))  # it has started
    monkeypatch.setattr(pool, "seconds", 0.5)
    with pytest.raises(InputError, match="takes more than") as refused:
        confined.read_picture(many_scans(3000, 600))
    assert refused.value.message.code == "input.slow"
    monkeypatch.setattr(pool, "seconds", 60)
    assert confined.read_picture(png(9, 8)).size == (9, 8)
    pool.close()


def test_processor_time_is_bounded_by_the_system(monkeypatch) -> None:
    pool = small_pool(monkeypatch, processor=0)
    with pytest.raises(InputError, match="takes more than"):
        confined.read_picture(many_scans(3000, 600))
    pool.close()


def test_memory_is_bounded_by_the_system(monkeypatch) -> None:
    pool = small_pool(monkeypatch, megabytes=40)
    with pytest.raises(InputError, match="too much memory"):
        confined.read_picture(png(5000, 6000))
    assert confined.read_picture(png(9, 8)).size == (9, 8)
    pool.close()


def resident(process: str = "self") -> float:
    """Megabytes in use by a process."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_large_pictures_leave_no_memory_behind(monkeypatch) -> None:
    pool = small_pool(monkeypatch)
    pool.warm()
    before, fresh = resident(), resident(str(pool._idle[0].process.pid))
    for number in range(2):
        assert confined.read_picture(large_picture(number)).size == (1280, 2048)
    assert resident() - before < 60
    assert [w for w in pool._idle if resident(str(w.process.pid)) - fresh > 250] == [], "it should have left"
    pool.close()


def test_a_worker_that_dies_is_replaced(monkeypatch) -> None:
    pool = small_pool(monkeypatch)
    pool.warm()
    pool._idle[0].process.kill()
    pool._idle[0].process.wait()
    assert confined.read_picture(png(9, 8)).size == (9, 8)
    with pytest.raises(Overran):
        pool.call({"call": "no such thing"})
    assert confined.read_picture(png(8, 9)).size == (8, 9)
    pool.close()
