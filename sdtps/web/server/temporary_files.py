"""Keeps the folder of temporary files within a budget, and clears what earlier runs left behind."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path

MAX_BYTES = 1024**3
MAX_AGE = 24 * 3600
GRACE = 60  # seconds in which a new file is safe: somebody is using it
EVERY = 30
log = logging.getLogger(__name__)


def tidy(
    folder: Path,
    max_bytes: int = MAX_BYTES,
    max_age: float = MAX_AGE,
    grace: float = GRACE,
    listed: Iterable[set[str]] = (),
) -> int:
    """Delete old files, then the oldest until the rest fits; returns the bytes that are left.

    Args:
        folder: everything in it is ours.
        max_bytes: budget of the folder.
        max_age: seconds after which a file is not wanted any more.
        grace: seconds in which a file is not touched, unless the folder has twice its budget.
        listed: sets of paths in which others keep count of these files; what is gone is taken out.
    """
    now, left, files = time.time(), 0, []
    for path in folder.rglob("*") if folder.is_dir() else ():
        try:
            found = path.lstat()
        except OSError:  # gone since it was listed
            continue
        if path.is_file() or path.is_symlink():
            files.append((found.st_mtime, found.st_size, path))
            left += found.st_size
        elif now - found.st_mtime > grace:
            _remove_empty(path)
    for modified, size, path in sorted(files):
        age = now - modified
        fits = left <= max_bytes or (age < grace and left <= 2 * max_bytes)
        if age <= max_age and fits:
            continue
        try:
            path.unlink(missing_ok=True)
            left -= size
        except OSError:
            log.warning("A temporary file cannot be deleted.")
    for paths in listed:
        for path_text in [p for p in tuple(paths) if not os.path.lexists(p)]:
            paths.discard(path_text)
    return left


class TemporaryFiles:
    """Tidies at the start and every half minute.

    Args:
        folder: everything in it is ours.
        listed: sets of paths in which others keep count of these files.
        max_bytes: budget of the folder.
    """

    def __init__(self, folder: str | Path, listed: Iterable[set[str]] = (), max_bytes: int = MAX_BYTES) -> None:
        self.folder = Path(folder)
        self.listed = list(listed)
        self.max_bytes = max_bytes
        self._stop = threading.Event()

    def start(self) -> None:
        """Begin, in the background."""
        threading.Thread(target=self._work, name="lens-temporary-files", daemon=True).start()

    def stop(self) -> None:
        """No more."""
        self._stop.set()

    def _work(self) -> None:
        while True:
            tidy(self.folder, self.max_bytes, listed=self.listed)
            if self._stop.wait(EVERY):
                return


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not empty, or gone
        folder.rmdir()
