"""Retrieval as a function of how much each identity counts: what an interval over identities is made from.

A data set shows some identities of many. Had other identities been filmed, queries and distractors would have been
others, so both are drawn anew: identity i counts w_i times as a query and w_i times in everybody else's gallery.
With w = 1 the numbers are those of the reference protocol.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdtps.datasets import UNKNOWN
from sdtps.retrieval.ranking import distances

RANKS = (1, 5, 10)
METRICS = ("mAP", *(f"Rank-{r}" for r in RANKS))
BLOCK = 256  # queries whose distances are held at once
CELLS = 8_000_000  # numbers of one product; weights are taken in parts of that size

Values = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """Features with what the protocol needs: (n, D), (n,) identities, (n,) cameras or scenes."""

    features: NDArray[np.float32]
    pid: Labels
    apart: Labels


@dataclass(frozen=True)
class Judged:
    """The rank lists of one feature. Q queries that have a match, P right results in all, I identities.

    Attributes:
        identities: (I,) every identity of query and gallery.
        query: (Q,) places of the queries in the query's list.
        owner: (Q,) place of each query's identity among the identities.
        first: (Q,) the row where a query's right results begin.
        place: (P,) 1 for a query's nearest right result, 2 for the next, and so on.
        before: (P, I) how many results of each other identity stand before it.
    """

    identities: Labels
    query: Labels
    owner: Labels
    first: Labels
    place: Values
    before: NDArray[np.float32]

    @property
    def counts(self) -> Values:
        """(I,) queries of each identity."""
        return np.bincount(self.owner, minlength=len(self.identities)).astype(np.float64)

    def scores(self, weights: Values | None = None) -> Values:
        """(B, 4) mAP and Rank-k with weights (B, I) of the identities; all 1 by default."""
        weights = np.ones((1, len(self.identities))) if weights is None else weights
        return np.einsum("bmi,bi->bm", self.sums(weights), weights) / (weights @ self.counts)[:, None]

    def sums(self, weights: Values) -> Values:
        """(B, 4, I) each metric summed over the queries of each identity, with weights (B, I) of the distractors."""
        step = max(1, CELLS // max(1, len(self.before)))
        parts = [self._sums(weights[i : i + step]) for i in range(0, len(weights), step)]
        return np.concatenate(parts)

    def by_query(self) -> Values:
        """(Q, 4) average precision and whether a match is within the first k, of each query."""
        return self._each(np.ones((1, len(self.identities))))[..., 0].T

    def _sums(self, weights: Values) -> Values:
        order = np.argsort(self.owner, kind="stable")
        owners, first = np.unique(self.owner[order], return_index=True)
        found = np.zeros((len(weights), len(METRICS), len(self.identities)))
        found[..., owners] = np.add.reduceat(self._each(weights)[:, order], first, axis=1).transpose(2, 0, 1)
        return found

    def _each(self, weights: Values) -> Values:
        """(4, Q, B)."""
        others = (self.before @ weights.astype(np.float32).T).astype(np.float64)  # (P, B)
        place = self.place[:, None]
        counts = np.diff(np.append(self.first, len(self.place)))[:, None]
        precision = np.add.reduceat(place / (place + others), self.first, axis=0) / counts
        return np.stack([precision, *((others[self.first] < r - 1e-3).astype(np.float64) for r in RANKS)])


def judge(query: Labelled, gallery: Labelled) -> Judged:
    """Search every query in the gallery by the reference protocol.

    Raises:
        ValueError: no query has a match under another camera or scene.
    """
    identities = np.unique(np.concatenate([query.pid, gallery.pid]))
    identities = identities[identities != UNKNOWN]
    column = np.searchsorted(identities, gallery.pid)
    numbers, owners, places, before = [], [], [], []
    for start in range(0, len(query.features), BLOCK):
        for i, row in enumerate(distances(query.features[start : start + BLOCK], gallery.features), start):
            if query.pid[i] == UNKNOWN:
                continue
            same = gallery.pid == query.pid[i]
            allowed = ~(same & (gallery.apart == query.apart[i])) & (gallery.pid != UNKNOWN)
            order = np.flatnonzero(allowed)[np.argsort(row[allowed], kind="stable")]
            right = np.flatnonzero(same[order])
            if not len(right):
                continue
            numbers.append(i)
            owners.append(int(np.searchsorted(identities, query.pid[i])))
            places.append(np.arange(1, len(right) + 1, dtype=np.float64))
            before.append(_before(column[order], right, len(identities)))
    if not numbers:
        text = "No query has a match under another camera or scene; the folder needs people seen by two cameras."
        raise ValueError(text)
    lengths = [len(p) for p in places]
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return Judged(
        identities, np.array(numbers), np.array(owners), first, np.concatenate(places), np.concatenate(before)
    )


def _before(column: Labels, right: Labels, identities: int) -> NDArray[np.float32]:
    """(p, I) results of each other identity before each of the right ones at these ranks."""
    segment = np.searchsorted(right, np.arange(right[-1]), side="right")  # which right one comes next
    wrong = ~np.isin(np.arange(right[-1]), right)
    flat = segment[wrong] * identities + column[: right[-1]][wrong]
    counts = np.bincount(flat, minlength=len(right) * identities).reshape(len(right), identities)
    return np.cumsum(counts, axis=0).astype(np.float32)
