"""Retrieval by the reference protocol: the numbers of a whole split, and the rank list of one query."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sdtps.datasets import UNKNOWN, Apart, Record

MAX_RANK = 50
BLOCK = 256  # queries whose distances are held at once
ROWS = 2048  # gallery features that are widened to double precision at once: a large gallery is never copied whole
TINY = 1e-12
EXACT = 64  # places of a rank list that are exact, however few are shown

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


class Gallery:
    """What is searched, with what a search needs besides, computed once.

    Args:
        features: (G, D).
        records: the G triplets.
    """

    def __init__(self, features: Features, records: Sequence[Record]) -> None:
        self.features, self.records = features, records
        self._apart: dict[Apart, Labels] = {}

    @cached_property
    def scale(self) -> Features:
        """(G,) one over the length of each feature."""
        norms = np.empty(len(self.features))
        for start in range(0, len(norms), ROWS):
            wide = self.features[start : start + ROWS].astype(np.float64)
            norms[start : start + ROWS] = np.sqrt(np.einsum("gd,gd->g", wide, wide))
        return (1 / np.maximum(norms, TINY)).astype(np.float32)

    @cached_property
    def pid(self) -> Labels:
        """(G,) identities."""
        return np.array([r.pid for r in self.records], np.int64)

    def apart(self, rule: Apart) -> Labels:
        """(G,) cameras or scenes."""
        if rule not in self._apart:
            self._apart[rule] = apart_labels(self.records, rule)
        return self._apart[rule]

    def search(self, feature: Features, query: Record | None, apart: Apart, length: int) -> RankList:
        """The nearest to one feature; see `rank_list`."""
        known = query is not None and query.pid != UNKNOWN
        left_out = same = np.zeros(len(self.records), np.bool_)
        if query is not None and known:
            same = self.pid == query.pid
            left_out = same & (self.apart(apart) == apart_labels([query], apart)[0])
        elif query is not None:
            left_out = np.array([r.paths == query.paths for r in self.records], np.bool_)
        searched = len(self.records) - int(np.count_nonzero(left_out))
        cosine = self._cosines(feature)
        cosine[left_out] = -np.inf
        best, exact = self._best(feature, cosine, min(max(length, EXACT), searched))
        places = _places(cosine, best, np.flatnonzero(same & ~left_out))
        return RankList(
            matches=tuple(
                Match(int(i), self.records[i], float(d), bool(same[i]) if known else None)
                for i, d in zip(best[:length], exact[:length], strict=True)
            ),
            searched=searched,
            left_out=len(self.records) - searched,
            right=len(places) if known else None,
            average_precision=float(np.mean((np.arange(len(places)) + 1) / places)) if len(places) else None,
            first_right=int(places[0]) if len(places) else None,
        )

    def _cosines(self, feature: Features) -> Features:
        """(G,) in single precision: one pass over the gallery at the speed of its memory."""
        unit = _unit(feature[None])[0].astype(np.float32)
        return np.asarray(self.features @ unit, np.float32) * self.scale

    def _best(self, feature: Features, cosine: Features, count: int) -> tuple[Labels, NDArray[np.float64]]:
        """The first `count` and whatever single precision cannot tell from them, by their distances in double."""
        if count == 0:
            return np.empty(0, np.int64), np.empty(0)
        last = np.partition(cosine, len(cosine) - count)[len(cosine) - count]
        # |error of a dot product| <= D u |a| |b| in any order of summation (u = 2^-24); the rest is for the scaling.
        slack = 2 * (self.features.shape[1] + 8) * 2.0**-24
        near = np.flatnonzero(cosine >= last - slack)
        exact = distances(feature[None], self.features[near])[0]
        order = np.argsort(exact, kind="stable")
        return near[order], exact[order]


def _places(cosine: Features, best: Labels, right: Labels) -> NDArray[np.int64]:
    """Places of the right ones from 1, in order: exact among the best, behind them by single precision."""
    place = np.zeros(len(cosine), np.int64)
    place[best] = np.arange(1, len(best) + 1)
    behind = right[place[right] == 0]
    worse = cosine.copy()
    worse[best] = -np.inf
    rising = np.sort(worse)
    found = len(best) + len(rising) - np.searchsorted(rising, cosine[behind], side="right") + 1
    return np.sort(np.concatenate([place[right][place[right] > 0], _one_after_another(np.sort(found))]))


def _one_after_another(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Right ones that are equal to the last bit stand behind each other, not in one place."""
    for i in range(1, len(places)):
        places[i] = max(places[i], places[i - 1] + 1)
    return places


def rank_list(
    feature: Features, features: Features, records: Sequence[Record], query: Record | None, apart: Apart, length: int
) -> RankList:
    """The nearest of a gallery to one feature.

    The first `EXACT` places, at least those that are listed, are in the order of distances in double precision; the
    places of right ones behind them, which only average precision asks for, are those of single precision.

    Args:
        feature: (D,) of the query.
        features: (G, D) of the gallery.
        records: the gallery's triplets.
        query: the query's record, when it comes from the same data set; identities of another mean nothing here.
        apart: see `Apart`.
        length: how many matches to list.
    """
    return Gallery(features, records).search(feature, query, apart, length)


def _unit(features: Features) -> NDArray[np.float64]:
    """In double precision: a triplet must have distance 0 to itself."""
    wide = features.astype(np.float64)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), TINY)
