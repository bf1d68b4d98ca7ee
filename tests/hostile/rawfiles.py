"""Formats written by hand, where an honest encoder would not write what is needed."""

import struct
import zlib

PNG = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    """One PNG chunk."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, rows: bytes, *, depth: int = 1, colour: int = 0, before: bytes = b"") -> bytes:
    """A PNG that says width x height and holds `rows`, whatever they are; `before` goes in front of the pixels."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return PNG + chunk(b"IHDR", header) + before + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def zeros_png(width: int, height: int, *, depth: int = 1, colour: int = 0) -> bytes:
    """A small file that unpacks to width x height pixels of 0."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    line = 1 + (width * depth * channels + 7) // 8
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(bytes(line)) for _ in range(height)) + packer.flush()
    return PNG + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def bmp_header(width: int, height: int) -> bytes:
    """A BMP that promises width x height pixels and ends after its header."""
    return b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, *[0] * 6)


def ifd(entries: dict[int, tuple[int, int, int]], following: int) -> bytes:
    """One TIFF directory: tag → (type, count, value), and where the next one is."""
    packed = b"".join(struct.pack("<HHII", tag, *entry) for tag, entry in sorted(entries.items()))
    return struct.pack("<H", len(entries)) + packed + struct.pack("<I", following)


def grey_page(width: int, height: int, data: int) -> dict[int, tuple[int, int, int]]:
    """The tags of an 8-bit grey page whose one strip is at `data`."""
    tags = {256: (4, 1, width), 257: (4, 1, height), 258: (3, 1, 8), 259: (3, 1, 1), 262: (3, 1, 1), 273: (4, 1, data)}
    return tags | {277: (3, 1, 1), 278: (4, 1, height), 279: (4, 1, width * height)}


def tiff(width: int, height: int, *, following: int = 0, data: int = 8) -> bytes:
    """A little-endian TIFF of one grey page, whose strip is not there."""
    return b"II*\0" + struct.pack("<I", 8) + ifd(grey_page(width, height, data), following)


def endless_tiff(pages: int) -> bytes:
    """A TIFF of very many pages, which all show its own first bytes."""
    size = len(ifd(grey_page(32, 32, 8), 0))
    directories = (ifd(grey_page(32, 32, 8), 8 + (i + 1) * size) for i in range(pages))
    return b"II*\0" + struct.pack("<I", 8) + b"".join(directories) + ifd(grey_page(32, 32, 8), 0)


def striped_tiff(strips: int, width: int = 8, *, following: bool = False) -> bytes:
    """A TIFF of one row to a strip, which all show its own first bytes; or such a picture behind a small one."""
    first = ifd(grey_page(width, width, 8), 0)
    place = 8 + (len(first) if following else 0)
    tables = place + len(first)
    tags = grey_page(width, strips, 8) | {278: (4, 1, 1)}
    tags |= {273: (3, strips, tables), 279: (3, strips, tables + 2 * strips)}
    before = ifd(grey_page(width, width, 8), place) if following else b""
    rows = struct.pack("<H", 8) * strips + struct.pack("<H", width) * strips
    return b"II*\0" + struct.pack("<I", 8) + before + ifd(tags, 0) + rows


def zip_of_many(members: int) -> bytes:
    """A zip whose directory lists very many empty members."""
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"x"
    listed = struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, *[0] * 7, 1, *[0] * 6) + b"x"
    size, offset = len(listed) * members, len(local)
    end64 = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, members, members, size, offset)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, offset + size, 1)
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return local + listed * members + end64 + locator + end
