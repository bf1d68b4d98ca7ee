"""Rank lists: which galleries have features, making them, and the nearest triplets to the one on screen."""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sdtps import panels
from sdtps.images.read import Fit, prepare
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import camera_label, decide, encode
from sdtps.retrieval.feature_store import SETTINGS
from sdtps.retrieval.features import NOTHING, FolderFeatures
from sdtps.retrieval.ranking import Match, RankList, rank_list
from sdtps.support.byte_lru import ByteLru
from sdtps.support.messages import InputError, Message
from sdtps.types import MODALITIES, Analysis, Settings
from sdtps.variants import get_variant
from sdtps.web.session.data_registry import Located, Shelf
from sdtps.web.session.jobs import Progress
from sdtps.web.session.requests import Refusal, malformed, name_field, number_field, parse_settings
from sdtps.web.session.tasks.browse import record_card

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sdtps.panels import Pixels
    from sdtps.web.session.session import Open, Workbench
    from sdtps.web.session.tasks import Fields, Payload

MAX_LENGTH = 50
LOADED_BYTES = 512 * 1024 * 1024
BATCH = 4  # small, so that a picture that somebody opens meanwhile does not wait long for the backbone

log = logging.getLogger(__name__)
_loaded: ByteLru[FolderFeatures] = ByteLru(LOADED_BYTES, lambda found: found.features.nbytes)


def galleries(workbench: "Workbench", fields: "Fields") -> "Payload":
    """Every gallery with the features there are for the weights of the open triplet."""
    model = workbench.opened(fields.get("key")).model
    return {"galleries": [_gallery_card(workbench, model, shelf) for shelf in workbench.library.galleries]}


def index(workbench: "Workbench", fields: "Fields") -> "Payload":
    """Start computing a gallery's features; a job."""
    model = workbench.opened(fields.get("key")).model
    shelf = _shelf(workbench, fields)
    settings = _settings(model, fields)

    def work(progress: Progress, _: "Callable[[], bool]") -> "Payload":
        dataset, split = shelf.dataset, shelf.dataset.gallery
        try:
            workbench.library.store.features(model, dataset, split, settings, batch=BATCH, progress=progress)
        except OSError:
            log.exception("Features could not be written.")
            raise Refusal(
                Message("rank.disk", "The features cannot be written to the cache folder; choose another with --cache.")
            ) from None
        return _gallery_card(workbench, model, shelf)

    return workbench.jobs.start(work)


@dataclass(frozen=True)
class Listed:
    """A rank list with what is needed to draw it; pixels are None for a triplet that is gone since it was indexed."""

    opened: "Open"
    shelf: Shelf
    analysis: Analysis
    ranking: RankList
    pixels: "list[dict[str, Pixels | None]]"


def listed(workbench: "Workbench", fields: "Fields") -> Listed:
    """The rank list that a request asks for, by the settings that the gallery's features were made with."""
    opened = workbench.opened(fields.get("key"))
    shelf = _shelf(workbench, fields)
    settings = _settings(opened.model, fields)
    length = min(max(1, number_field(fields, "length", 10)), MAX_LENGTH)
    found = _features(workbench, opened.model, shelf, settings)
    analysis = _analysis(opened, settings)
    ranking = search(opened, shelf, found, analysis, length)
    pixels = [_pixels_of(workbench, opened.model, shelf, match) for match in ranking.matches]
    return Listed(opened, shelf, analysis, ranking, pixels)


def nearest(workbench: "Workbench", fields: "Fields") -> "Payload":
    """The rank list of the open triplet."""
    found = listed(workbench, fields)
    opened, shelf, ranking = found.opened, found.shelf, found.ranking
    query = None if opened.located is None else record_card(opened.located)
    return {
        "query": {"record": query, "photos": _photos(opened.prepared.pixels), "masks": _masks(found.analysis)},
        "comparable": _comparable(opened, shelf),
        "apart": str(shelf.dataset.layout.apart),
        "searched": ranking.searched,
        "left_out": ranking.left_out,
        "right": ranking.right,
        "average_precision": ranking.average_precision,
        "first_right": ranking.first_right,
        "rows": [
            record_card(_located(shelf, match))
            | {"distance": match.distance, "same": match.same, "photos": _photos(pixels)}
            for match, pixels in zip(ranking.matches, found.pixels, strict=True)
        ],
    }


def kept(workbench: "Workbench", fields: "Fields") -> "Payload":
    """Which patches of a result are kept, by the settings of the list."""
    model = workbench.opened(fields.get("key")).model
    settings = _settings(model, fields)
    identifier = name_field(fields.get("id"))
    if identifier is None:
        raise malformed()
    located = workbench.library.find(identifier)
    triplet = workbench.library.read(located, Fit.STRETCH)
    label = camera_label(model, located.record.cam)
    encoding = encode(model, prepare(triplet, model.net.backbone.input_size), label)
    return {"masks": _masks(decide(model, encoding, settings))}


def search(opened: "Open", shelf: Shelf, found: FolderFeatures, analysis: Analysis, length: int) -> RankList:
    """The gallery's triplets nearest to an open one, whose analysis has the settings of the features."""
    query = opened.located.record if opened.located is not None and _comparable(opened, shelf) else None
    return rank_list(analysis.feature, found.features, found.records, query, shelf.dataset.layout.apart, length)


def _comparable(opened: "Open", shelf: Shelf) -> bool:
    """Identities of different data sets have nothing to do with each other."""
    return opened.located is not None and opened.located.shelf is shelf


def _analysis(opened: "Open", settings: Settings) -> Analysis:
    return decide(opened.model, encode(opened.model, opened.prepared, opened.camera), settings, (), opened.missing)


def _features(workbench: "Workbench", model: LoadedModel, shelf: Shelf, settings: Settings) -> FolderFeatures:
    dataset, split, store = shelf.dataset, shelf.dataset.gallery, workbench.library.store
    available = (s for s in store.available(model, dataset, split) if not s.missing and _fits(s.settings, settings))
    stored = next(available, None)
    if stored is None or stored.done < stored.total:
        raise Refusal(Message("rank.none", "This gallery has no features for these settings yet; index it first."))
    found = _loaded.get(stored.path)
    if found is None:
        found = store.features(model, dataset, split, settings)[NOTHING]
        _loaded.put(stored.path, found)
    return found


def _fits(stored: Settings, asked: Settings) -> bool:
    return all(getattr(stored, name) == getattr(asked, name) for name in SETTINGS)


def _gallery_card(workbench: "Workbench", model: LoadedModel, shelf: Shelf) -> "Payload":
    dataset, split = shelf.dataset, shelf.dataset.gallery
    available = workbench.library.store.available(model, dataset, split)
    return {
        "name": shelf.label,
        "layout": dataset.layout.name,
        "split": split,
        "count": len(dataset.listing(split).records),
        "indexes": [
            {"settings": {n: getattr(s.settings, n) for n in SETTINGS}, "done": s.done, "total": s.total}
            for s in available
            if not s.missing
        ],
    }


def _located(shelf: Shelf, match: Match) -> Located:
    split = shelf.dataset.gallery
    return shelf.at(split, shelf.place(split, match.record))


def _pixels_of(workbench: "Workbench", model: LoadedModel, shelf: Shelf, match: Match) -> "dict[str, Pixels | None]":
    try:
        triplet = workbench.library.read(_located(shelf, match), Fit.STRETCH)
    except InputError:  # gone since it was indexed; its place in the list is still true
        return {str(m): None for m in MODALITIES}
    return dict(prepare(triplet, model.net.backbone.input_size).pixels)


def _photos(pixels: "Mapping[str, Pixels | None]") -> dict[str, str | None]:
    """As the model sees them."""
    return {m: None if p is None else panels.photo_url(p, quality=80) for m, p in pixels.items()}


def _masks(analysis: Analysis) -> dict[str, Any]:
    return {
        "grid": {"rows": analysis.grid.rows, "cols": analysis.grid.cols},
        **{str(m): panels.pack_bytes(analysis[m].mask.astype("uint8")) for m in MODALITIES},
    }


def _shelf(workbench: "Workbench", fields: "Fields") -> Shelf:
    number = number_field(fields, "gallery")
    if number >= len(workbench.library.galleries):
        raise malformed()
    return workbench.library.galleries[number]


def _settings(model: LoadedModel, fields: "Fields") -> Settings:
    settings = parse_settings(fields.get("settings"))
    if lacking := model.net.sdtps.supports(get_variant(settings.variant)):
        raise Refusal(lacking)
    return settings


TASKS = {"rank.galleries": galleries, "rank.index": index, "rank.list": nearest, "rank.kept": kept}
