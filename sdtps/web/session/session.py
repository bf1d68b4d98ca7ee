"""What the page asks of the engine: stage an upload, analyse a triplet, move a slider. No Gradio in here.

A browser holds only keys. Pictures and prepared triplets live in caches bounded in bytes; when one has fallen out, the
answer says so and the page sends the file again.
"""

import logging
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdtps import panels
from sdtps.datasets.examples import Example
from sdtps.images.masks import people_share
from sdtps.images.read import MAX_BYTES, Fit, Picture, Prepared, Triplet, prepare, read_picture, read_triplet, read_wide
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import cached_bytes, camera_label, decide, encode
from sdtps.support import errors as faults
from sdtps.support.byte_lru import ByteLru
from sdtps.support.messages import InputError, Message
from sdtps.types import MODALITIES, Analysis, FloatArray
from sdtps.variants import get_variant
from sdtps.web.session.data_registry import Library, Located
from sdtps.web.session.jobs import Jobs
from sdtps.web.session.model_registry import Shelf
from sdtps.web.session.requests import (
    RANGES,
    SLOTS,
    WIDE,
    AnalyseRequest,
    Refusal,
    malformed,
    parse_analyse,
    parse_decide,
)
from sdtps.web.session.tasks import answer_task, exports, weights
from sdtps.web.session.tasks.browse import shelf_cards

PICTURE_BYTES = 256 * 1024 * 1024
PREPARED_BYTES = 64 * 1024 * 1024
PREVIEW_SIZE = (128, 128)
DECODERS = 2  # a picture of 40 megapixels takes 160 MB while it is decoded

Payload = dict[str, Any]
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Open:
    """A triplet that was analysed: what a slider move needs to answer."""

    models: Shelf
    weights: str | None
    prepared: Prepared
    notes: tuple[str, ...]
    missing: frozenset[str]
    located: Located | None = None  # the record it is, when it comes from a data folder
    person: FloatArray | None = None  # (N,) share of each patch that people cover, where a mask is known

    @property
    def camera(self) -> int | None:
        """The camera label, where the record has one and the weights an embedding for it."""
        return camera_label(self.model, None if self.located is None else self.located.record.cam)

    @property
    def model(self) -> LoadedModel:
        """Its weights; looked up, so that a triplet does not keep weights in memory."""
        return self.models.model(self.weights)

    @property
    def bytes(self) -> int:
        """Memory of its pixels."""
        return sum(p.nbytes for p in self.prepared.pixels.values() if p is not None)


class Workbench:
    """The page's server side.

    Args:
        models: the weights to choose from; the first is the default.
        examples: the shipped triplets by name.
        library: the data folders.
        picture_bytes: budget for uploads that are waiting to be analysed.
        prepared_bytes: budget for analysed triplets.
    """

    def __init__(
        self,
        models: Sequence[LoadedModel] | Shelf,
        examples: Mapping[str, Example],
        library: Library | None = None,
        *,
        picture_bytes: int = PICTURE_BYTES,
        prepared_bytes: int = PREPARED_BYTES,
    ) -> None:
        self.models = models if isinstance(models, Shelf) else Shelf(models)
        self.examples = dict(examples)
        self.library = library or Library()
        self.jobs: Jobs = Jobs()
        self._pictures: ByteLru[Picture] = ByteLru(picture_bytes, lambda p: p.pixels.nbytes)
        self._decoding = threading.BoundedSemaphore(DECODERS)
        self._deciding = threading.Lock()  # many small steps: threads that take turns in them lose a third of the time
        self._open: ByteLru[Open] = ByteLru(prepared_bytes, lambda o: o.bytes)

    def close(self) -> None:
        """Stop long work and remove files, for a clean end."""
        self.jobs.close()
        self.models.close()

    @property
    def cached_bytes(self) -> int:
        """Memory of uploads, open triplets and their encodings."""
        return self._pictures.bytes + self._open.bytes + cached_bytes()

    def config(self) -> Payload:
        """What the page needs to know before the first triplet."""
        return {
            "models": weights.listing(self.models),
            "upload_weights": weights.upload_options(self.models),
            "variants": panels.variant_cards(),
            "examples": [{"name": e.name, "title": e.title, "thumbnail": e.thumbnail} for e in self.examples.values()],
            "defaults": panels.shown_settings(self.models.model(None).settings),
            "ranges": RANGES,
            "max_bytes": MAX_BYTES,
            "roots": shelf_cards(self.library),
            "export": exports.export_choices(),
        }

    def stage(self, slot: object, content: object) -> Payload:
        """Validate one uploaded file; keep its picture (three for a wide image) and hand back keys and previews."""
        return _answer(lambda: self._stage(slot, content), slot if slot in SLOTS else None)

    def analyse(self, data: object) -> Payload:
        """From a triplet to everything the page draws."""
        return _answer(lambda: self._analyse(parse_analyse(data)))

    def upload_weights(self, name: object, content: object, fields: Mapping[str, Any]) -> Payload:
        """From the bytes of a checkpoint to its card."""
        return _answer(lambda: weights.upload(self, name, content, fields))

    def decide(self, data: object) -> Payload:
        """From new settings to what they change."""
        return _answer(lambda: self._decide(data))

    def ask(self, data: object) -> Payload:
        """Any other task, by name."""
        return _answer(lambda: answer_task(self, data))

    def opened(self, key: object) -> Open:
        """The triplet that was analysed under a key."""
        opened = self._open.get(key) if isinstance(key, str) else None
        if opened is None:
            raise Refusal(
                Message("session.expired", "The server no longer holds this triplet; it is being sent again."),
                expired=tuple(str(m) for m in MODALITIES),
            )
        return opened

    def open_bundle(self, content: object) -> Payload:
        """Show a bundle's numbers again."""
        return _answer(lambda: exports.open_bundle(self, content), WIDE)

    def adopt(self, prepared: Prepared, analysis: Analysis) -> tuple[str | None, Payload]:
        """Take up an analysis from elsewhere: a key when its weights are on the shelf, and a card for them."""
        short = analysis.weights.short_hash
        likely = (k for k in self.models if k in self.models.loaded or k.startswith(short))
        name = next((k for k in likely if exports.matches(analysis, prepared, self.models.model(k))), None)
        if name is not None:
            missing = frozenset(m for m, trace in analysis.traces.items() if trace.missing)
            key = secrets.token_urlsafe(16)
            self._open.put(key, Open(self.models, name, prepared, analysis.notes, missing))
            return key, weights.card(self.models, name)
        return None, exports.foreign_card(analysis, prepared)

    def read(self, contents: Mapping[str, bytes | None], fit: Fit) -> Triplet:
        """Decode a triplet, a few at a time."""
        with self._decoding:
            rgb, nir, tir = (contents[m] for m in MODALITIES)
            return read_triplet(rgb, nir, tir, fit)

    def model(self, key: str | None) -> LoadedModel:
        """Loaded weights by key; the first by default."""
        return self._model(key)

    def _stage(self, slot: object, content: object) -> Payload:
        if slot not in SLOTS or not isinstance(content, bytes):
            raise malformed()
        with self._decoding:
            pictures = read_wide(content).pictures if slot == WIDE else {str(slot): read_picture(content)}
        return {"pictures": {m: self.keep(p) for m, p in pictures.items() if p is not None}}

    def keep(self, picture: Picture) -> Payload:
        """Hold a picture until it is analysed; its key, a preview and its notes."""
        token = secrets.token_urlsafe(16)
        self._pictures.put(token, picture)
        height, width = picture.size
        scale = min(1.0, PREVIEW_SIZE[0] / height, PREVIEW_SIZE[1] / width)
        small = picture.fitted((max(1, round(height * scale)), max(1, round(width * scale))))
        return {
            "token": token,
            "preview": panels.photo_url(small),
            "size": [height, width],
            "notes": [panels.as_note(n) for n in picture.notes],
        }

    def _analyse(self, request: AnalyseRequest) -> Payload:
        model = self._model(request.weights)
        if lacking := model.net.sdtps.supports(get_variant(request.settings.variant)):
            raise Refusal(lacking)
        triplet = self._triplet(request)
        size = model.net.backbone.input_size
        prepared = prepare(triplet, size)
        located, mask = self._origin(request)
        person = self._person(mask, model, request.fit)
        opened = Open(self.models, request.weights, prepared, triplet.notes(size), triplet.missing, located, person)
        key = secrets.token_urlsafe(16)
        self._open.put(key, opened)
        encoding = encode(model, prepared, opened.camera)
        analysis = decide(model, encoding, request.settings, opened.notes, opened.missing)
        halves = panels.still(analysis, prepared.pixels), panels.moving(analysis, matrix=request.matrix)
        return panels.merge(*halves) | {"key": key}

    def _decide(self, data: object) -> Payload:
        request = parse_decide(data)
        opened = self.opened(request.key)
        model = opened.model
        if lacking := model.net.sdtps.supports(get_variant(request.settings.variant)):
            raise Refusal(lacking)
        encoding = encode(model, opened.prepared, opened.camera)
        with self._deciding:
            analysis = decide(model, encoding, request.settings, opened.notes, opened.missing)
            return panels.moving(analysis, matrix=request.matrix) | {"key": request.key}

    def _triplet(self, request: AnalyseRequest) -> Triplet:
        pictures: dict[str, Picture | None] = {}
        gone = []
        records = {ref.record for ref in request.pictures.values() if ref is not None and ref.record is not None}
        with self._decoding:
            read = {r: self.library.read(self.library.find(r), request.fit).pictures for r in records}
        for m, ref in request.pictures.items():
            if ref is None:
                pictures[m] = None
            elif ref.example is not None:
                if ref.example not in self.examples:
                    raise Refusal(Message("example.unknown", "There is no example of that name; choose another."))
                pictures[m] = self.examples[ref.example].triplet.pictures[m]
            elif ref.record is not None:
                pictures[m] = read[ref.record][m]
            else:
                pictures[m] = self._pictures.get(ref.token)
                if pictures[m] is None:
                    gone.append(m)
        if gone:
            message = Message("session.expired", "The server no longer holds this triplet; it is being sent again.")
            raise Refusal(message, expired=tuple(gone))
        if all(p is None or m in request.leave_out for m, p in pictures.items()):
            raise Refusal(Message("input.none", "All three images are missing; give at least one."))
        return Triplet({m: None if m in request.leave_out else p for m, p in pictures.items()}, request.fit)

    def _origin(self, request: AnalyseRequest) -> tuple[Located | None, Path | None]:
        """The record and the person mask, when all pictures come from one record or one example."""
        refs = {ref for ref in request.pictures.values() if ref is not None}
        if len(refs) != 1:
            return None, None
        ref = refs.pop()
        if ref.record is not None:
            located = self.library.find(ref.record)
            if located.record.mask is not None:
                located.shelf.dataset.check(located.record.mask)
            return located, located.record.mask
        return None, None if ref.example is None else self.examples[ref.example].mask

    @staticmethod
    def _person(mask: Path | None, model: LoadedModel, fit: Fit) -> FloatArray | None:
        if mask is None:
            return None
        backbone = model.net.backbone
        try:
            return people_share(mask, backbone.input_size, backbone.grid, fit)
        except (OSError, ValueError):
            log.warning("A person mask cannot be read.")  # the log holds no names
            return None

    def _model(self, key: str | None) -> LoadedModel:
        return self.models.model(key)


def _answer(work: Callable[[], Payload], zone: str | None = None) -> Payload:
    """The answer, or one sentence; whatever goes wrong, the page gets something it can show."""
    try:
        return work()
    except Refusal as refusal:
        note = panels.as_note(refusal.message)
        return {"error": note, "zone": refusal.zone or zone, "expired": list(refusal.expired)}
    except InputError as error:
        return {"error": panels.as_note(error.message), "zone": error.modality or zone, "expired": []}
    except Exception as error:
        log.exception("A request failed.")
        return {"error": panels.as_note(faults.sentence(error)), "zone": zone, "expired": []}
