"""Every hostile file ends as its case says: the right picture, or one plain sentence; within a gigabyte."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdtps.images.read import read_picture
from sdtps.resources import PROJECT
from tests.hostile.cases import GOOD, Case
from tests.hostile.ends import ALL, complaint
from tests.hostile.memory import GIGABYTE
from tests.hostile.pictures import LOOKS, TAKEN

ROOT = PROJECT
CLOSE = 2.5  # mean difference of two pictures, of 255: what a JPEG may lose
NAMES = [f"{kind} {case.name}" for kind, case in ALL]

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc"),
    pytest.mark.timeout(900),  # the first test waits for the whole corpus, on a machine that may be busy
]


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    """How each file ended, in a process of its own whose memory is limited."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.hostile.memory"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=840, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(NAMES, json.loads(done.stdout), strict=True))


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(ALL) >= 150
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(("kind", "case"), ALL, ids=[name[:48] for name in NAMES])
def test_each_file_ends_as_it_must(kind: str, case: Case, found: dict[str, dict[str, Any]]) -> None:
    ended = found[f"{kind} {case.name}"]
    assert ended["end"] in case.ends, ended["sentence"]
    assert ended["end"] == GOOD or complaint(ended["sentence"]) is None, ended["sentence"]


def test_nothing_takes_more_than_a_gigabyte(found: dict[str, dict[str, Any]]) -> None:
    assert max(ended["growth"] for ended in found.values()) < GIGABYTE


@pytest.mark.parametrize("case", [c for c in TAKEN if c.like], ids=lambda c: c.name)
def test_taken_pictures_are_the_right_ones(case: Case) -> None:
    picture = read_picture(case.make())
    assert set(case.notes) <= {note.code for note in picture.notes}
    assert np.abs(picture.pixels.astype(float) - LOOKS[case.like]).mean() < CLOSE
