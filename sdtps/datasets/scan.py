"""Looking into folders: picture files by name, partners of one triplet, and what is missing."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sdtps.datasets.records import Broken, Listing, Record
from sdtps.support.messages import Message, plain
from sdtps.types import MODALITIES

SUFFIXES = frozenset((".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp"))
MASKS = "masks"
OUTSIDE = "{name} leads outside the data folder."
# NAME_rgb, NAME_nir, NAME_tir, NAME_mask: one group each behind the name.
ENDINGS = re.compile(r"(.+)[_-](?:(rgb|vis)|(nir|ni)|(tir|ti|th)|(mask))", re.IGNORECASE)

Allowed = Callable[[Path], bool]
Labels = tuple[int, int, int | None]  # identity, camera, scene
Reader = Callable[[str], Labels]  # raises ValueError or IndexError for a name that does not tell


def has_folders(folder: Path, names: tuple[str, ...]) -> bool:
    """Whether a folder holds these folders, spelt exactly so (some file systems ignore case)."""
    try:
        return set(names) <= {e.name for e in os.scandir(folder) if e.is_dir()}
    except OSError:
        return False


def pictures(folder: Path, allowed: Allowed, broken: list[Broken]) -> dict[str, Path]:
    """The picture files of a folder by stem; links that lead to where nothing may be read go to `broken`."""
    found: dict[str, Path] = {}
    if not folder.is_dir() or not allowed(folder):
        return found
    try:
        entries = list(os.scandir(folder))
    except OSError:
        broken.append(Broken(plain(folder.name), Message("data.unreadable", "The folder cannot be read.")))
        return found
    for entry in entries:
        stem, suffix = os.path.splitext(entry.name)
        if suffix.lower() not in SUFFIXES:
            continue
        path = folder / entry.name
        # Only a link can lead elsewhere: asking for the real path of every file would take seconds.
        if entry.is_symlink() and not allowed(path):
            broken.append(Broken(plain(entry.name), outside(entry.name)))
        elif entry.is_file():
            found[stem] = path
    return found


def subfolders(folder: Path) -> Iterator[Path]:
    """The folders in a folder, in name order."""
    with os.scandir(folder) as entries:
        yield from sorted(Path(e.path) for e in entries if e.is_dir())


def join_partners(
    found: Mapping[str, Mapping[str, Path]], read_name: Reader, masks: Mapping[str, Path], broken: list[Broken]
) -> Listing:
    """Triplets from the pictures of each modality by stem.

    Args:
        found: per modality, stem → file.
        read_name: identity, camera and scene of a stem.
        masks: stem → person mask.
        broken: what was left out so far; what is left out here is added.
    """
    records = []
    for stem in sorted(set().union(*found.values())):
        partners = [found[m].get(stem) for m in MODALITIES]
        name = plain(next(p.name for p in partners if p is not None))
        rgb, nir, tir = partners
        if rgb is None or nir is None or tir is None:
            lacking = ", ".join(m.upper() for m, p in zip(MODALITIES, partners, strict=True) if p is None)
            broken.append(Broken(name, Message("data.partner", "There is no {lacking} partner.", lacking=lacking)))
            continue
        try:
            pid, cam, scene = read_name(stem)
        except (ValueError, IndexError):
            broken.append(Broken(name, nameless()))
            continue
        records.append(Record(name, (rgb, nir, tir), pid, cam, masks.get(stem), scene))
    return Listing(tuple(records), tuple(sorted(broken, key=lambda b: b.name)))


def read_three_folders(folder: Path, allowed: Allowed, names: tuple[str, str, str], read_name: Reader) -> Listing:
    """One folder per modality, partners of equal name; masks in a folder of their own."""
    broken: list[Broken] = []
    found = {str(m): pictures(folder / n, allowed, broken) for m, n in zip(MODALITIES, names, strict=True)}
    return join_partners(found, read_name, pictures(folder / MASKS, allowed, broken), broken)


def id_and_camera(stem: str) -> Labels:
    """`000258_cam1_…`: the first six characters of the first field, the fourth of the second, minus 1."""
    fields = stem.split("_")
    return int(fields[0][:6]), int(fields[1][3]) - 1, None


def named_splits(folder: Path, names: tuple[str, ...], has_shape: Callable[[Path], bool]) -> dict[str, Path]:
    """Those of the named folders that have the layout's shape."""
    return {name: folder / name for name in names if has_shape(folder / name)}


def outside(name: str) -> Message:
    """A link that leaves the data folder."""
    return Message("data.outside", OUTSIDE, name=name)


def nameless() -> Message:
    """A name that the layout cannot read."""
    return Message("data.name", "The name does not tell identity and camera.")
