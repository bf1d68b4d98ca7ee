"""WMVeID863 (MSVWild863 in the reference code): `{train,query,test}/{vis,ni,th}/000001_cam1_….jpg`."""

from collections.abc import Mapping
from pathlib import Path

from sdtps.datasets.records import Layout, Listing
from sdtps.datasets.scan import Allowed, has_folders, id_and_camera, named_splits, read_three_folders

FOLDERS = ("vis", "ni", "th")
SPLITS = ("train", "query", "test")


def splits(folder: Path) -> Mapping[str, Path]:
    """See `Layout.splits`."""
    return named_splits(folder, SPLITS, lambda split: has_folders(split, FOLDERS))


def read(folder: Path, allowed: Allowed) -> Listing:
    """See `Layout.read`."""
    return read_three_folders(folder, allowed, FOLDERS, id_and_camera)


LAYOUT = Layout("WMVeID863", ("WMVeID863", "MSVWild863"), splits, read, query=("query",), gallery=("test",))
