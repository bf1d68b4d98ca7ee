"""PK batches: P identities with K views each, so that every batch has positives and negatives."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


class PkSampler:
    """Endless batches of indices, seeded.

    Args:
        pid: (n,) identity of every sample.
        identities: P.
        views: K; people with fewer are drawn with repetition.
        seed: of the order.
    """

    def __init__(self, pid: NDArray[np.int64], identities: int, views: int, seed: int) -> None:
        self._members = [np.flatnonzero(pid == p) for p in np.unique(pid)]
        if len(self._members) < identities:
            raise ValueError(f"A batch of {identities} identities needs as many; the data has {len(self._members)}.")
        self._identities, self._views = identities, views
        self.rng = np.random.default_rng(seed)

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        while True:
            order = self.rng.permutation(len(self._members))
            for start in range(0, len(order) - self._identities + 1, self._identities):
                chosen = [self._members[i] for i in order[start : start + self._identities]]
                yield np.concatenate([self.rng.choice(m, self._views, replace=len(m) < self._views) for m in chosen])
