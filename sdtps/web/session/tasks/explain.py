"""Why a result stands where it stands: its cosine with the query by patches, and what removing patches changes."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from sdtps.images.read import Fit
from sdtps.pipeline import OpenSet
from sdtps.retrieval.explain import Apart, Patch, Term, Values, cosine, explain, take_apart, to_win
from sdtps.retrieval.features import FolderFeatures
from sdtps.retrieval.ranking import RankList, rank_list
from sdtps.types import MODALITIES, Payload
from sdtps.web.session.data_registry import NamedDataset
from sdtps.web.session.requests import Index, ModalityName, Name, Request, malformed
from sdtps.web.session.tasks import ranks
from sdtps.web.session.tasks.browse import record_card
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import HeldSet, PageBackend

LINES = 5  # pairs of patches that are drawn in each modality; more is a tangle
MOST = 512  # removed patches


class RemovedPatch(Request):
    """A patch that is taken away."""

    modality: ModalityName
    patch: Index


class ExplainRequest(ranks.GalleryRequest):
    """One result of a rank list, and which patches of the query and of it are taken away."""

    id: Name
    query_removed: Annotated[list[RemovedPatch], Field(default_factory=list, max_length=MOST)]
    result_removed: Annotated[list[RemovedPatch], Field(default_factory=list, max_length=MOST)]


def match(backend: "PageBackend", request: ExplainRequest) -> Payload:
    """The cosine taken apart, and where the result stands without the removed patches."""
    held, source = backend.held(request.key), ranks.gallery_of(backend, request)
    opened, settings = backend.opened_whole(request)
    located = backend.data.find(request.id)
    triplet = backend.data.read(located, Fit.STRETCH)
    result = OpenSet.of(opened.model, triplet, located.record.cam, asked=False)
    found = ranks.features_of(backend, opened.model, source, settings)
    query, other = take_apart(opened, settings), take_apart(result, settings)
    number = next((i for i, r in enumerate(found.records) if r == located.record), None)
    if number is None:
        raise malformed()
    gone = [_patches(query, request.query_removed), _patches(other, request.result_removed)]
    left = query.without(gone[0])
    features = found.features
    if gone[1]:
        features = features.copy()
        features[number] = other.without(gone[1]).astype(np.float32)
    ranked = partial(_ranking, held, source, found)
    before = ranked(query.feature, found.features)
    after = ranked(left, features) if any(gone) else before
    told = explain(query, other)
    return {
        "cosine": told.cosine,
        "terms": [_term(term) for term in told.terms],
        "whole": list(query.whole),
        "shares": {m: [side.tolist() for side in told.by_patch(m)] for m in told.pairs},
        "lines": [[m, i, k, value] for m, i, k, value in told.strongest(LINES)],
        "kept": {str(m): [side.kept[m].astype(int).tolist() for side in (query, other)] for m in MODALITIES},
        "after": cosine(left, other.without(gone[1])),
        "place": _place(before, number),
        "place_after": _place(after, number),
        "first_right": before.first_right,
        "first_right_after": after.first_right,
        "win": _win(query, other, source, before, number, ranked, found.features),
        "record": record_card(located),
    }


def _ranking(held: "HeldSet", source: NamedDataset, found: FolderFeatures, feature: Values, features: Any) -> RankList:
    query = held.located.record if held.located is not None and held.located.source is source else None
    return rank_list(
        feature.astype(np.float32), features, found.records, query, source.dataset.layout.apart, len(found.records)
    )


def _place(ranking: RankList, number: int) -> int | None:
    """From 1; None for a result that the protocol leaves out."""
    return next((i for i, m in enumerate(ranking.matches, 1) if m.number == number), None)


def _win(
    query: Apart,
    wrong: Apart,
    source: NamedDataset,
    before: RankList,
    number: int,
    ranked: Callable[[Values, Any], RankList],
    features: Any,
) -> Payload | None:
    """For a wrong result: what would have to go for the best right one to be nearer; None where it is none.

    Others may still stand before the right one then, so its place before and after is told.
    """
    match = next((m for m in before.matches if m.number == number), None)
    right = next((m for m in before.matches if m.same), None)
    if match is None or right is None or match.same or match.same is None:
        return None
    patches = to_win(query, features[right.number].astype(np.float64), wrong.feature)
    name = source.shown_name(source.place(source.dataset.gallery, right.record), right.record)
    if patches is None:
        return {"name": name, "patches": None}
    after = ranked(query.without(patches), features) if patches else before
    places = {"place": _place(before, right.number), "place_after": _place(after, right.number)}
    return {"name": name, "patches": [list(p) for p in patches], **places}


def _patches(apart: Apart, removed: list[RemovedPatch]) -> list[Patch]:
    patches = list(dict.fromkeys((str(r.modality), r.patch) for r in removed))
    if any(m not in apart.places or i >= len(apart.kept[m]) for m, i in patches):
        raise malformed()
    return patches


def _term(term: Term) -> Payload:
    return {"part": term.part, "modality": term.modality, "value": term.value, "by_patch": term.by_patch}


TASKS = {"rank.explain": Task(ExplainRequest, match)}
