"""What every layout reads into: triplets, the files that are no triplet, and how a layout is described."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sdtps.images.read import Fit, Triplet, read_triplet, read_wide
from sdtps.support.messages import Message

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Record:
    """One triplet on disk.

    Attributes:
        name: file name of the RGB picture, or of the wide one.
        paths: rgb, nir, tir; the same file three times for one wide picture.
        pid: identity, or `UNKNOWN`.
        cam: camera from 0, or `UNKNOWN`.
        mask: person mask, where the data set has one.
        scene: scene, where the data set has scenes.
        wide: the three pictures stand side by side in one file.
    """

    name: str
    paths: tuple[Path, Path, Path]
    pid: int
    cam: int
    mask: Path | None = None
    scene: int | None = None
    wide: bool = False

    def read(self, fit: Fit | str = Fit.STRETCH) -> Triplet:
        """The pictures, decoded and checked."""
        return read_wide(self.paths[0], fit) if self.wide else read_triplet(*self.paths, fit)

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that it is made of."""
        return self.paths[:1] if self.wide else self.paths


@dataclass(frozen=True)
class Broken:
    """A file that is no triplet, and one sentence why."""

    name: str
    why: Message


@dataclass(frozen=True)
class Listing:
    """The triplets of a split in name order, and what had to be left out."""

    records: tuple[Record, ...]
    broken: tuple[Broken, ...] = ()


class Apart(StrEnum):
    """What a true match must not share with its query: pictures of one moment would be too easy."""

    CAMERA = "camera"
    SCENE = "scene"


@dataclass(frozen=True)
class Layout:
    """How a data set lies on disk.

    Attributes:
        name: what people call it.
        homes: names of the folder that usually holds it.
        splits: the splits that a folder holds in this layout, by name; none when it has another layout.
        read: lists one split; its second argument says which files may be read.
        query, gallery: splits to take for each in retrieval, the first that is there.
        apart: see `Apart`.
        first_camera: how names write the camera that is 0 here.
    """

    name: str
    homes: tuple[str, ...]
    splits: Callable[[Path], Mapping[str, Path]]
    read: Callable[[Path, Callable[[Path], bool]], Listing]
    query: tuple[str, ...]
    gallery: tuple[str, ...]
    apart: Apart = Apart.CAMERA
    first_camera: int = 1
