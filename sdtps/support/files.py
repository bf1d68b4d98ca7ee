"""Files that appear whole or not at all, whatever happens while they are written."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARTIAL = ".partial"


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file beside the target to write to; it takes the target's place when all went well, and is gone otherwise.

    Its name is its own, so that two who write the same target do not meet in it.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing where it did
    partial = target.with_name(f"{target.name[:100]}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        yield partial
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside the target, then put it in its place; a full disk or a kill leaves what was there before."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # a pipe or a device has no place for a second file
        target.write_bytes(content)
        return
    with whole_file(target) as partial:
        partial.write_bytes(content)
