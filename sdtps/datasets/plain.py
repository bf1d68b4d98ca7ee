"""A plain folder: `rgb/ nir/ tir/` with partners of equal name, or files NAME_rgb, NAME_nir, NAME_tir side by side.

Folders that hold such a folder each are its splits. Where names are written as RGBNT201 or RGBNT100 write them, they
tell identity and camera; else both are unknown.
"""

from collections.abc import Mapping
from pathlib import Path

from sdtps.datasets import rgbnt100
from sdtps.datasets.records import UNKNOWN, Broken, Layout, Listing
from sdtps.datasets.scan import (
    ENDINGS,
    Allowed,
    Labels,
    has_folders,
    id_and_camera,
    join_partners,
    pictures,
    read_three_folders,
    subfolders,
)
from sdtps.types import MODALITIES

FOLDERS = (("rgb", "nir", "tir"), ("RGB", "NIR", "TIR"), ("RGB", "NI", "TI"), ("vis", "ni", "th"))
WHOLE = "all"


def splits(folder: Path) -> Mapping[str, Path]:
    """See `Layout.splits`."""
    if _has_shape(folder):
        return {WHOLE: folder}
    return {f.name: f for f in subfolders(folder) if _has_shape(f)}


def read(folder: Path, allowed: Allowed) -> Listing:
    """See `Layout.read`."""
    for names in FOLDERS:
        if has_folders(folder, names):
            return read_three_folders(folder, allowed, names, read_name)
    broken: list[Broken] = []
    found: dict[str, dict[str, Path]] = {str(m): {} for m in (*MODALITIES, "mask")}
    for stem, path in pictures(folder, allowed, broken).items():
        if ending := ENDINGS.fullmatch(stem):
            kind = next(k for k, text in zip(found, ending.groups()[1:], strict=True) if text)
            found[kind][ending[1]] = path
    return join_partners(found, read_name, found.pop("mask"), broken)


def read_name(stem: str) -> Labels:
    """Identity and camera where the name tells them."""
    try:
        return id_and_camera(stem)
    except (ValueError, IndexError):
        labels = rgbnt100.LABELS.match(stem)
        return (int(labels[1]), int(labels[2]) - 1, None) if labels else (UNKNOWN, UNKNOWN, None)


def _has_shape(folder: Path) -> bool:
    if any(has_folders(folder, names) for names in FOLDERS):
        return True
    endings = [ENDINGS.fullmatch(stem) for stem in pictures(folder, lambda _: True, [])]
    kinds = {i for e in endings if e for i, text in enumerate(e.groups()[1:4]) if text}
    return len(kinds) == len(MODALITIES)


LAYOUT = Layout(
    "plain folder",
    (),
    splits,
    read,
    query=("query", "test", "val"),
    gallery=("gallery", "test", "val"),
)
