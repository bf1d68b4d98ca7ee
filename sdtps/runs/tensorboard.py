"""TensorBoard event files, written and read without the package: length, checksum, protocol buffer, checksum.

Only scalars are written; of what others wrote, scalars are read and the rest is passed over.
"""

import os
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from sdtps.support.files import write_whole

PATTERN = "*tfevents*"
VERSION = b"brain.Event:2"
_POLYNOMIAL = 0x82F63B78  # CRC-32C, reflected
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FLOAT, _DOUBLE = 1, 2  # dtypes of a tensor that holds a scalar


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, turned and shifted as records of this kind store it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


class EventWriter:
    """Appends scalars to a new event file in a folder."""

    def __init__(self, folder: str | os.PathLike[str], started: float | None = None) -> None:
        self._started = time.time() if started is None else started
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.path = Path(folder) / f"events.out.tfevents.{int(self._started)}.{os.getpid()}.sdtps"
        self._stream: BinaryIO = self.path.open("ab")
        self._write(_key(1, _FIXED64) + struct.pack("<d", self._started) + _text(3, VERSION))

    def add(self, step: int, scalars: Mapping[str, float], seconds: float = 0.0) -> None:
        """Write the scalars of a step."""
        values = b"".join(
            _text(1, _text(1, tag.encode()) + _key(2, _FIXED32) + struct.pack("<f", value))
            for tag, value in scalars.items()
        )
        event = _key(1, _FIXED64) + struct.pack("<d", self._started + seconds) + _key(2, _VARINT) + _varint(step)
        self._write(event + _text(5, values))

    def close(self) -> None:
        """Finish the file."""
        self._stream.close()

    def _write(self, data: bytes) -> None:
        length = struct.pack("<Q", len(data))
        record = length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))
        self._stream.write(record)
        self._stream.flush()


def read_events(path: str | os.PathLike[str]) -> Iterator[tuple[int, str, float]]:
    """(step, tag, value) of an event file's scalars; a record that is cut off or damaged ends it."""
    for _, data in _records(path):
        yield from _scalars(data)


def drop_from(path: Path, step: int) -> None:
    """Write an event file again without the scalars from a step on, which will be logged once more."""
    kept = [record for record, data in _records(path) if all(at < step for at, *_ in _scalars(data))]
    write_whole(path, b"".join(kept))


def _records(path: str | os.PathLike[str]) -> Iterator[tuple[bytes, bytes]]:
    """Each whole record of a file, and the event in it."""
    with Path(path).open("rb") as stream:
        while len(head := stream.read(12)) == 12:
            (length,) = struct.unpack("<Q", head[:8])
            if struct.unpack("<I", head[8:])[0] != masked_crc(head[:8]) or length > 1 << 28:
                return
            data, check = stream.read(length), stream.read(4)
            if len(data) < length or len(check) < 4:
                return
            yield head + data + check, data


def _scalars(event: bytes) -> Iterator[tuple[int, str, float]]:
    try:
        fields = list(_fields(event))
        step = next((int(v) for number, v in fields if number == 2 and isinstance(v, int)), 0)
        summaries = [v for number, v in fields if number == 5 and isinstance(v, bytes)]
        for value in (v for s in summaries for number, v in _fields(s) if number == 1 and isinstance(v, bytes)):
            parts = dict(_fields(value))
            tag, scalar = parts.get(1), _scalar(parts)
            if isinstance(tag, bytes) and scalar is not None:
                yield step, tag.decode(errors="replace"), scalar
    except (struct.error, IndexError, ValueError):
        return


def _scalar(parts: Mapping[int, int | bytes]) -> float | None:
    """The number of a value: stored plainly, or as a tensor with one element."""
    plain, tensor = parts.get(2), parts.get(8)
    if isinstance(plain, bytes) and len(plain) == 4:
        return float(struct.unpack("<f", plain)[0])
    if not isinstance(tensor, bytes):
        return None
    inner = dict(_fields(tensor))
    kind, content, listed = inner.get(1), inner.get(4), inner.get(5)
    if isinstance(listed, bytes) and len(listed) == 4:
        return float(struct.unpack("<f", listed)[0])
    if kind == _FLOAT and isinstance(content, bytes) and len(content) == 4:
        return float(struct.unpack("<f", content)[0])
    if kind == _DOUBLE and isinstance(content, bytes) and len(content) == 8:
        return float(struct.unpack("<d", content)[0])
    return None


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers and values of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _read_varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError("A field of a kind that is not known.")
        yield number, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _key(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _text(number: int, content: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(content)) + content
