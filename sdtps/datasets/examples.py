"""The shipped image sets: `assets/examples/<name>/{rgb,nir,tir}.png`, listed in `examples.json`."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sdtps.images.encode import strip_url
from sdtps.images.read import Triplet, read_triplet
from sdtps.resources import EXAMPLES
from sdtps.types import MODALITIES

INDEX = "examples.json"
THUMB_SIZE = (72, 36)  # height and width of one modality


@dataclass(frozen=True)
class Example:
    """One shipped image set.

    Attributes:
        name: its folder, and its name in links.
        title: what the page calls it, by language.
        folder: where its images are.
        generated: it shows nobody: it is one of those that this project rendered.
    """

    name: str
    title: dict[str, str]
    folder: Path
    generated: bool = False

    @cached_property
    def triplet(self) -> Triplet:
        """The three images; a file that is not there is a missing modality."""
        rgb, nir, tir = (f if f.is_file() else None for f in (self.folder / f"{m}.png" for m in MODALITIES))
        return read_triplet(rgb, nir, tir)

    @property
    def mask(self) -> Path | None:
        """The person mask, where the example has one."""
        file = self.folder / "mask.png"
        return file if file.is_file() else None

    @cached_property
    def thumbnail(self) -> str:
        """The three images side by side, small, as a data URL."""
        return strip_url(self.triplet.fitted(THUMB_SIZE).values(), THUMB_SIZE)


def find_examples(folder: Path = EXAMPLES) -> dict[str, Example]:
    """The examples of a folder by name, in the order of its index; none when there is no index."""
    try:
        listed = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    found = (Example(e["name"], e["title"], folder / e["name"], folder == EXAMPLES) for e in listed)
    return {e.name: e for e in found if e.folder.is_dir()}
