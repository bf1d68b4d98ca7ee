"""Every hostile file ends as its case says: the right picture, or one plain sentence; within a gigabyte."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sdtps.inputs import read_picture
from tests.hostile.cases import GOOD, Case
from tests.hostile.ends import ALL, complaint, read
from tests.hostile.memory import GIGABYTE
from tests.hostile.pictures import LOOKS, TAKEN

ROOT = Path(__file__).resolve().parents[2]
CLOSE = 2.5  # mean difference of two pictures, of 255: what a JPEG may lose


def test_the_corpus_is_large_and_its_names_are_unique() -> None:
    assert len(ALL) >= 150
    assert len({(kind, case.name) for kind, case in ALL}) == len(ALL)


@pytest.mark.parametrize(("kind", "case"), ALL, ids=[f"{kind} {case.name[:40]}" for kind, case in ALL])
def test_each_file_ends_as_it_must(kind: str, case: Case, tmp_path: Path) -> None:
    end, sentence = read(kind, case.name, case.make(), tmp_path)
    assert end in case.ends, sentence
    assert end == GOOD or complaint(sentence) is None, sentence
    assert end == GOOD or str(tmp_path) not in sentence


@pytest.mark.parametrize("case", [c for c in TAKEN if c.like or c.notes], ids=lambda c: c.name)
def test_taken_pictures_are_the_right_ones(case: Case) -> None:
    picture = read_picture(case.make())
    assert set(case.notes) <= {note.code for note in picture.notes}
    if case.like:
        assert np.abs(picture.pixels.astype(float) - LOOKS[case.like]).mean() < CLOSE


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_nothing_takes_more_than_a_gigabyte() -> None:
    command = [sys.executable, "-m", "tests.hostile.memory"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    wrong = [name for (name, end, _), (_, case) in zip(found, ALL, strict=True) if end not in case.ends]
    assert wrong == []
    assert max(growth for _, _, growth in found) < GIGABYTE
