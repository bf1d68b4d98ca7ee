"""One analysis as a zip: figure, inputs as analysed, every array, settings, weights, versions; and back to the bit."""

import io
import json
import os
import platform
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sdtps.export import figure, serialise
from sdtps.export.figure.style import FigureOptions
from sdtps.images.encode import Pixels
from sdtps.images.read import MAX_BYTES as PICTURE_BYTES
from sdtps.images.read import Picture, Prepared, read_picture
from sdtps.support.errors import InputError
from sdtps.support.messages import plain
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Analysis

SCHEMA = 2  # 2 holds the camera
KIND = "sdtps-lens-bundle"
MANIFEST, MAPS, README = "manifest.json", "maps.npz", "README.txt"
FIGURES = ("figure.pdf", "figure.png")
MAX_BYTES = 64 * 2**20  # of the zip, and of what comes out of it
MAX_MEMBERS = 64
MANIFEST_BYTES = 4 * 2**20  # as lists and names it takes twenty times that
LARGEST, LONGEST_INTEGER = 2**53, 20
CENTRAL_HEADER = b"PK\x01\x02"  # one for each member
PACKAGES = ("torch", "timm", "numpy", "pillow", "matplotlib")
STAMP = (2000, 1, 1, 0, 0, 0)  # the same analysis is the same file


@dataclass(frozen=True)
class Bundle:
    """What a bundle holds.

    Attributes:
        analysis: every number, as it was computed.
        pixels: (H, W, 3) per modality as analysed; None for a missing one.
        manifest: the facts as written.
    """

    analysis: Analysis
    pixels: Mapping[str, Pixels | None]
    manifest: Mapping[str, Any]

    @property
    def prepared(self) -> Prepared:
        """The inputs, ready for the backbone again."""
        return Prepared(self.pixels)


def versions() -> dict[str, str]:
    """What computed the numbers."""
    from sdtps import __version__

    return {"sdtps": __version__, "python": platform.python_version()} | {p: metadata.version(p) for p in PACKAGES}


def write_bundle(
    analysis: Analysis,
    pixels: Mapping[str, Pixels | None],
    options: FigureOptions | None = None,
    sources: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> bytes:
    """The bundle as bytes.

    Args:
        analysis: the numbers.
        pixels: (H, W, 3) per modality as the model saw them; None for a missing one.
        options: how the figure looks.
        sources: names of the author's files, where they may be told.
        progress: called with (done, total) after each drawing.
    """
    report = progress or (lambda _done, _total: None)
    report(0, 1 + len(FIGURES))
    inputs = {m: f"inputs/{m}.png" for m in analysis.traces if pixels[m] is not None}
    manifest = {
        "kind": KIND,
        "schema": SCHEMA,
        "versions": versions(),
        **serialise.facts_of(analysis),
        "inputs": inputs,
        "sources": dict(sources or {}),
        "files": {"arrays": MAPS, "figures": list(FIGURES)},
    }
    sheet = figure.grid_figure(analysis, pixels, options)
    drawings = {}
    for done, name in enumerate(FIGURES, 1):
        report(done, 1 + len(FIGURES))
        drawings[name] = sheet.render(name.rpartition(".")[2])
    parts = {
        MANIFEST: json.dumps(manifest, indent=2, ensure_ascii=False).encode(),
        README: _readme().encode(),
        MAPS: serialise.pack_npz(serialise.arrays_of(analysis)),
        **{name: _png(pixels[m]) for m, name in inputs.items()},
        **drawings,
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name, STAMP)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return stream.getvalue()


def is_bundle(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a bundle, by its name."""
    return Path(path).suffix.lower() == ".zip"


def read_bundle(source: str | os.PathLike[str] | bytes, decode: Callable[[bytes], Picture] = read_picture) -> Bundle:
    """A bundle from a file or bytes. Nothing is unpacked to disk, and nothing is trusted.

    Args:
        source: the zip.
        decode: reads its pictures; a server has a process of its own for that.
    """
    content = source if isinstance(source, bytes) else _file(Path(source))
    if len(content) > MAX_BYTES:
        raise _too_big()
    # The reader would list a million members before their number could be asked for.
    if content.count(CENTRAL_HEADER) > MAX_MEMBERS + serialise.MAX_ARRAYS:
        raise _too_big()
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise _not_a_bundle() from None
    try:
        with archive:
            manifest = _manifest(archive)
            arrays = serialise.unpack_npz(_read(archive, MAPS))
            analysis = serialise.analysis_from(arrays, manifest)
            pixels = {str(m): _pixels(archive, manifest["inputs"].get(m), decode) for m in MODALITIES}
    except Exception as error:  # zip, JSON, array and picture readers raise whatever they meet first
        if isinstance(error, InputError) and error.message.code.startswith("bundle."):
            raise
        raise serialise.refuse_damaged("The bundle") from None
    if len({p.shape for p in pixels.values() if p is not None}) != 1:
        raise serialise.refuse_damaged("The bundle")
    return Bundle(replace(analysis, pictures=pixels), pixels, manifest)


def _file(path: Path) -> bytes:
    if not os.path.isfile(path):  # false for names that no file can have, where pathlib would raise
        raise InputError("input.not_found", "There is no file {name!r}; check the path.", name=path.name)
    if path.stat().st_size > MAX_BYTES:
        raise _too_big()
    return path.read_bytes()


def _read(archive: zipfile.ZipFile, name: str, limit: int = MAX_BYTES) -> bytes:
    """A member by its documented name, and no more of it than the limit, whatever its header promised."""
    with archive.open(name) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise _too_big()
    return content


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The facts, of a bundle that this version knows and that is not too large to unfold."""
    members = archive.infolist()
    if len(members) > MAX_MEMBERS or sum(m.file_size for m in members) > MAX_BYTES:
        raise _too_big()
    if MANIFEST not in archive.namelist():
        raise _not_a_bundle()
    manifest: Any = json.loads(_read(archive, MANIFEST, MANIFEST_BYTES), parse_int=_browser_integer)
    json.dumps(manifest, ensure_ascii=False).encode()  # refuses half characters, which no answer could hold
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND or not isinstance(manifest.get("schema"), int):
        raise _not_a_bundle()
    if manifest["schema"] > SCHEMA:
        raise InputError(
            "bundle.newer",
            "The bundle was made by a newer version (schema {theirs}, this one reads up to {ours}); update to open it.",
            theirs=manifest["schema"],
            ours=SCHEMA,
        )
    sources = manifest.get("sources", {})
    if not isinstance(sources, dict) or not all(isinstance(name, str) for name in sources.values()):
        raise serialise.refuse_damaged("The bundle")
    return manifest | {"sources": {m: plain(name) for m, name in sources.items()}}


def _browser_integer(text: str) -> int:
    """A whole number that a browser can hold."""
    number = int(text) if len(text) < LONGEST_INTEGER else LARGEST
    if abs(number) >= LARGEST:
        raise ValueError("too large")
    return number


def _pixels(archive: zipfile.ZipFile, name: str | None, decode: Callable[[bytes], Picture]) -> Pixels | None:
    return None if name is None else decode(_read(archive, name, PICTURE_BYTES)).pixels


def _png(pixels: Pixels | None) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.asarray(pixels)).save(stream, "PNG")
    return stream.getvalue()


def _readme() -> str:
    return (
        f"An analysis by SDTPS Lens. Open it again on the page (Export, Open a bundle) or with\n"
        f"    python -m sdtps inspect THIS.zip\n\n"
        f"{MANIFEST}  settings, weights, versions, notes; schema {SCHEMA}\n"
        f"inputs/  the pictures as the model saw them\n"
        f"figure.pdf, figure.png  the figure\n"
        f"{MAPS}  every array (numpy.load):\n\n" + (serialise.__doc__ or "").partition("\n\n")[2].strip("\n") + "\n"
    )


def _too_big() -> InputError:
    limit = MAX_BYTES // 2**20
    return InputError("bundle.too_big", "The bundle is larger than {limit} MB and is not opened.", limit=limit)


def _not_a_bundle() -> InputError:
    return InputError("bundle.not_one", "The file is not a bundle of this program; choose a zip that it exported.")
