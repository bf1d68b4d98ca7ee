"""Generated people in the RGBNT201 folder layout, so that they go through the same reader as real ones."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from .generate import Job, Progress, list_jobs, run_jobs, sampler
from .types import ByteArray, SynthSample

FOLDERS = {"rgb": "RGB", "nir": "NI", "tir": "TI"}
MASK_FOLDER = "masks"
SPLITS = ("train_171", "test")
MASK_PERSON, MASK_OTHERS = 255, 64
_QUALITY = 95


def file_stem(item: SynthSample, view: int) -> str:
    """``<pid6>_cam<1..4>_<scene>_<view2>``; scene is 0 at night and 1 by day."""
    return f"{item.pid:06d}_cam{item.cam}_{int('day' in item.tags)}_{view:02d}"


def mask_image(item: SynthSample) -> ByteArray:
    """(256, 128) uint8: 255 main person, 64 other people, 0 background."""
    return np.where(item.person, MASK_PERSON, np.where(item.others, MASK_OTHERS, 0)).astype(np.uint8)


def _write_job(job: Job, root: Path, seed: int, style: str) -> Path:
    item = sampler(style)(*job, seed)
    stem = file_stem(item, job[1])
    for name, folder in FOLDERS.items():
        Image.fromarray(getattr(item, name)).save(root / folder / f"{stem}.jpg", quality=_QUALITY)
    Image.fromarray(mask_image(item)).save(root / MASK_FOLDER / f"{stem}.png")
    return root / FOLDERS["rgb"] / f"{stem}.jpg"


def write_rgbnt201(  # noqa: PLR0913 - the public parameters
    out: str | Path,
    ids: int | Sequence[int],
    views: int,
    seed: int = 0,
    split: str = "train_171",
    start_pid: int = 0,
    workers: int = 1,
    progress: Progress | None = None,
    style: str = "drawn",
) -> list[Path]:
    """Write ``out/RGBNT201/<split>/{RGB,NI,TI}/*.jpg`` and ``masks/*.png``; return the RGB paths in order.

    Args:
        out: folder that holds, or will hold, ``RGBNT201``.
        ids: how many identities, counted from ``start_pid``, or the identity labels themselves.
        views: views per identity; the camera of view v is ``v % 4 + 1``.
        seed: the world; use the same seed with other identities for a test split.
        split: ``train_171`` or ``test``.
        start_pid: first identity label when ``ids`` is a count.
        workers: processes.
        progress: called with (done, total) after each triplet.
        style: `drawn` or `rendered`.
    """
    if split not in SPLITS:
        raise ValueError(f"Unknown split {split!r}; use one of {SPLITS}.")
    root = Path(out) / "RGBNT201" / split
    for folder in (*FOLDERS.values(), MASK_FOLDER):
        (root / folder).mkdir(parents=True, exist_ok=True)
    return list(
        run_jobs(
            partial(_write_job, root=root, seed=seed, style=style), list_jobs(ids, views, start_pid), workers, progress
        )
    )
