"""A data set on disk: which layout it has, found by looking, and its splits, listed once."""

import hashlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdtps.datasets import msvr310, plain, rgbnt100, rgbnt201, wmveid863
from sdtps.datasets.records import Layout, Listing, Record
from sdtps.datasets.scan import OUTSIDE
from sdtps.images.read import Fit, Triplet
from sdtps.support.errors import InputError

# The plain folder comes last: it would take the others for its own.
LAYOUTS: tuple[Layout, ...] = (rgbnt201.LAYOUT, rgbnt100.LAYOUT, msvr310.LAYOUT, wmveid863.LAYOUT, plain.LAYOUT)
ID_LENGTH = 16


class Dataset:
    """A folder of triplets. Listing a split takes one look at each of its folders; the result is kept.

    Args:
        root: what the user gave.
        layout: its layout.
        folders: the folder of each split.
        confined: nothing outside `root` may be read, wherever links lead.
    """

    def __init__(self, root: Path, layout: Layout, folders: Mapping[str, Path], confined: bool = False) -> None:
        self.root = root
        self.layout = layout
        self.folders = dict(folders)
        self._real_root = root.resolve()
        self._confined = confined
        self._listings: dict[str, Listing] = {}
        self._fingerprints: dict[str, str] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process lists for itself; a lock cannot be sent there.
        return Dataset, (self.root, self.layout, self.folders, self._confined)

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self._real_root.name

    @property
    def query(self) -> str:
        """The split whose triplets are queries in retrieval."""
        return next((s for s in self.layout.query if s in self.folders), next(iter(self.folders)))

    @property
    def gallery(self) -> str:
        """The split that is searched in retrieval."""
        return next((s for s in self.layout.gallery if s in self.folders), self.query)

    def narrowed(self, split: str) -> "Dataset":
        """The same data set with one split alone, which is then both query and gallery."""
        if split not in self.folders:
            raise self._no_split(split)
        return Dataset(self.root, self.layout, {split: self.folders[split]}, self._confined)

    def listing(self, split: str) -> Listing:
        """The triplets of a split; read once."""
        with self._lock:
            if split not in self._listings:
                if split not in self.folders:
                    raise self._no_split(split)
                self._listings[split] = self.layout.read(self.folders[split], self._allows)
            return self._listings[split]

    def fingerprint(self, split: str) -> str:
        """Hash of the names, sizes and times of the files in the listing; of masks, too. Computed once."""
        records = self.listing(split).records
        with self._lock:
            if split not in self._fingerprints:
                digest = hashlib.sha256()
                for record in records:
                    for file in (*record.files, *filter(None, [record.mask])):
                        digest.update(f"{self._within(split, file)}\0{_state(file)}\n".encode(errors="surrogateescape"))
                self._fingerprints[split] = digest.hexdigest()
            return self._fingerprints[split]

    def identifier(self, label: str, split: str, record: Record) -> str:
        """A name for links that holds no path and stays the same when files are added; `label` names the data set."""
        text = "/".join((self.layout.name, label, split, self._within(split, record.paths[0])))
        return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:ID_LENGTH]

    def read(self, record: Record, fit: Fit | str = Fit.STRETCH) -> Triplet:
        """The pictures of a record; links are checked again, for they may have changed since the listing."""
        self.check(*record.files)
        return record.read(fit)

    def check(self, *files: Path) -> None:
        """Refuse files that lie outside the root."""
        for file in files:
            if not self._allows(file):
                raise InputError("data.outside", OUTSIDE, name=file.name)

    def _within(self, split: str, file: Path) -> str:
        """The path below the split's folder; `Path.relative_to` would take most of a listing's time."""
        return str(file)[len(str(self.folders[split])) + 1 :].replace(os.sep, "/")

    def _no_split(self, split: str) -> FileNotFoundError:
        return FileNotFoundError(f"There is no split {split!r} in {self.name!r}; it has {', '.join(self.folders)}.")

    def _allows(self, path: Path) -> bool:
        return not self._confined or path.resolve().is_relative_to(self._real_root)


def _state(file: Path) -> tuple[int, int] | None:
    """What changes when a file is written; None when it has gone since the listing."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


def open_dataset(root: str | Path, *, confined: bool = False) -> Dataset:
    """Find the layout of a folder by looking into it, or into the folder in it that carries a data set's name.

    Args:
        root: a folder.
        confined: nothing outside it may be read; for folders that a web page shows.
    """
    root = Path(root)
    if not root.is_dir():
        raise FileNotFoundError(f"There is no folder {str(root)!r}; check the path.")
    for layout in LAYOUTS:
        for home in (root, *(root / name for name in layout.homes)):
            if home.is_dir() and (folders := layout.splits(home)):
                dataset = Dataset(root, layout, folders, confined)
                dataset.check(*folders.values())
                return dataset
    known = ", ".join(layout.name for layout in LAYOUTS)
    raise FileNotFoundError(
        f"There is no data set in {str(root)!r}; known layouts are {known} with rgb/ nir/ tir/ or NAME_rgb, NAME_nir, "
        "NAME_tir."
    )


def read_rgbnt201(root: str | Path, split: str) -> list[Record]:
    """Triplets of `root/[RGBNT201/]split/{RGB,NI,TI}/*` in name order; ones without partners are left out."""
    base = Path(root)
    folder = base / "RGBNT201" / split if (base / "RGBNT201").is_dir() else base / split
    if not (folder / rgbnt201.FOLDERS[0]).is_dir():
        raise FileNotFoundError(f"There is no RGB folder in {str(folder)!r}; give the folder that holds RGBNT201.")
    records = rgbnt201.read(folder, lambda _: True).records
    if not records:
        raise FileNotFoundError(f"There is no complete image set in {str(folder)!r}.")
    return list(records)
