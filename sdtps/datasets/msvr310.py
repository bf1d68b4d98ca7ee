"""MSVR310: `{bounding_box_train,query3,bounding_box_test}/0001/{vis,ni,th}/0001_s001_v1_000.jpg`.

A true match must come from another scene, whichever camera took it.
"""

from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from sdtps.datasets.records import Apart, Broken, Layout, Listing
from sdtps.datasets.scan import MASKS, Allowed, Labels, has_folders, join_partners, named_splits, pictures, subfolders
from sdtps.types import MODALITIES

FOLDERS = ("vis", "ni", "th")
SPLITS = ("bounding_box_train", "query3", "bounding_box_test")
LOOK_AT = 5  # of the identity folders; one stray folder must not hide the layout


def splits(folder: Path) -> Mapping[str, Path]:
    """See `Layout.splits`."""
    return named_splits(folder, SPLITS, _has_identities)


def read(folder: Path, allowed: Allowed) -> Listing:
    """See `Layout.read`."""
    broken: list[Broken] = []
    found: dict[str, dict[str, Path]] = {str(m): {} for m in MODALITIES}
    masks: dict[str, Path] = {}
    for identity in subfolders(folder):
        for m, name in zip(MODALITIES, FOLDERS, strict=True):
            found[m] |= pictures(identity / name, allowed, broken)
        masks |= pictures(identity / MASKS, allowed, broken)
    return join_partners(found, read_name, masks, broken)


def read_name(stem: str) -> Labels:
    """Identity in characters 0 to 3, scene in 6 to 8, camera in 11, counted from 0 as it is written."""
    return int(stem[:4]), int(stem[11]), int(stem[6:9])


def _has_identities(split: Path) -> bool:
    return split.is_dir() and any(has_folders(i, FOLDERS) for i in islice(subfolders(split), LOOK_AT))


LAYOUT = Layout(
    "MSVR310",
    ("MSVR310",),
    splits,
    read,
    query=("query3",),
    gallery=("bounding_box_test",),
    apart=Apart.SCENE,
    first_camera=0,
)
