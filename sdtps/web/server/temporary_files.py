"""Keeps the folder of temporary files within a budget, and clears what earlier runs left behind."""

import contextlib
import logging
import os
import stat
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

MAX_BYTES = 1024**3
MAX_AGE = 24 * 3600
GRACE = 60  # seconds in which a new file is safe: somebody is using it
EVERY = 30
INCOMING = "incoming"  # where files are while they arrive
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
    # Links are deleted, never followed: what they lead to is not ours.
    for path in _below(folder) if folder.is_dir() and not folder.is_symlink() else ():
        try:
            found = path.lstat()
        except OSError:  # gone since it was listed
            continue
        if not stat.S_ISDIR(found.st_mode):
            files.append((found.st_mtime, found.st_size, path))
            left += found.st_size
        elif now - found.st_mtime > grace and path.name != INCOMING:
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


def own_folder(folder: Path) -> Path:
    """Make the folder of temporary files, and make sure that it is ours: what is old in it gets deleted.

    Raises:
        SystemExit: a link or somebody else's folder stands in its place.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    mine = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not stat.S_ISDIR(found.st_mode) or not mine:
        raise SystemExit(
            f"The folder for temporary files, {folder}, is a link or belongs to somebody else; "
            "remove it, or choose another place with GRADIO_TEMP_DIR."
        )
    folder.chmod(0o700)
    incoming = folder / INCOMING
    with contextlib.suppress(FileExistsError):
        incoming.mkdir(mode=0o700)
    if incoming.is_symlink() or not incoming.is_dir():
        incoming.unlink()
        incoming.mkdir(mode=0o700)
    for left in incoming.iterdir():  # of uploads that broke off when the last server was killed
        with contextlib.suppress(OSError):
            left.unlink()
    tempfile.tempdir = str(incoming)
    return folder


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


def _below(folder: Path) -> Iterator[Path]:
    """Everything in a folder, without going through links."""
    for root, folders, files in os.walk(folder, followlinks=False, topdown=False):
        for name in (*files, *folders):
            yield Path(root) / name


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not empty, or gone
        folder.rmdir()
