"""Retrieval by the reference protocol: the numbers of a whole split, and the rank list of one query."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdtps.datasets import UNKNOWN, Apart, Record

MAX_RANK = 50
BLOCK = 256  # queries whose distances are held at once
ROWS = 2048  # gallery features that are widened to double precision at once: a large gallery is never copied whole
TINY = 1e-12

Features = NDArray[np.float32]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Retrieval:
    """mAP and cumulative matching; `skipped` queries had no match in the gallery."""

    mean_average_precision: float
    cmc: NDArray[np.float64]  # (50,) share of queries with a match within the first r + 1
    queries: int
    skipped: int

    def rank(self, r: int) -> float:
        """Rank-r accuracy."""
        return float(self.cmc[min(r, len(self.cmc)) - 1])


@dataclass(frozen=True)
class Match:
    """One result of a search.

    Attributes:
        number: its place in the gallery's list of records.
        record: the triplet.
        distance: squared Euclidean distance of the L2-normalised features, 0 to 4.
        same: the query's identity; None where that is unknown.
    """

    number: int
    record: Record
    distance: float
    same: bool | None


@dataclass(frozen=True)
class RankList:
    """The nearest of a gallery, best first.

    Attributes:
        matches: the first of them.
        searched: triplets that took part.
        left_out: triplets that the protocol leaves out (same identity, same camera or scene).
        right: how many of those searched show the query's identity; None where that is unknown.
        average_precision: over the whole gallery; None without a right one.
        first_right: place of the first right one, from 1; None without one.
    """

    matches: tuple[Match, ...]
    searched: int
    left_out: int
    right: int | None
    average_precision: float | None
    first_right: int | None


def distances(query: Features, gallery: Features) -> NDArray[np.float64]:
    """(Q, D) and (G, D) to (Q, G): squared Euclidean distances of the L2-normalised features."""
    q = _unit(query)
    found = np.empty((len(query), len(gallery)))
    for start in range(0, len(gallery), ROWS):
        wide = gallery[start : start + ROWS].astype(np.float64)
        norms = np.sqrt(np.einsum("gd,gd->g", wide, wide))
        found[:, start : start + ROWS] = q @ wide.T / np.maximum(norms, TINY)
    return np.maximum(2.0 - 2.0 * found, 0.0)


def average_precision(match: NDArray[np.bool_]) -> float:
    """Mean precision at the places of the right ones; `match` is in rank order and holds at least one."""
    places = np.flatnonzero(match)
    return float(np.mean((np.arange(len(places)) + 1) / (places + 1)))


def apart_labels(records: Sequence[Record], apart: Apart) -> Labels:
    """(n,) what a match must not share with its query: cameras, or scenes."""
    if apart is Apart.CAMERA:
        return np.array([r.cam for r in records], np.int64)
    return np.array([UNKNOWN if r.scene is None else r.scene for r in records], np.int64)


def retrieval(
    query: Features,
    query_pid: Labels,
    query_apart: Labels,
    gallery: Features,
    gallery_pid: Labels,
    gallery_apart: Labels,
) -> Retrieval:
    """mAP and cumulative matching; gallery items of the query's identity and camera (or scene) are left out.

    Args:
        query: (Q, D) features, with (Q,) identities and cameras or scenes; the gallery the same.
    """
    precisions, hits, skipped = [], [], 0
    for start in range(0, len(query), BLOCK):
        for i, row in enumerate(distances(query[start : start + BLOCK], gallery), start):
            if query_pid[i] == UNKNOWN:
                skipped += 1
                continue
            allowed = ~((gallery_pid == query_pid[i]) & (gallery_apart == query_apart[i]))
            order = np.argsort(row[allowed], kind="stable")
            match = gallery_pid[allowed][order] == query_pid[i]
            if not match.any():
                skipped += 1
                continue
            precisions.append(average_precision(match))
            hits.append(np.arange(MAX_RANK) >= np.argmax(match))
    if not hits:
        raise ValueError(
            "No query has a match under another camera or scene; the folder needs people seen by two cameras."
        )
    return Retrieval(float(np.mean(precisions)), np.mean(hits, axis=0), len(hits), skipped)


def rank_list(
    feature: Features, features: Features, records: Sequence[Record], query: Record | None, apart: Apart, length: int
) -> RankList:
    """The nearest of a gallery to one feature.

    Args:
        feature: (D,) of the query.
        features: (G, D) of the gallery.
        records: the gallery's triplets.
        query: the query's record, when it comes from the same data set; identities of another mean nothing here.
        apart: see `Apart`.
        length: how many matches to list.
    """
    known = query is not None and query.pid != UNKNOWN
    left_out = np.zeros(len(records), np.bool_)
    same = np.zeros(len(records), np.bool_)
    if query is not None and known:
        same = np.array([r.pid for r in records], np.int64) == query.pid
        left_out = same & (apart_labels(records, apart) == apart_labels([query], apart)[0])
    elif query is not None:
        left_out = np.array([r.paths == query.paths for r in records], np.bool_)
    searched = np.flatnonzero(~left_out)
    distance = distances(feature[None], features)[0][searched]  # of all: choosing rows first would copy them
    order = np.argsort(distance, kind="stable")
    match = same[searched][order]
    return RankList(
        matches=tuple(
            Match(
                int(searched[i]), records[searched[i]], float(distance[i]), bool(same[searched[i]]) if known else None
            )
            for i in order[:length]
        ),
        searched=len(searched),
        left_out=int(left_out.sum()),
        right=int(match.sum()) if known else None,
        average_precision=average_precision(match) if match.any() else None,
        first_right=int(np.argmax(match)) + 1 if match.any() else None,
    )


def _unit(features: Features) -> NDArray[np.float64]:
    """In double precision: a triplet must have distance 0 to itself."""
    wide = features.astype(np.float64)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), TINY)
