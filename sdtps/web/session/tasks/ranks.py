"""Rank lists: which galleries have features, making them, and the nearest image sets to the one on screen."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sdtps.export import payload
from sdtps.export.rendering import brightness
from sdtps.images.encode import Pixels, photo_url
from sdtps.images.read import Fit, prepare
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet
from sdtps.retrieval.feature_store import SETTINGS
from sdtps.retrieval.features import NOTHING, FolderFeatures
from sdtps.retrieval.ranking import Match, RankList
from sdtps.support.byte_lru import ByteLru
from sdtps.support.errors import InputError
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Analysis, Payload, Settings
from sdtps.web.session.data_registry import Located, NamedDataset
from sdtps.web.session.jobs import Lane
from sdtps.web.session.requests import Index, Name, OpenRequest, Refusal, malformed
from sdtps.web.session.tasks.browse import record_card
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import HeldSet, PageBackend

MAX_LENGTH = 50
LOADED_BYTES = 512 * 1024 * 1024
BATCH = 4  # small, so that a picture that somebody opens meanwhile does not wait long for the backbone

log = logging.getLogger(__name__)
_loaded: ByteLru[FolderFeatures] = ByteLru(LOADED_BYTES, lambda found: found.features.nbytes)


class GalleryRequest(OpenRequest):
    """A gallery for the open set, by the settings of its features."""

    gallery: Index


class RankRequest(GalleryRequest):
    """How many results of a gallery."""

    length: Index = 10


class KeptRequest(OpenRequest):
    """One result of a rank list."""

    id: Name


def galleries(backend: "PageBackend", request: OpenRequest) -> Payload:
    """Every gallery with the features there are for the weights of the open set."""
    model = backend.held(request.key).model
    return {"galleries": [_gallery_card(backend, model, source) for source in backend.data.galleries]}


def index(backend: "PageBackend", request: GalleryRequest) -> Payload:
    """Start computing a gallery's features; a job."""
    opened, settings = backend.opened_whole(request)
    model, source = opened.model, gallery_of(backend, request)

    def work(progress: Progress, _: Callable[[], bool]) -> Payload:
        dataset, split = source.dataset, source.dataset.gallery
        try:
            backend.data.store.features(model, dataset, split, settings, batch=BATCH, progress=progress)
        except OSError:
            log.exception("Features could not be written.")
            text = "The features cannot be written to the cache folder; choose another with --cache."
            raise Refusal("rank.disk", text) from None
        return _gallery_card(backend, model, source)

    return backend.jobs.start(work, Lane.GALLERY)


@dataclass(frozen=True)
class Listed:
    """A rank list with what is needed to draw it; pixels are None for a set that is gone since it was indexed."""

    held: "HeldSet"
    source: NamedDataset
    analysis: Analysis
    ranking: RankList
    pixels: list[dict[str, Pixels | None]]


def listed(backend: "PageBackend", request: RankRequest) -> Listed:
    """The rank list that a request asks for, by the settings that the gallery's features were made with."""
    held, source = backend.held(request.key), gallery_of(backend, request)
    opened, settings = backend.opened_whole(request)
    analysis = opened.analyse(settings)
    found = features_of(backend, opened.model, source, settings)
    ranking = search(held, source, found, analysis, min(max(1, request.length), MAX_LENGTH))
    pixels = [_pixels_of(backend, opened.model, source, match) for match in ranking.matches]
    return Listed(held, source, analysis, ranking, pixels)


def nearest(backend: "PageBackend", request: RankRequest) -> Payload:
    """The rank list of the open set."""
    found = listed(backend, request)
    held, source, ranking = found.held, found.source, found.ranking
    query, pixels = None if held.located is None else record_card(held.located), held.prepared.pixels
    return {
        "query": {"record": query, "photos": _photos(pixels), "masks": _masks(found.analysis, pixels)},
        "comparable": _comparable(held, source),
        "apart": str(source.dataset.layout.apart),
        "searched": ranking.searched,
        "left_out": ranking.left_out,
        "right": ranking.right,
        "average_precision": ranking.average_precision,
        "first_right": ranking.first_right,
        "rows": [
            record_card(_located(source, match))
            | {"distance": match.distance, "same": match.same, "photos": _photos(pixels)}
            for match, pixels in zip(ranking.matches, found.pixels, strict=True)
        ],
    }


def kept(backend: "PageBackend", request: KeptRequest) -> Payload:
    """Which patches of a result are kept, by the settings of the list."""
    opened, settings = backend.opened_whole(request)
    located = backend.data.find(request.id)
    triplet = backend.data.read(located, Fit.STRETCH)
    result = OpenSet.of(opened.model, triplet, located.record.cam, asked=False)
    return {"masks": _masks(result.analyse(settings), result.prepared.pixels)}


def search(held: "HeldSet", source: NamedDataset, found: FolderFeatures, analysis: Analysis, length: int) -> RankList:
    """The gallery's sets nearest to an open one, whose analysis has the settings of the features."""
    query = held.located.record if held.located is not None and _comparable(held, source) else None
    return found.gallery.search(analysis.feature, query, source.dataset.layout.apart, length)


def _comparable(held: "HeldSet", source: NamedDataset) -> bool:
    """Identities of different data sets have nothing to do with each other."""
    return held.located is not None and held.located.source is source


def features_of(backend: "PageBackend", model: LoadedModel, source: NamedDataset, settings: Settings) -> FolderFeatures:
    """A gallery's features by these settings; refused where it is not indexed."""
    dataset, split, store = source.dataset, source.dataset.gallery, backend.data.store
    available = (s for s in store.available(model, dataset, split) if not s.missing and _fits(s.settings, settings))
    stored = next(available, None)
    if stored is None or stored.done < stored.total:
        raise Refusal("rank.none", "This gallery has no features for these settings yet; index it first.")
    found = _loaded.get(stored.path)
    if found is None:
        found = store.features(model, dataset, split, settings)[NOTHING]
        _loaded.put(stored.path, found)
    return found


def _fits(stored: Settings, asked: Settings) -> bool:
    return all(getattr(stored, name) == getattr(asked, name) for name in SETTINGS)


def _gallery_card(backend: "PageBackend", model: LoadedModel, source: NamedDataset) -> Payload:
    dataset, split = source.dataset, source.dataset.gallery
    available = backend.data.store.available(model, dataset, split)
    return {
        "name": source.label,
        "layout": dataset.layout.name,
        "split": source.shown_split(split),
        "count": len(dataset.listing(split).records),
        "indexes": [
            {"settings": {n: getattr(s.settings, n) for n in SETTINGS}, "done": s.done, "total": s.total}
            for s in available
            if not s.missing
        ],
    }


def _located(source: NamedDataset, match: Match) -> Located:
    split = source.dataset.gallery
    return source.at(split, source.place(split, match.record))


def _pixels_of(
    backend: "PageBackend", model: LoadedModel, source: NamedDataset, match: Match
) -> dict[str, Pixels | None]:
    try:
        triplet = backend.data.read(_located(source, match), Fit.STRETCH)
    except InputError:  # gone since it was indexed; its place in the list is still true
        return {str(m): None for m in MODALITIES}
    return dict(prepare(triplet, model.net.backbone.input_size).pixels)


def _photos(pixels: Mapping[str, Pixels | None]) -> dict[str, str | None]:
    """As the model sees them."""
    return {m: None if p is None else photo_url(p, quality=80) for m, p in pixels.items()}


def _masks(analysis: Analysis, pixels: Mapping[str, Pixels | None]) -> dict[str, Any]:
    """The kept patches, and how bright each patch is, so that dropped ones are darker than kept ones."""
    bright = {m: None if p is None else payload.pack(brightness(p, analysis.grid)) for m, p in pixels.items()}
    return {
        "brightness": bright,
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        **{str(m): payload.pack_bytes(analysis[m].mask.astype("uint8")) for m in MODALITIES},
    }


def gallery_of(backend: "PageBackend", request: GalleryRequest) -> NamedDataset:
    """The gallery that a request names."""
    if request.gallery >= len(backend.data.galleries):
        raise malformed()
    return backend.data.galleries[request.gallery]


TASKS = {
    "rank.galleries": Task(OpenRequest, galleries),
    "rank.index": Task(GalleryRequest, index),
    "rank.list": Task(RankRequest, nearest),
    "rank.kept": Task(KeptRequest, kept),
}
