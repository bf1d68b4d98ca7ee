"""Features on disk: computed once for the same weights, data and settings, then only read.

A file is named by hashes of what its numbers depend on. It appears whole or not at all, and the folder stays within a
budget: what was not used for the longest time goes first. Work that was stopped half-way is kept and continued.
"""

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.datasets import Broken, Dataset
from sdtps.models.reid import LoadedModel
from sdtps.retrieval.engine import LOCAL, Engine
from sdtps.retrieval.features import FolderFeatures, Missing, Rows, extend
from sdtps.support.files import whole_file
from sdtps.support.messages import Message
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Settings

SCHEMA = 3
MAX_BYTES = 4 * 1024**3
SAVE_EVERY = 1024  # triplets between two saves of unfinished work
SETTINGS = ("sparse_ratio", "aggr_ratio", "beta", "variant")  # what a feature depends on; tau is not among them

log = logging.getLogger(__name__)


def default_folder() -> Path:
    """`$SDTPS_CACHE`, else `sdtps-lens` in the user's cache folder."""
    if chosen := os.environ.get("SDTPS_CACHE"):
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sdtps-lens"
    except RuntimeError:  # an account without a home, as in some containers
        return Path(tempfile.gettempdir()) / "sdtps-lens-features"


@dataclass(frozen=True)
class Stored:
    """What a file in the store says about itself."""

    path: Path
    settings: Settings
    missing: Missing
    done: int
    total: int


class FeatureStore:
    """Features of data sets, on disk.

    Args:
        folder: where; made when needed.
        max_bytes: budget of the folder.
    """

    def __init__(self, folder: str | Path | None = None, max_bytes: int = MAX_BYTES) -> None:
        self.folder = Path(folder) if folder else default_folder()
        self.max_bytes = max_bytes

    def features(
        self,
        model: LoadedModel,
        dataset: Dataset,
        split: str,
        settings: Settings,
        conditions: Sequence[Missing] = (frozenset(),),
        *,
        batch: int = 16,
        progress: Progress | None = None,
        engine: Engine = LOCAL,
    ) -> dict[Missing, FolderFeatures]:
        """Features by missing modalities: read where they are complete, else computed and kept.

        Args:
            model: loaded weights.
            dataset: the data set, and its `split`.
            settings: ratios, beta and variant.
            conditions: sets of missing modalities.
            batch: triplets per forward pass.
            progress: called with (done, total); what it raises stops the work, which is kept as far as it got.
            engine: where it is computed.
        """
        records = dataset.listing(split).records
        rows = {m: self._load(model, dataset, split, settings, m) or Rows() for m in conditions}
        lacking = {m: r for m, r in rows.items() if r.done < len(records)}
        if len({r.done for r in lacking.values()}) > 1:  # they grow together, so they start together
            lacking = {m: Rows() for m in lacking}
        rows |= lacking
        saved = None
        try:
            work = extend(model, records, settings, lacking, batch, progress, dataset.read, engine) if lacking else ()
            for done in work:
                if done == len(records) or done - (saved or 0) >= SAVE_EVERY:
                    self._save_all(model, dataset, split, settings, lacking, len(records))
                    saved = done
        finally:
            if any(r.done != saved for r in lacking.values()):
                self._save_all(model, dataset, split, settings, lacking, len(records))
        return {m: r.finish() for m, r in rows.items()}

    def available(self, model: LoadedModel, dataset: Dataset, split: str) -> list[Stored]:
        """What is there for these weights and data, the last used first."""
        mine = subject(model, dataset, split)
        paths = sorted(self.folder.glob(f"{mine}-*.npz"), key=last_use, reverse=True)
        return [stored for stored in map(_describe, paths) if stored is not None]

    def _path(self, model: LoadedModel, dataset: Dataset, split: str, settings: Settings, missing: Missing) -> Path:
        options = short_hash([[getattr(settings, name) for name in SETTINGS], sorted(missing)])
        return self.folder / f"{subject(model, dataset, split)}-{options}.npz"

    def _load(
        self, model: LoadedModel, dataset: Dataset, split: str, settings: Settings, missing: Missing
    ) -> Rows | None:
        path = self._path(model, dataset, split, settings, missing)
        try:
            with np.load(path, allow_pickle=False) as archive:
                meta, numbers = _meta(archive), archive["numbers"]
                features, table = archive["features"], archive["table"]
            path.touch()
        except FileNotFoundError:
            return None
        except Exception:  # a damaged file raises whatever the zip reader meets first
            log.warning("The cached features in %s cannot be read; they are computed again.", path.name)
            return None
        records = dataset.listing(split).records
        broken = [Broken(b["name"], Message("data.noted", "{text}", text=b["text"])) for b in meta["broken"]]
        if len(numbers) != len(features) or (len(numbers) and numbers[-1] >= len(records)):
            return None
        listed = [records[i] for i in numbers]
        return Rows(listed, [features] if len(features) else [], [table], broken, tuple(meta["columns"]))

    def _save_all(
        self,
        model: LoadedModel,
        dataset: Dataset,
        split: str,
        settings: Settings,
        rows: dict[Missing, Rows],
        total: int,
    ) -> None:
        places = {record: i for i, record in enumerate(dataset.listing(split).records)}
        for missing, found in rows.items():
            if not found.features:
                continue
            meta = {
                "settings": {name: getattr(settings, name) for name in SETTINGS},
                "missing": sorted(missing),
                "done": found.done,
                "total": total,
                "columns": found.columns,
                "broken": [{"name": b.name, "text": str(b.why)} for b in found.broken],
            }
            arrays: dict[str, NDArray[Any]] = {
                "features": np.concatenate(found.features),
                "table": np.concatenate(found.table),
                "numbers": np.array([places[r] for r in found.records], np.int64),
                "meta": np.array(json.dumps(meta)),
            }
            self._write(self._path(model, dataset, split, settings, missing), arrays)
        self._tidy()

    def _write(self, path: Path, arrays: dict[str, NDArray[Any]]) -> None:
        """The file appears whole or not at all, whoever else writes it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as partial, partial.open("wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]

    def _tidy(self) -> None:
        """Keep within the budget, and always what was used last."""
        files = sorted(self.folder.glob("*.npz"), key=last_use, reverse=True)
        total = 0
        for i, file in enumerate(files):
            total += file.stat().st_size if file.exists() else 0
            if i and total > self.max_bytes:
                file.unlink(missing_ok=True)


def subject(model: LoadedModel, dataset: Dataset, split: str) -> str:
    """A hash of weights and data: what the names of their files begin with."""
    return short_hash([SCHEMA, model.identity, dataset.fingerprint(split), list(MODALITIES)])


def short_hash(values: Any) -> str:
    """A hash of plain values, for file names."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:24]


def last_use(path: Path) -> float:
    """When a file was used last; 0 when it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _meta(archive: Any) -> dict[str, Any]:
    return json.loads(str(archive["meta"]))


def _describe(path: Path) -> Stored | None:
    try:
        with np.load(path, allow_pickle=False) as archive:
            meta = _meta(archive)
        return Stored(path, Settings(**meta["settings"]), frozenset(meta["missing"]), meta["done"], meta["total"])
    except Exception:  # damaged, or just removed
        return None
