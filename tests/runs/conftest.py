"""What tests of recorded runs share."""

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def image_sets(tmp_path):
    """Two folders with an image set each."""
    rng = np.random.default_rng(0)
    folders = []
    for name in ("a", "b"):
        folder = tmp_path / "sets" / name
        folder.mkdir(parents=True)
        for m in ("rgb", "nir", "tir"):
            Image.fromarray(rng.integers(0, 255, (64, 32, 3), np.uint8)).save(folder / f"{m}.png")
        folders.append(folder)
    return folders
