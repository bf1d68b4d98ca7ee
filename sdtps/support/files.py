"""Files that appear whole or not at all, whatever happens while they are written."""

import os
from pathlib import Path

PARTIAL = ".partial"


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write beside the target, then put it in its place; a full disk or a kill leaves what was there before."""
    target = Path(os.path.realpath(path))  # a link keeps pointing where it did
    if target.exists() and not target.is_file():  # a pipe or a device has no place for a second file
        target.write_bytes(content)
        return
    partial = target.with_name(target.name + PARTIAL)
    try:
        partial.write_bytes(content)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
