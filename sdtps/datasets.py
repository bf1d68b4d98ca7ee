"""Folders of triplets on disk. For now the RGBNT201 layout, which generated data uses as well."""

from dataclasses import dataclass
from pathlib import Path

from sdtps.types import MODALITIES

FOLDERS = dict(zip(MODALITIES, ("RGB", "NI", "TI"), strict=True))
MASKS = "masks"


@dataclass(frozen=True)
class Record:
    """One triplet on disk.

    Attributes:
        name: file name, the same in the three folders.
        paths: rgb, nir, tir.
        pid: identity.
        cam: camera, from 0.
        mask: person mask, where the data set has one.
    """

    name: str
    paths: tuple[Path, Path, Path]
    pid: int
    cam: int
    mask: Path | None


def read_rgbnt201(root: str | Path, split: str) -> list[Record]:
    """Triplets of `root/[RGBNT201/]split/{RGB,NI,TI}/*.jpg` in name order; ones without partners are left out.

    The identity is the first six characters of the name, the camera the fourth character of its second field, minus 1.
    """
    base = Path(root)
    folder = base / "RGBNT201" / split if (base / "RGBNT201").is_dir() else base / split
    if not (folder / FOLDERS[MODALITIES[0]]).is_dir():
        raise FileNotFoundError(f"There is no RGB folder in {str(folder)!r}; give the folder that holds RGBNT201.")
    records = []
    for path in sorted((folder / "RGB").glob("*.jpg")):
        rgb, nir, tir = (folder / FOLDERS[m] / path.name for m in MODALITIES)
        if nir.is_file() and tir.is_file():
            fields = path.stem.split("_")
            mask = folder / MASKS / f"{path.stem}.png"
            records.append(
                Record(
                    path.name,
                    (rgb, nir, tir),
                    int(fields[0][:6]),
                    int(fields[1][3]) - 1,
                    mask if mask.is_file() else None,
                )
            )
    if not records:
        raise FileNotFoundError(f"There is no complete triplet in {str(folder)!r}.")
    return records
