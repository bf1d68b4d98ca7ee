"""RGBNT100: `rgbir/{bounding_box_train,query,bounding_box_test}/0001_c1_….jpg`, one wide picture of three."""

import re
from collections.abc import Mapping
from pathlib import Path

from sdtps.datasets.records import Broken, Layout, Listing, Record
from sdtps.datasets.scan import ENDINGS, Allowed, has_folders, nameless, pictures
from sdtps.support.messages import plain

SPLITS = ("bounding_box_train", "query", "bounding_box_test")
LABELS = re.compile(r"(\d+)_c(\d+)")


def splits(folder: Path) -> Mapping[str, Path]:
    """See `Layout.splits`; `folder` is `rgbir` or what holds it."""
    home = folder / "rgbir" if (folder / "rgbir").is_dir() else folder
    return {name: home / name for name in SPLITS if has_folders(home, (name,)) and _holds_wide(home / name)}


def read(folder: Path, allowed: Allowed) -> Listing:
    """See `Layout.read`."""
    broken: list[Broken] = []
    records = []
    for stem, path in sorted(pictures(folder, allowed, broken).items()):
        labels = LABELS.search(stem)
        if labels is None:
            broken.append(Broken(plain(path.name), nameless()))
        else:
            pid, cam = int(labels[1]), int(labels[2]) - 1
            records.append(Record(plain(path.name), (path, path, path), pid, cam, wide=True))
    return Listing(tuple(records), tuple(broken))


def _holds_wide(folder: Path) -> bool:
    """Other data sets use the same split names; theirs hold folders, or one file per modality."""
    stems = pictures(folder, lambda _: True, [])
    return any(LABELS.search(stem) and not ENDINGS.fullmatch(stem) for stem in stems)


LAYOUT = Layout("RGBNT100", ("RGBNT100",), splits, read, query=("query",), gallery=("bounding_box_test",))
