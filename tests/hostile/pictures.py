"""Pictures: formats, depths, frames, lies in headers."""

import base64
import io
import random
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageCms, PngImagePlugin

from tests.hostile import rawfiles as raw
from tests.hostile.cases import GOOD, Case, constant, refused

RAMP = np.add.outer(np.arange(128), np.arange(64)).astype(np.uint8)
COLOUR = np.dstack([RAMP, 255 - RAMP, RAMP // 2])
LOOKS = {"ramp": np.dstack([RAMP] * 3), "colour": COLOUR, "grey": np.full((128, 64, 3), 128, np.uint8)}
# 16x32 pixels of grey, brighter to the lower right, packed with arithmetic coding, which Pillow reads but cannot write.
ARITHMETIC = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQ"
    "YEpRUk//yQALCAAgABABAREA/8wABgAQEAX/2gAIAQEAAD8A/wCVuIoFLG5ADcBrh7zIkTKAhD3gw2FVgP/Z"
)
STRETCHED = np.rint(np.clip((RAMP - np.percentile(RAMP, 0.5)) / np.ptp(np.percentile(RAMP, [0.5, 99.5])), 0, 1) * 255)
LOOKS["stretched"] = np.dstack([STRETCHED] * 3)
LOOKS["arithmetic"] = np.dstack([(np.add.outer(np.arange(32), np.arange(16)) * 5).astype(np.uint8)] * 3)


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def saved(kind: str, pixels: Any = COLOUR, mode: str | None = None, **options: Any) -> Callable[[], bytes]:
    image = Image.fromarray(pixels)
    return lambda: encoded(image.convert(mode) if mode else image, kind, **options)


def frames(kind: str) -> Callable[[], bytes]:
    pages = [Image.fromarray(COLOUR), Image.fromarray(COLOUR[::-1].copy())]
    return lambda: encoded(pages[0], kind, save_all=True, append_images=pages[1:])


def with_text(**texts: str) -> bytes:
    info = PngImagePlugin.PngInfo()
    for key, text in texts.items():
        info.add_text(key, text)
    return encoded(Image.fromarray(COLOUR), "PNG", pnginfo=info)


def with_zipped_text(size: int) -> bytes:
    """A valid PNG with a text that unfolds to `size` bytes."""
    good = saved("PNG")()
    text = raw.chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes([65]) * size, 9))
    return good[:33] + text + good[33:]


def cut(kind: str) -> bytes:
    """The first half of a file of noise."""
    pixels = np.random.default_rng(0).integers(0, 256, (64, 32, 3), np.uint8)
    content = saved(kind, pixels)()
    return content[: len(content) // 2]


def with_exif(orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    turned = Image.fromarray(COLOUR).transpose(Image.Transpose.ROTATE_90)
    return encoded(turned, "PNG", exif=exif)


def float_tiff(bad: float | None) -> bytes:
    values = RAMP.astype(np.float32) / 8 + 20
    if bad is not None:
        values[5, 5] = bad
    return encoded(Image.fromarray(values), "TIFF")


def fuzzed(kind: str, seed: int) -> bytes:
    """A good file with a few bytes of its first 200 changed."""
    rng, content = random.Random(seed), bytearray(saved(kind)())
    for _ in range(rng.randint(1, 6)):
        content[rng.randrange(2, 200)] = rng.randrange(256)
    return bytes(content)


def wrong_jpeg_size() -> bytes:
    """A JPEG whose header says 65,500 x 65,500."""
    content = saved("JPEG")()
    place = content.index(b"\xff\xc0") + 5
    return content[:place] + struct.pack(">HH", 65500, 65500) + content[place + 4 :]


def _bad_crc() -> bytes:
    content = bytearray(saved("PNG")())
    content[-20] ^= 0xFF
    return bytes(content)


SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
DAMAGED = ("input.damaged",)
FUZZED = (GOOD, "input.damaged", "input.not_image", "input.pixels", "input.tiny", "input.animated")

TAKEN = (
    Case("plain.png", saved("PNG"), like="colour"),
    Case("plain.bmp", saved("BMP"), like="colour"),
    Case("plain.webp", saved("WEBP", lossless=True), like="colour"),
    Case("plain.tif", saved("TIFF"), like="colour"),
    Case("a jpeg called.png", saved("JPEG", quality=95), like="colour"),
    Case("no ending", saved("PNG"), like="colour"),
    Case("sixteen-bit.png", saved("PNG", RAMP.astype(np.uint16) * 99), notes=("input.scaled",), like="stretched"),
    Case("sixteen-bit.tif", saved("TIFF", RAMP.astype(np.uint16) * 99 + 9), notes=("input.scaled",), like="stretched"),
    Case("thirty-two-bit.tif", saved("TIFF", RAMP.astype(np.int32) - 90), notes=("input.scaled",), like="stretched"),
    Case("all-equal.png", saved("PNG", np.full_like(RAMP, 4000, np.uint16)), notes=("input.scaled",), like="grey"),
    Case("float.tif", lambda: float_tiff(None), notes=("input.scaled",), like="stretched"),
    Case("palette.png", lambda: encoded(Image.fromarray(COLOUR).quantize(255), "PNG"), like="colour"),
    Case("cmyk.jpg", saved("JPEG", mode="CMYK", quality=98), like="colour"),
    Case("grey.jpg", saved("JPEG", RAMP, quality=98), like="ramp"),
    Case("grey-alpha.png", saved("PNG", np.dstack([RAMP, RAMP * 0]), None), notes=("input.alpha",), like="grey"),
    Case("alpha.png", saved("PNG", np.dstack([COLOUR, RAMP * 0])), notes=("input.alpha",), like="grey"),
    Case("opaque.png", saved("PNG", np.dstack([COLOUR, RAMP * 0 + 255])), like="colour"),
    Case("see-through.png", saved("PNG", RAMP, transparency=0), notes=("input.alpha",), like="ramp"),
    Case("turned.png", lambda: with_exif(6), notes=("input.rotated",), like="colour"),
    Case("exif-nonsense.png", saved("PNG", exif=b"Exif\0\0" + b"\xff" * 64), like="colour"),
    Case("progressive.jpg", saved("JPEG", progressive=True, quality=95), like="colour"),
    Case("arithmetic.jpg", constant(ARITHMETIC), like="arithmetic"),
    Case("icc.png", saved("PNG", icc_profile=SRGB), like="colour"),
    Case("icc.jpg", saved("JPEG", icc_profile=SRGB, quality=95), like="colour"),
    Case("icc-nonsense.png", saved("PNG", icc_profile=b"<script>" * 4000), like="colour"),
    Case("long-text.png", lambda: with_text(Comment="x" * 900_000), like="colour"),
    Case("script-text.png", lambda: with_text(Title="<script>alert(1)</script>", Author="\u202e=cmd"), like="colour"),
    Case("more-behind.png", lambda: saved("PNG")() + b"MZ" + bytes(5000), like="colour"),
    Case("eight-by-eight.png", saved("PNG", COLOUR[:8, :8].copy())),
    Case("thousand-strips.tif", lambda: raw.striped_tiff(1000)),
    Case("strip.png", lambda: raw.zeros_png(20_000, 8), notes=("input.reduced",)),
    Case("forty-megapixels.png", lambda: raw.zeros_png(8_000, 5_000), notes=("input.reduced",)),
    Case("forty-megapixels-16.png", lambda: raw.zeros_png(8_000, 5_000, depth=16), notes=("input.scaled",)),
    Case("forty-megapixels-alpha.png", lambda: raw.zeros_png(8_000, 5_000, depth=8, colour=6), notes=("input.alpha",)),
    *(Case(f"fuzzed-{s}.{k.lower()}", lambda k=k, s=s: fuzzed(k, s), FUZZED)
      for k in ("PNG", "JPEG", "TIFF", "BMP", "WEBP") for s in range(4)),
)  # fmt: skip
REFUSED = (
    refused("empty.png", constant(b""), "input.empty"),
    refused("text.png", constant(b"hello, I am a picture"), "input.not_image"),
    refused("noise.jpg", lambda: random.Random(1).randbytes(5000), "input.not_image"),
    refused("sign-in.png", constant(b"<!DOCTYPE html><html><script>alert(1)</script>"), "input.not_image"),
    refused("paper.png", constant(b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n"), "input.not_image"),
    refused("postscript.png", constant(b"%!PS-Adobe-3.0 EPSF-3.0\n(x) run\n"), "input.not_image"),
    refused("icon.png", saved("ICO"), "input.not_image"),
    refused("drawing.svg", constant(b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), "input.svg"),
    refused("drawing.png", constant(b"<?xml version='1.0'?><!-- x --><SVG/>"), "input.svg"),
    refused("moving.gif", frames("GIF"), "input.gif"),
    refused("moving.webp", frames("WEBP"), "input.animated"),
    refused("moving.png", frames("PNG"), "input.animated"),
    refused("pages.tif", frames("TIFF"), "input.animated"),
    refused("endless-pages.tif", lambda: raw.endless_tiff(60_000), "input.animated"),
    refused("two-million-strips.tif", lambda: raw.striped_tiff(2_000_000), "input.pieces"),
    refused("strips-behind.tif", lambda: raw.striped_tiff(2_000_000, following=True), "input.pieces"),
    refused("circle.tif", lambda: raw.tiff(32, 32, following=8), "input.animated", "input.damaged"),
    refused("one-pixel.png", saved("PNG", COLOUR[:1, :1].copy()), "input.tiny"),
    refused("line.png", lambda: raw.zeros_png(1, 20_000), "input.tiny"),
    refused("no-size.png", lambda: raw.png(0, 0, b""), *DAMAGED),
    refused("nan.tif", lambda: float_tiff(np.nan), "input.nan"),
    refused("infinite.tif", lambda: float_tiff(np.inf), "input.nan"),
    refused("cut.png", lambda: cut("PNG"), *DAMAGED),
    refused("cut.jpg", lambda: cut("JPEG"), *DAMAGED),
    refused("cut.tif", lambda: cut("TIFF"), *DAMAGED),
    refused("cut.webp", lambda: cut("WEBP"), *DAMAGED),
    refused("cut.bmp", lambda: cut("BMP"), *DAMAGED),
    refused("signature-alone.png", constant(raw.PNG), *DAMAGED),
    refused("wrong-sum.png", _bad_crc, *DAMAGED),
    refused("short-rows.png", lambda: raw.png(64, 128, bytes(10), depth=8), *DAMAGED),
    refused("text-bomb.png", lambda: with_zipped_text(20_000_000), *DAMAGED),
    refused("nowhere.tif", lambda: raw.tiff(64, 128, data=2**31), *DAMAGED),
    refused("promise.bmp", lambda: raw.bmp_header(64, 128), *DAMAGED),
    refused("hundred-megapixels.png", lambda: raw.zeros_png(10_000, 10_000), "input.pixels"),
    refused("four-gigapixels.png", lambda: raw.png(65_535, 65_535, b""), "input.pixels"),
    refused("four-gigapixels.jpg", wrong_jpeg_size, "input.pixels"),
    refused("four-gigapixels.bmp", lambda: raw.bmp_header(60_000, 60_000), "input.pixels"),
    refused("four-gigapixels.tif", lambda: raw.tiff(65_000, 65_000), "input.pixels"),
    refused("too-big.png", lambda: saved("PNG")() + bytes(20 * 2**20), "input.too_big"),
)  # fmt: skip
PICTURES: tuple[Case, ...] = (*TAKEN, *REFUSED)
