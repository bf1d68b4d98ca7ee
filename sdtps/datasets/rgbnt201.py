"""RGBNT201: `{train_171,test}/{RGB,NI,TI}/000258_cam1_0_00.jpg`. The test split is both query and gallery."""

from collections.abc import Mapping
from pathlib import Path

from sdtps.datasets.records import Layout, Listing
from sdtps.datasets.scan import Allowed, has_folders, id_and_camera, named_splits, read_three_folders

FOLDERS = ("RGB", "NI", "TI")
SPLITS = ("train_171", "test")


def splits(folder: Path) -> Mapping[str, Path]:
    """See `Layout.splits`."""
    return named_splits(folder, SPLITS, lambda split: has_folders(split, FOLDERS))


def read(folder: Path, allowed: Allowed) -> Listing:
    """See `Layout.read`."""
    return read_three_folders(folder, allowed, FOLDERS, id_and_camera)


LAYOUT = Layout("RGBNT201", ("RGBNT201",), splits, read, query=("test",), gallery=("test",))
