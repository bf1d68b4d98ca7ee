"""Files, PIL images or arrays → a validated triplet, and the triplet → the model's tensor.

Every refusal is an `InputError` with one sentence: what was wrong, what to do. What is accepted but changed on the
way (rotated, scaled, filled) is said in the picture's notes.
"""

import hashlib
import io
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from sdtps.images import decode as px
from sdtps.images import tiff
from sdtps.support.errors import InputError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

if TYPE_CHECKING:
    from torch import Tensor

MAX_BYTES = 20 * 1024 * 1024
MAX_PIXELS = 40_000_000
FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP")
SIGNATURE = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\0|MM\0\*|RIFF....WEBP", re.DOTALL)
PHONE_FORMAT = "MPO"  # a JPEG with further pictures behind the photograph
WIDE_SIZE = (128, 768)  # of RGBNT100, whose program cuts at 256 and 512 whatever the size
WIDE_MIN_ASPECT = 1.0
ASPECT_TOLERANCE = 1.25

Source: TypeAlias = str | os.PathLike[str] | bytes | Image.Image | NDArray[Any]


class Fit(StrEnum):
    """How an image of another shape gets the model's shape."""

    STRETCH = "stretch"  # as the data sets' own loaders do
    LETTERBOX = "letterbox"  # keeps proportions, pads with mid-grey


def fit_image(
    image: Image.Image,
    size: tuple[int, int],
    fit: Fit,
    resampling: Image.Resampling,
    fill: int | tuple[int, int, int],
) -> Image.Image:
    """The image at (height, width): stretched, or letterboxed on a canvas of one colour."""
    height, width = size
    if fit is Fit.STRETCH:
        return image.resize((width, height), resampling)
    scale = min(width / image.width, height / image.height)
    inner = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    canvas = Image.new(image.mode, (width, height), fill)
    canvas.paste(image.resize(inner, resampling), ((width - inner[0]) // 2, (height - inner[1]) // 2))
    return canvas


@dataclass(frozen=True)
class Picture:
    """One validated image: upright (H, W, 3) 8-bit pixels and what was done to get them."""

    pixels: px.Pixels
    notes: tuple[Message, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[0], self.pixels.shape[1]

    def fitted(self, size: tuple[int, int], fit: Fit = Fit.STRETCH) -> px.Pixels:
        """The pixels at the model's (height, width), by bilinear resampling."""
        image = Image.fromarray(self.pixels)
        return np.asarray(fit_image(image, size, fit, Image.Resampling.BILINEAR, px.FILL))


@dataclass(frozen=True)
class Triplet:
    """Three pictures of one moment; None where a modality is missing.

    Attributes:
        pictures: one entry per modality.
        fit: how pictures of another shape get the model's shape.
    """

    pictures: Mapping[str, Picture | None]
    fit: Fit = Fit.STRETCH

    def __post_init__(self) -> None:
        object.__setattr__(self, "pictures", MappingProxyType({str(m): self.pictures.get(m) for m in MODALITIES}))
        if not any(self.pictures.values()):
            raise InputError("input.none", "All three images are missing; give at least one.")

    @property
    def missing(self) -> frozenset[str]:
        """The modalities that were not given."""
        return frozenset(m for m, picture in self.pictures.items() if picture is None)

    def without(self, *modalities: str) -> "Triplet":
        """The same triplet with some modalities left out."""
        return Triplet({m: None if m in modalities else p for m, p in self.pictures.items()}, self.fit)

    def fitted(self, size: tuple[int, int]) -> dict[str, px.Pixels | None]:
        """Each modality's (H, W, 3) pixels at the model's size."""
        return {m: None if p is None else p.fitted(size, self.fit) for m, p in self.pictures.items()}

    def notes(self, size: tuple[int, int]) -> tuple[Message, ...]:
        """What a reader should know: each picture's notes, unequal sizes, another shape, missing modalities."""
        given = {m: p for m, p in self.pictures.items() if p is not None}
        notes = [
            Message("input.of", "{modality}: {note}", modality=m.upper(), note=n)
            for m, p in given.items()
            for n in p.notes
        ]
        if len({p.size for p in given.values()}) > 1:
            sizes = ", ".join(f"{m.upper()} {p.size[1]}x{p.size[0]}" for m, p in given.items())
            notes.append(Message("input.sizes", "The images differ in size ({sizes}); each was resized.", sizes=sizes))
        aspect = size[0] / size[1]
        for m, p in given.items():
            ratio = (p.size[0] / p.size[1]) / aspect
            if not 1 / ASPECT_TOLERANCE <= ratio <= ASPECT_TOLERANCE:
                how = "padded with grey" if self.fit is Fit.LETTERBOX else "stretched"
                notes.append(
                    Message(
                        f"input.aspect.{self.fit}",
                        "{modality}: {width}x{height} has another shape than the model's {w}x{h}; it was {how}.",
                        modality=m.upper(),
                        width=p.size[1],
                        height=p.size[0],
                        w=size[1],
                        h=size[0],
                        how=how,
                    )
                )
        if self.missing:
            names = ", ".join(m.upper() for m in self.pictures if m in self.missing)
            text = "Missing: {names}; no picture: the model gets zeros, that row shows only its prior."
            notes.append(Message("input.missing", text, names=names))
        return tuple(notes)


@dataclass(frozen=True)
class Prepared:
    """A triplet at one model's size: (H, W, 3) pixels per modality, and their hash."""

    pixels: Mapping[str, px.Pixels | None]

    @cached_property
    def sha256(self) -> str:
        """Hash of what the model will see, the same for the same content from any source."""
        digest = hashlib.sha256()
        for m in MODALITIES:
            content = self.pixels[m]
            digest.update(b"-" if content is None else content.tobytes())
        return digest.hexdigest()

    def tensor(self, mean: tuple[float, ...], std: tuple[float, ...]) -> "Tensor":
        """(3, 3, H, W) normalised, modality first. A missing modality is zeros after normalisation."""
        import torch  # here, because reading pictures and data folders does without

        given = next(p for p in self.pixels.values() if p is not None)
        stack = np.zeros((len(MODALITIES), 3, *given.shape[:2]), np.float32)
        mean_, std_ = (np.asarray(v, np.float32)[:, None, None] for v in (mean, std))
        for i, m in enumerate(MODALITIES):
            content = self.pixels[m]
            if content is not None:
                stack[i] = (content.transpose(2, 0, 1) / np.float32(255) - mean_) / std_
        return torch.from_numpy(stack)


def read_picture(source: Source) -> Picture:
    """One image from a path, bytes, PIL image or array."""
    if isinstance(source, np.ndarray):
        pixels, notes = px.from_array(source)
    elif isinstance(source, Image.Image):
        pixels, notes = _decode(source)
    else:
        with _open(source) as image:
            pixels, notes = _decode(image)
    return Picture(pixels, tuple(notes))


def read_triplet(rgb: Source | None, nir: Source | None, tir: Source | None, fit: Fit | str = Fit.STRETCH) -> Triplet:
    """Three images, None for a missing one; refusals name the modality."""
    return as_triplet((rgb, nir, tir), read_picture, fit)


def as_triplet(
    sources: tuple[Any, Any, Any],
    read: Callable[[Any], Picture],
    fit: Fit | str,
) -> Triplet:
    """Three images by a reader of one."""
    pictures: dict[str, Picture | None] = {}
    for m, source in zip(MODALITIES, sources, strict=True):
        try:
            pictures[m] = None if source is None else read(source)
        except InputError as error:
            error.modality = str(m)
            raise
    return Triplet(pictures, Fit(fit))


def read_wide(source: Source, fit: Fit | str = Fit.STRETCH) -> Triplet:
    """One image of three side by side (RGB, near infrared, thermal), cut into equal thirds."""
    return cut_wide(read_picture(source), fit)


def cut_wide(picture: Picture, fit: Fit | str = Fit.STRETCH) -> Triplet:
    """The same from a decoded image."""
    height, width = picture.size
    third = width // 3
    if width < WIDE_MIN_ASPECT * height or third < px.MIN_SIDE:
        raise InputError(
            "input.not_wide",
            "A {width}x{height} image is not three side by side; give RGB, near infrared and thermal in one row.",
            width=width,
            height=height,
        )
    notes = picture.notes
    if (height, width) != WIDE_SIZE:
        text = "RGBNT100's wide pictures are 768x128; this one is {width}x{height} and was cut into equal thirds."
        notes += (Message("input.other_wide", text, width=width, height=height),)
    if width % 3:
        notes += (
            Message("input.thirds", "The width {width} is not a multiple of 3; the rest was cut off.", width=width),
        )
    return Triplet(
        {
            m: Picture(np.ascontiguousarray(picture.pixels[:, i * third : (i + 1) * third]), notes)
            for i, m in enumerate(MODALITIES)
        },
        Fit(fit),
    )


def read_mask(source: str | os.PathLike[str] | bytes) -> Image.Image:
    """A person mask as one channel of 8 bits; the limits are those of pictures."""
    with _open(source) as image:
        if image.width * image.height > MAX_PIXELS:
            raise _too_many_pixels()
        try:
            return image.convert("L")
        except Exception:  # as in `_decode`
            raise _damaged() from None


def prepare(triplet: Triplet, size: tuple[int, int]) -> Prepared:
    """The triplet at the model's (height, width)."""
    return Prepared(triplet.fitted(size))


def _open(source: str | os.PathLike[str] | bytes) -> Image.Image:
    """Open a file or bytes far enough to know its format and size; nothing is decoded yet."""
    if isinstance(source, bytes):
        stream, length, head, content = io.BytesIO(source), len(source), source[:512], source
    else:
        path = Path(source)
        if not os.path.isfile(path):  # false for names that no file can have, where pathlib would raise
            raise InputError("input.not_found", "There is no file {name!r}; check the path.", name=path.name)
        try:
            length = path.stat().st_size
            if length <= MAX_BYTES:
                content = path.read_bytes()
                stream, head = io.BytesIO(content), content[:512]
        except OSError:
            raise InputError("input.unreadable", "The file {name!r} cannot be read.", name=path.name) from None
    check_size(length)
    if tiff.pieces(content) > tiff.MAX_PIECES:
        text = "The image is cut into more than {limit} strips or tiles; save it again as a plain PNG or TIFF."
        raise InputError("input.pieces", text, limit=tiff.MAX_PIECES)
    try:
        return Image.open(stream, formats=FORMATS)
    except Image.DecompressionBombError:
        raise _too_many_pixels() from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, OverflowError):
        if b"<svg" in head.lower():
            raise InputError("input.svg", "SVG drawings are not supported; save it as a PNG first.") from None
        if head[:4] == b"GIF8":
            raise InputError("input.gif", "GIF is not supported; save one frame as a PNG first.") from None
        if SIGNATURE.match(head):
            raise _damaged() from None
        raise InputError("input.not_image", "The file is not a PNG, JPEG, TIFF, BMP or WebP image.") from None


def check_size(length: int) -> None:
    """Refuse a file by its length alone."""
    if length > MAX_BYTES:
        raise InputError(
            "input.too_big",
            "The file has {megabytes:.1f} MB; the limit is {limit} MB.",
            megabytes=length / 2**20,
            limit=MAX_BYTES // 2**20,
        )
    if length == 0:
        raise InputError("input.empty", "The file is empty; give an image.")


def _decode(image: Image.Image) -> tuple[px.Pixels, list[Message]]:
    if image.width * image.height > MAX_PIXELS:
        raise _too_many_pixels()
    try:
        if image.format != PHONE_FORMAT and _has_second_frame(image):
            raise InputError("input.animated", "The image holds several frames; save one frame as a PNG first.")
        image.load()
        return px.from_image(image)
    except (InputError, MemoryError):
        raise
    except Image.DecompressionBombError:
        raise _too_many_pixels() from None
    except Exception:  # decoders raise OSError, SyntaxError, struct.error, zlib.error, EOFError, ... on damaged files
        raise _damaged() from None


def _has_second_frame(image: Image.Image) -> bool:
    """Pillow's own count would walk through every page of a TIFF, which can take minutes."""
    if image.tell() > 0:
        return True
    try:
        image.seek(1)
    except EOFError:
        return False
    return True


def _damaged() -> InputError:
    return InputError("input.damaged", "The image is damaged or cut off; save or copy it again.")


def _too_many_pixels() -> InputError:
    return InputError(
        "input.pixels", "The image has more than {limit} million pixels; make it smaller.", limit=MAX_PIXELS // 10**6
    )
