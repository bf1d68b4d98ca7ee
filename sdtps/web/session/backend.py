"""The page's server side: stages uploads, opens image sets, moves sliders, answers tasks. No Gradio in here.

A browser holds only keys. Pictures and open sets live in caches bounded in bytes; when one has fallen out, the answer
says so and the page sends the file again.
"""

import hashlib
import logging
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdtps.datasets.examples import Example
from sdtps.export import payload
from sdtps.images import confined
from sdtps.images.encode import photo_url
from sdtps.images.masks import people_share
from sdtps.images.read import MAX_BYTES, Fit, Picture, Prepared, Triplet
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet, cached_bytes
from sdtps.runs.replay import FAMILY, no_weights
from sdtps.support.byte_lru import ByteLru
from sdtps.support.memory import give_back
from sdtps.support.messages import as_note
from sdtps.types import MODALITIES, Analysis, FloatArray, Payload, Settings
from sdtps.web.session.answers import answered
from sdtps.web.session.data_registry import DataRegistry, Located
from sdtps.web.session.jobs import Jobs
from sdtps.web.session.model_registry import ModelRegistry, replaced
from sdtps.web.session.requests import (
    SLOTS,
    WIDE,
    AnalyseRequest,
    DecideRequest,
    OpenRequest,
    PictureRef,
    Refusal,
    malformed,
)
from sdtps.web.session.run_registry import RunRegistry
from sdtps.web.session.tasks import answer_task, bundles, exports, weights
from sdtps.web.session.tasks.browse import dataset_cards

PICTURE_BYTES = 128 * 1024 * 1024
LARGE = 1024 * 1024  # bytes of a file after which memory is given back
PREPARED_BYTES = 64 * 1024 * 1024
PREVIEW_SIZE = (128, 128)
DECODERS = 2  # records of data folders at once: a picture of 40 megapixels takes 160 MB while it is decoded

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class HeldSet:
    """An image set that was opened: what a slider move needs to answer. It keeps no weights in memory.

    Attributes:
        models: where its weights are looked up, by the key `weights`.
        identity: of the weights it was opened with.
        prepared, camera, notes: see `OpenSet`.
        located: the record it is, when it comes from a data folder.
        person: (N,) share of each patch that people cover, where a mask is known.
        recorded: an epoch of a run, which brings its own model; `weights` and `prepared` are then not looked at.
    """

    models: ModelRegistry
    weights: str | None
    identity: str
    prepared: Prepared
    camera: int | None
    notes: tuple[str, ...]
    located: Located | None = None
    person: FloatArray | None = None
    recorded: OpenSet | None = None

    @property
    def model(self) -> LoadedModel:
        """Its weights; refused when another file took their place since."""
        if self.recorded is not None:
            return self.recorded.model
        model = self.models.model(self.weights)
        if model.identity != self.identity:
            raise replaced()
        return model

    def open(self) -> OpenSet:
        """The set in front of its model."""
        if self.recorded is not None:
            return self.recorded
        return OpenSet(self.model, self.prepared, self.camera, self.notes)

    @property
    def bytes(self) -> int:
        """Memory of its pixels."""
        return sum(p.nbytes for p in self.prepared.pixels.values() if p is not None)


class PageBackend:
    """What answers the page, the same for all its visitors.

    Args:
        models: the weights to choose from; the first is the default.
        examples: the shipped image sets by name.
        data: the data folders.
        runs: the recorded trainings; the shipped lab by default.
        picture_bytes: budget for uploads that are waiting to be analysed.
        prepared_bytes: budget for open sets.
    """

    def __init__(
        self,
        models: Sequence[LoadedModel] | ModelRegistry,
        examples: Mapping[str, Example],
        data: DataRegistry | None = None,
        *,
        runs: RunRegistry | None = None,
        picture_bytes: int = PICTURE_BYTES,
        prepared_bytes: int = PREPARED_BYTES,
    ) -> None:
        self.models = models if isinstance(models, ModelRegistry) else ModelRegistry(models)
        self.examples = dict(examples)
        self.data = data or DataRegistry()
        self.runs = runs or RunRegistry()
        self.jobs: Jobs = Jobs()
        self._pictures: ByteLru[Picture] = ByteLru(picture_bytes, lambda p: p.pixels.nbytes)
        self._decoding = threading.BoundedSemaphore(DECODERS)
        self._deciding = threading.Lock()  # many small steps: threads that take turns in them lose a third of the time
        self._held: ByteLru[HeldSet] = ByteLru(prepared_bytes, lambda held: held.bytes)

    def close(self) -> None:
        """Stop long work and remove files, for a clean end."""
        self.jobs.close()
        self.models.close()

    @property
    def cached_bytes(self) -> int:
        """Memory of uploads, open sets and their encodings."""
        return self._pictures.bytes + self._held.bytes + cached_bytes()

    def config(self) -> Payload:
        """What the page needs to know before the first image set."""
        return payload.tables() | {
            "models": weights.listing(self.models),
            "upload_weights": weights.upload_options(self.models),
            "examples": [
                {"name": e.name, "title": e.title, "thumbnail": e.thumbnail, "generated": e.generated}
                for e in self.examples.values()
            ],
            "defaults": payload.shown_settings(self.models.model(None).settings),
            "max_bytes": MAX_BYTES,
            "roots": dataset_cards(self.data),
            "export": exports.export_choices(),
        }

    def stage(self, slot: object, content: object) -> Payload:
        """Validate one uploaded file; keep its picture (three for a wide image) and hand back keys and previews."""
        return answered(lambda: self._stage(slot, content), str(slot) if slot in SLOTS else None)

    def analyse(self, data: object) -> Payload:
        """From an image set to everything the page draws."""
        return answered(lambda: self._analyse(AnalyseRequest.parse(data)))

    def upload_weights(self, name: object, content: object, fields: Mapping[str, Any]) -> Payload:
        """From the bytes of a checkpoint to its card."""
        return answered(lambda: weights.upload(self, name, content, fields))

    def decide(self, data: object) -> Payload:
        """From new settings to what they change."""
        return answered(lambda: self._decide(DecideRequest.parse(data)))

    def ask(self, data: object) -> Payload:
        """Any other task, by name."""
        return answered(lambda: answer_task(self, data))

    def open_bundle(self, content: object) -> Payload:
        """Show a bundle's numbers again."""
        return answered(lambda: bundles.open_bundle(self, content), WIDE)

    def held(self, key: str) -> HeldSet:
        """The image set that was opened under a key."""
        held = self._held.get(key)
        if held is None:
            raise _expired(tuple(str(m) for m in MODALITIES))
        return held

    def opened(self, request: OpenRequest) -> tuple[OpenSet, Settings]:
        """The set and the settings that a request names."""
        opened = self.held(request.key).open()
        return opened, request.settings_over(opened.model.settings)

    def opened_whole(self, request: OpenRequest) -> tuple[OpenSet, Settings]:
        """The same for what needs the network; a recorded epoch has none and is refused."""
        opened, settings = self.opened(request)
        if opened.model.weights.family == FAMILY:
            raise no_weights()
        return opened, settings

    def analysed(self, request: OpenRequest) -> Analysis:
        """The numbers that a request asks about."""
        opened, settings = self.opened(request)
        return opened.analyse(settings)

    def hold(self, opened: OpenSet, weights_key: str | None, located: Located | None = None,
             person: FloatArray | None = None) -> str:  # fmt: skip
        """Keep an open set for slider moves; its key."""
        key = secrets.token_urlsafe(16)
        held = HeldSet(
            self.models,
            weights_key,
            opened.model.identity,
            opened.prepared,
            opened.camera,
            opened.notes,
            located,
            person,
        )
        self._held.put(key, held)
        return key

    def hold_recorded(self, opened: OpenSet) -> str:
        """Keep a recorded epoch for slider moves; the same epoch has the same key."""
        key = hashlib.sha256("\n".join(opened.encode().key or ()).encode()).hexdigest()[:24]
        if self._held.get(key) is None:
            held = HeldSet(self.models, None, opened.model.identity, opened.prepared, None, (), recorded=opened)
            self._held.put(key, held)
        return key

    def read(self, contents: Mapping[str, bytes | None], fit: Fit) -> Triplet:
        """Decode an image set that a stranger sent, in a process of its own."""
        return confined.read_triplet(contents, fit)

    def named(self, source: Mapping[str, Any], fit: Fit) -> tuple[Triplet, int | None]:
        """A set by the name of an example or the id of a record, and its camera where that is known."""
        request = AnalyseRequest.parse({"pictures": {str(m): dict(source) for m in MODALITIES}, "fit": str(fit)})
        located, _ = self._origin(request)
        return self._triplet(request), None if located is None else located.record.cam

    def keep(self, picture: Picture) -> Payload:
        """Hold a picture until it is analysed; its key, a preview and its notes."""
        token = secrets.token_urlsafe(16)
        self._pictures.put(token, picture)
        height, width = picture.size
        scale = min(1.0, PREVIEW_SIZE[0] / height, PREVIEW_SIZE[1] / width)
        small = picture.fitted((max(1, round(height * scale)), max(1, round(width * scale))))
        return {
            "token": token,
            "preview": photo_url(small),
            "size": [height, width],
            "notes": [as_note(n) for n in picture.notes],
        }

    def _stage(self, slot: object, content: object) -> Payload:
        if slot not in SLOTS or not isinstance(content, bytes):
            raise malformed()
        if slot == WIDE:
            pictures = dict(confined.read_wide(content).pictures)
        else:
            pictures = {str(slot): confined.read_picture(content)}
        if len(content) > LARGE:
            give_back()
        return {"pictures": {m: self.keep(p) for m, p in pictures.items() if p is not None}}

    def _analyse(self, request: AnalyseRequest) -> Payload:
        model = self.models.model(request.weights)
        located, mask = self._origin(request)
        camera = None if located is None else located.record.cam
        opened = OpenSet.of(model, self._triplet(request), camera, asked=False)
        analysis = opened.analyse(request.settings_over(model.settings))
        key = self.hold(opened, request.weights, located, _person(mask, model, request.chosen_fit))
        moving = payload.moving(analysis, matrix=request.matrix)
        return payload.merge(payload.still(analysis, opened.prepared.pixels), moving) | {"key": key}

    def _decide(self, request: DecideRequest) -> Payload:
        opened, settings = self.opened(request)
        opened.encode()  # the backbone, should it run at all, has its own lock
        with self._deciding:
            return payload.moving(opened.analyse(settings), matrix=request.matrix) | {"key": request.key}

    def _triplet(self, request: AnalyseRequest) -> Triplet:
        refs = request.pictures.by_modality()
        records = {ref.record for ref in refs.values() if ref is not None and ref.record is not None}
        with self._decoding:
            read = {r: self.data.read(self.data.find(r), request.chosen_fit).pictures for r in records}
        pictures = {m: None if ref is None else self._picture(m, ref, read) for m, ref in refs.items()}
        if gone := tuple(m for m, ref in refs.items() if ref is not None and ref.token and pictures[m] is None):
            raise _expired(gone)
        if all(p is None or m in request.leave_out for m, p in pictures.items()):
            raise Refusal("input.none", "All three images are missing; give at least one.")
        return Triplet({m: None if m in request.leave_out else p for m, p in pictures.items()}, request.chosen_fit)

    def _picture(self, modality: str, ref: PictureRef, records: Mapping[str, Mapping[str, Picture | None]]) -> Any:
        if ref.record is not None:
            return records[ref.record][modality]
        if ref.example is None:
            return self._pictures.get(str(ref.token))
        if ref.example not in self.examples:
            raise Refusal("example.unknown", "There is no example of that name; choose another.")
        return self.examples[ref.example].triplet.pictures[modality]

    def _origin(self, request: AnalyseRequest) -> tuple[Located | None, Path | None]:
        """The record and the person mask, when all pictures come from one record or one example."""
        refs = {ref for ref in request.pictures.by_modality().values() if ref is not None}
        if len(refs) != 1:
            return None, None
        ref = refs.pop()
        if ref.record is not None:
            located = self.data.find(ref.record)
            if located.record.mask is not None:
                located.source.dataset.check(located.record.mask)
            return located, located.record.mask
        known = ref.example is not None and ref.example in self.examples
        return None, self.examples[str(ref.example)].mask if known else None


def _expired(modalities: tuple[str, ...]) -> Refusal:
    text = "The server no longer holds this image set; it is being sent again."
    return Refusal("session.expired", text, expired=modalities)


def _person(mask: Path | None, model: LoadedModel, fit: Fit) -> FloatArray | None:
    if mask is None:
        return None
    backbone = model.net.backbone
    try:
        return people_share(mask, backbone.input_size, backbone.grid, fit)
    except (OSError, ValueError):
        log.warning("A person mask cannot be read.")  # the log holds no names
        return None
