"""The weights that the page can choose from: named by key, loaded on demand, a few at a time.

A browser only ever names a key. Files come from the command line, from `checkpoints/`, or as bytes of an upload; the
least recently used models are dropped with everything that was cached for them.
"""

import re
import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdtps import pipeline
from sdtps.checkpoints.anonymise import hide_model
from sdtps.checkpoints.load import TIMM, WeightsSource, find_checkpoints, random_model, sha256_of
from sdtps.models.reid import LoadedModel, ModelConfig
from sdtps.support.errors import CheckpointError
from sdtps.web.session.requests import Refusal
from sdtps.web.session.vetting import vet

MAX_LOADED = 3
MAX_UPLOADS = 4
TURNED = "-turned"
UPLOAD_BYTES = 512 * 1024 * 1024
DEFAULT_CONFIG = ModelConfig(kind="hiera", name="sam2_hiera_tiny", backbone_options={"adapter_dim": 256})


@dataclass(frozen=True)
class Entry:
    """Weights to choose from: their name, and how to load them; no source means that they only live in memory."""

    name: str
    source: WeightsSource | None
    uploaded: bool = False
    sha256: str | None = None  # of the file when it was added, where that is known


class ModelRegistry(Mapping[str, LoadedModel]):
    """Weights by key; looking one up loads it.

    Args:
        models: weights that are loaded already and stay so.
        device: where to load others.
        max_loaded: how many models with a file behind them are held in memory.
        uploads: whether the page may send files.
    """

    def __init__(
        self,
        models: Iterable[LoadedModel] = (),
        device: str = "auto",
        *,
        max_loaded: int = MAX_LOADED,
        uploads: bool = False,
    ) -> None:
        self.device = device
        self.max_loaded = max_loaded
        self.uploads = uploads
        self._entries: dict[str, Entry] = {}
        self._loaded: OrderedDict[str, LoadedModel] = OrderedDict()
        self._lock = threading.RLock()
        self._loading = threading.RLock()
        self._replaced: set[str] = set()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        for model in models:
            self._entries[model.weights.short_hash] = Entry(model.weights.name, None)
            self._loaded[model.weights.short_hash] = model

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __getitem__(self, key: str) -> LoadedModel:
        if (model := self._in_memory(key)) is not None:
            return model
        with self._loading:  # one file at a time, and slider moves of other weights do not wait for it
            if (model := self._in_memory(key)) is not None:
                return model
            entry = self._entries[key]
            assert entry.source is not None
            model = entry.source.load(self.device)
            if entry.sha256 not in (None, model.weights.sha256):
                self._replace(key, entry, model)
                raise replaced()
            return self._hold(key, model)

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Everything there is, in the order it was added, without loading it."""
        return self._entries

    @property
    def loaded(self) -> tuple[str, ...]:
        """Keys of the models in memory, least recently used first."""
        return tuple(self._loaded)

    def peek(self, key: str) -> LoadedModel | None:
        """The model if it is in memory; never loads, and does not count as a use."""
        return self._loaded.get(key)

    def model(self, key: object) -> LoadedModel:
        """The weights of a key that came from a browser; the first for None."""
        if key is None:
            key = next(iter(self._entries))
        if str(key) in self._replaced:
            raise replaced()
        try:
            return self[str(key)]
        except KeyError:
            raise Refusal("weights.unknown", "These weights are not loaded; choose others.") from None
        except CheckpointError as error:
            raise Refusal(error.message) from None

    def add(self, source: WeightsSource, *, now: bool = True) -> str:
        """Add weights; returns their key.

        Args:
            source: what to load.
            now: load it at once, to know that it is in order; else when it is first looked up.
        """
        if now or str(source.path).startswith(TIMM):
            with self._loading:
                model = source.load(self.device)
                key = self._free_key(model.weights.short_hash, source)
                self._entries.setdefault(key, Entry(source.name, source, sha256=model.weights.sha256))
                self._hold(key, model)
            return key
        digest = sha256_of(Path(source.path))
        key = self._free_key(digest[:8], source)
        self._entries.setdefault(key, Entry(source.name, source, sha256=digest))
        return key

    def upload(self, name: str, content: bytes, *, force: bool = False) -> str:
        """Take a file from a browser; it must load, or it is not kept."""
        if not self.uploads:
            raise Refusal("weights.no_uploads", "This server takes no weights from the page.")
        if len(content) > UPLOAD_BYTES:
            raise Refusal(
                "weights.too_big",
                "{name!r} holds {megabytes:.0f} MB; the limit is {limit:.0f} MB.",
                name=_safe(name),
                megabytes=len(content) / 2**20,
                limit=UPLOAD_BYTES / 2**20,
            )
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="sdtps-weights-")
        key = f"up-{secrets.token_urlsafe(9)}"
        path = Path(self._folder.name) / key / _safe(name)
        path.parent.mkdir()
        try:
            path.write_bytes(content)
            vet(path, force=force)  # outside of the lock: other weights can be loaded meanwhile
        except (OSError, Refusal):
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        with self._loading:
            self._try(key, Entry(path.name, WeightsSource(path, force=force), uploaded=True))
            for old in [k for k, e in self._entries.items() if e.uploaded][:-MAX_UPLOADS]:
                self._discard(old)
            return key

    def close(self) -> None:
        """Remove the files of uploads, for a clean end."""
        if self._folder is not None:
            self._folder.cleanup()

    def turned(self, key: str) -> str:
        """The same weights read with height and width exchanged, as weights of their own."""
        model = self.model(key)
        source = self._entries[key].source
        height, width = model.net.backbone.input_size
        if source is None or height == width:
            raise Refusal("weights.no_turn", "These weights cannot be read with another grid.")
        other = key.removesuffix(TURNED) if key.endswith(TURNED) else key + TURNED
        if other not in self._entries:
            with self._loading:
                self._try(other, replace(self._entries[key], source=source.but(size=(width, height))))
        return other

    def _try(self, key: str, entry: Entry) -> None:
        """Add weights if they load."""
        self._entries[key] = entry
        try:
            self[key]
        except Exception as error:
            self._discard(key)
            if isinstance(error, CheckpointError):
                raise Refusal(error.message) from None
            raise

    def _replace(self, key: str, entry: Entry, model: LoadedModel) -> None:
        """Another file stands where the weights of a key were: it gets a key of its own, in the same place."""
        digest = model.weights.sha256
        with self._lock:
            self._replaced.add(key)
            other = self._free_key(digest[:8], entry.source or WeightsSource())
            listed = self._entries.items()
            new = replace(entry, sha256=digest)
            self._entries = {(other if k == key else k): (new if k == key else e) for k, e in listed}
        self._hold(other, model)

    def _in_memory(self, key: str) -> LoadedModel | None:
        with self._lock:
            if key not in self._loaded:
                return None
            self._loaded.move_to_end(key)
            return self._loaded[key]

    def _hold(self, key: str, model: LoadedModel) -> LoadedModel:
        """Keep a model, and drop the least recently used of those that can be loaded again."""
        with self._lock:
            self._loaded[key] = model
            self._loaded.move_to_end(key)
            reloadable = [k for k in self._loaded if self._entries[k].source is not None]
            for old in reloadable[: -self.max_loaded]:
                pipeline.forget(self._loaded.pop(old).identity)
        return model

    def _free_key(self, key: str, source: WeightsSource) -> str:
        """A key of its own when the same file is there with other options."""
        other = self._entries.get(key)
        if other is None or other.source is None or other.source == source:
            return key
        number = 2
        while f"{key}-{number}" in self._entries:
            number += 1
        return f"{key}-{number}"

    def _discard(self, key: str) -> None:
        with self._lock:
            entry = self._entries.pop(key)
            model = self._loaded.pop(key, None)
        if model is not None:
            pipeline.forget(model.identity)
        shared = any(e.source and entry.source and e.source.path == entry.source.path for e in self._entries.values())
        if entry.uploaded and entry.source is not None and not shared:
            shutil.rmtree(Path(entry.source.path).parent, ignore_errors=True)


def replaced() -> Refusal:
    """The answer for weights whose file is another one now: their numbers would stand under the old name and hash."""
    return Refusal("weights.replaced", "The file of these weights was replaced; reload the page to open it.")


def _safe(name: str) -> str:
    """A file name of harmless characters that still reads like the original."""
    short = re.sub(r"[^\w. -]", "_", name.replace("\\", "/").rsplit("/", 1)[-1])[-80:]
    # File systems count bytes, and some letters have four.
    return short.encode(errors="replace")[-200:].decode(errors="ignore").lstrip(".") or "weights"


def open_registry(sources: Sequence[WeightsSource], device: str, *, uploads: bool = False) -> ModelRegistry:
    """The weights asked for, then those in `checkpoints/`; without any, random ones, which a banner says."""
    asked = {Path(source.path).resolve() for source in sources}
    found = [WeightsSource(path) for path in find_checkpoints() if path.resolve() not in asked]
    models = [] if sources or found else [random_model(DEFAULT_CONFIG, device=device)]
    registry = ModelRegistry(models, device, uploads=uploads)
    for source in sources:
        registry.add(source)
    for i, source in enumerate(found):
        registry.add(source, now=not sources and i == 0)
    return registry


def anonymous_registry(sources: Sequence[WeightsSource], device: str) -> ModelRegistry:
    """Only the weights asked for, under names that say nothing."""
    loaded = [source.load(device) for source in sources or [WeightsSource()]]
    return ModelRegistry([hide_model(model, number) for number, model in enumerate(loaded, 1)], device)
