"""Keeps the folder of temporary files within a budget, and clears what earlier runs left behind."""

import contextlib
import logging
import os
import shutil
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
INCOMING = "incoming-"  # and the number of the process: where files are while they arrive
INCOMING_AGE = 600
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
        elif now - found.st_mtime > grace and not path.name.startswith(INCOMING):
            _remove_empty(path)
    for modified, size, path in sorted(files):
        age = now - modified
        fits = left <= max_bytes or (age < grace and left <= 2 * max_bytes)
        if age <= (min(max_age, INCOMING_AGE) if path.parent.name.startswith(INCOMING) else max_age) and fits:
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


def ours(folder: Path) -> Path:
    """Make the folder of temporary files, and make sure that it is ours before anything is written there.

    Raises:
        SystemExit: it cannot be made, or a link or somebody else's folder stands in its place.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
        mine = stat.S_ISDIR(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())
    except OSError:
        mine = False
    if not mine:
        raise SystemExit(
            f"The folder for temporary files, {folder}, cannot be made, is a link or belongs to somebody else; "
            "remove it, or choose another place with GRADIO_TEMP_DIR."
        )
    folder.chmod(0o700)
    return folder


def own_folder(folder: Path) -> Path:
    """The folder of temporary files of a server, which deletes what is old in it; see `ours`."""
    ours(folder)
    for left in folder.glob(f"{INCOMING}*"):  # of servers that were killed
        number = left.name.removeprefix(INCOMING)
        if number == str(os.getpid()) or not (number.isdecimal() and _runs(int(number))):
            _remove_whole(left)
    incoming = folder / f"{INCOMING}{os.getpid()}"
    incoming.mkdir(mode=0o700)
    tempfile.tempdir = str(incoming)
    return folder


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _remove_whole(place: Path) -> None:
    if place.is_symlink() or not place.is_dir():
        place.unlink(missing_ok=True)
    else:
        shutil.rmtree(place, ignore_errors=True)


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
    """Everything in a folder, without going through links; folders below `INCOMING` are in use and left alone."""
    found: list[Path] = []
    for root, folders, files in os.walk(folder, followlinks=False):
        if Path(root).name.startswith(INCOMING):
            folders.clear()
        found += [Path(root) / name for name in (*folders, *files)]
    yield from reversed(found)  # what is in a folder before the folder


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):  # not empty, or gone
        folder.rmdir()
