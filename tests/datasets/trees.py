"""Small data sets on disk in every layout, of plain colours: for tests that need names and folders, not people."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image

SIZE = (64, 32)


def picture(seed: int, size: tuple[int, int] = SIZE) -> Image.Image:
    """A smooth picture that differs for every seed."""
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 256, (4, 2, 3), dtype=np.uint8)
    return Image.fromarray(small).resize(size[::-1], Image.Resampling.BILINEAR)


def write(path: Path, seed: int, size: tuple[int, int] = SIZE) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture(seed, size).save(path)


def write_folders(folder: Path, names: Iterable[str], folders: tuple[str, str, str], seed: int = 0) -> None:
    """The same names in three folders."""
    for i, name in enumerate(names, seed):
        for m, sub in enumerate(folders):
            write(folder / sub / name, 3 * i + m)


def rgbnt201(root: Path, ids: int = 3, cameras: int = 2) -> Path:
    for split, start in (("train_171", 1), ("test", 201)):
        names = [f"{start + i:06d}_cam{c + 1}_0_{c:02d}.jpg" for i in range(ids) for c in range(cameras)]
        write_folders(root / "RGBNT201" / split, names, ("RGB", "NI", "TI"))
    return root


def rgbnt100(root: Path, ids: int = 3, cameras: int = 2) -> Path:
    for split in ("bounding_box_train", "query", "bounding_box_test"):
        for i in range(ids):
            for c in range(cameras):
                wide = root / "RGBNT100" / "rgbir" / split / f"{i + 1:04d}_c{c + 1}_0{i}.jpg"
                write(wide, 100 * i + c, (32, 3 * 64))
    return root


def msvr310(root: Path, ids: int = 3, scenes: int = 2) -> Path:
    for split in ("bounding_box_train", "query3", "bounding_box_test"):
        for i in range(ids):
            pid = f"{i + 1:04d}"
            names = [f"{pid}_s{s + 1:03d}_v{(i + s) % 8}_000.jpg" for s in range(scenes)]
            write_folders(root / "MSVR310" / split / pid, names, ("vis", "ni", "th"), seed=10 * i)
    return root


def wmveid863(root: Path, ids: int = 2, cameras: int = 2) -> Path:
    for split in ("train", "query", "test"):
        names = [f"{i + 1:06d}_cam{c + 1}_x.jpg" for i in range(ids) for c in range(cameras)]
        write_folders(root / "WMVeID863" / split, names, ("vis", "ni", "th"))
    return root
