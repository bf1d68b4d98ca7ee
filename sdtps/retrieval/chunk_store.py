"""Arrays on disk by key, within a budget: what long work has finished, so that it can go on or be asked again."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sdtps.models.reid import Encoded
from sdtps.retrieval.feature_store import default_folder, last_use
from sdtps.support.files import whole_file
from sdtps.types import MODALITIES

TOKENS, RESULTS = "tokens", "matters"
MAX_BYTES = 4 * 1024**3
Arrays = Mapping[str, NDArray[Any]]

log = logging.getLogger(__name__)


class ChunkStore:
    """Arrays of chunks. A file appears whole or not at all; what was not used for the longest time goes first.

    Args:
        kind: a folder of its own inside the cache folder.
        folder: the cache folder; see `default_folder`.
        max_bytes: budget.
    """

    def __init__(self, kind: str, folder: str | Path | None = None, max_bytes: int = MAX_BYTES) -> None:
        self.folder = (Path(folder) if folder else default_folder()) / kind
        self.max_bytes = max_bytes

    def get(self, key: str) -> dict[str, NDArray[Any]] | None:
        """The arrays of a chunk, or None."""
        path = self.folder / f"{key}.npz"
        try:
            with np.load(path, allow_pickle=False) as archive:
                found = {name: archive[name] for name in archive.files}
            path.touch()
        except FileNotFoundError:
            return None
        except Exception:  # a damaged file raises whatever the zip reader meets first
            log.warning("The cached chunk %s cannot be read; it is computed again.", path.name)
            return None
        return found

    def put(self, key: str, arrays: Arrays) -> None:
        """Keep a chunk. A full disk costs the cache, not the work."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with whole_file(self.folder / f"{key}.npz") as partial, partial.open("wb") as stream:
                np.savez(stream, **arrays)  # type: ignore[arg-type]
            self._tidy()
        except OSError:
            log.warning("A chunk could not be written to the cache folder; it is computed again next time.")

    def _tidy(self) -> None:
        total = 0
        for i, file in enumerate(sorted(self.folder.glob("*.npz"), key=last_use, reverse=True)):
            total += file.stat().st_size if file.exists() else 0
            if i and total > self.max_bytes:
                file.unlink(missing_ok=True)


def pack_tokens(encoded: Encoded) -> dict[str, NDArray[Any]]:
    """Tokens as arrays, bit by bit."""
    patches = {f"patches.{m}": encoded.patches[m].numpy() for m in MODALITIES}
    return patches | {f"global.{m}": encoded.global_vectors[m].numpy() for m in MODALITIES}


def unpack_tokens(arrays: Arrays) -> Encoded:
    """The inverse."""
    return Encoded(
        {str(m): torch.from_numpy(arrays[f"patches.{m}"]) for m in MODALITIES},
        {str(m): torch.from_numpy(arrays[f"global.{m}"]) for m in MODALITIES},
    )
