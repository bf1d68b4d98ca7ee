"""How many pieces a TIFF says it is cut into: the decoder would build a list of them before anybody could refuse."""

import struct

# 40 megapixels in tiles of 16x16, the smallest that the format knows.
MAX_PIECES = 160_000
STRIPS, TILES = 273, 324  # the tags that say where the pieces are
ORDERS = {b"II": "<", b"MM": ">"}
CLASSIC, BIG = 42, 43
DIRECTORIES = 2  # all that are ever looked at: a file with a second picture is refused


def pieces(content: bytes) -> int:
    """The most strips or tiles that one of the first pictures of a file has; 0 for other files and broken ones."""
    order = ORDERS.get(content[:2])
    if order is None:
        return 0
    most = 0
    try:
        kind = struct.unpack_from(f"{order}H", content, 2)[0]
        if kind not in (CLASSIC, BIG):
            return 0
        start, count, entry, offset = (4, "H", "HHI4x", "I") if kind == CLASSIC else (8, "Q", "HHQ8x", "Q")
        place = struct.unpack_from(order + offset, content, start)[0]
        for _ in range(DIRECTORIES):
            if place == 0:
                break
            entries = struct.unpack_from(order + count, content, place)[0]
            place += struct.calcsize(order + count)
            size = struct.calcsize(order + entry)
            whole = min(entries, (len(content) - place) // size)  # a decoder reads what is there of a directory
            for tag, _kind, length in struct.iter_unpack(order + entry, content[place : place + whole * size]):
                most = max(most, length if tag in (STRIPS, TILES) else 0)
            place = struct.unpack_from(order + offset, content, place + entries * size)[0]
    except (struct.error, OverflowError):  # the directory ends where the file does; the decoder says what is wrong
        return most
    return most
