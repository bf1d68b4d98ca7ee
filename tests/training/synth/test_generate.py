"""Many samples: order, parallel runs and the folder layout."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sdtps.training.synth import generate, sample, write_rgbnt201


def test_parallel_equals_alone() -> None:
    alone = [sample(pid, view, seed=7) for pid in (5, 6) for view in range(3)]
    seen: list[tuple[int, int]] = []
    pool = list(generate(2, 3, seed=7, workers=2, start_pid=5, progress=lambda done, total: seen.append((done, total))))
    assert [(item.pid, item.cam) for item in pool] == [(item.pid, item.cam) for item in alone]
    for one, other in zip(alone, pool, strict=True):
        for name in ("rgb", "nir", "tir", "person", "others"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert one.tags == other.tags
    assert seen == [(done, 6) for done in range(1, 7)]


def test_explicit_identities_and_forced_tags() -> None:
    items = list(generate([8, 3], 1, force={"night"}))
    assert [item.pid for item in items] == [8, 3]
    assert all("night" in item.tags for item in items)


def test_writes_the_rgbnt201_layout(tmp_path: Path) -> None:
    paths = write_rgbnt201(tmp_path, 2, 5, seed=1, split="test", start_pid=40)
    root = tmp_path / "RGBNT201" / "test"
    assert len(paths) == 10
    names = {folder: sorted(path.stem for path in (root / folder).iterdir()) for folder in ("RGB", "NI", "TI", "masks")}
    assert names["RGB"] == names["NI"] == names["TI"] == names["masks"]
    for index, path in enumerate(paths):
        fields = path.stem.split("_")
        assert int(fields[0][:6]) == 40 + index // 5
        assert len(fields[0]) == 6
        assert fields[1] == f"cam{index % 5 % 4 + 1}"
        assert int(fields[2]) in (0, 1)
        assert int(fields[3]) == index % 5
        assert Image.open(path).size == (128, 256)
        mask = np.asarray(Image.open(root / "masks" / f"{path.stem}.png"))
        assert set(np.unique(mask)) <= {0, 64, 255}
        np.testing.assert_array_equal(mask == 255, sample(40 + index // 5, index % 5, seed=1).person)


def test_unknown_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Unknown split"):
        write_rgbnt201(tmp_path, 1, 1, split="val")
