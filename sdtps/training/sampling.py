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
        world: (n,) where every sample was seen; people of one world meet in a batch, because those who share cameras
            are the ones that a query must be told from. One world by default.
    """

    def __init__(
        self,
        pid: NDArray[np.int64],
        identities: int,
        views: int,
        seed: int,
        world: NDArray[np.int64] | None = None,
    ) -> None:
        people, first = np.unique(pid, return_index=True)
        self._members = [np.flatnonzero(pid == p) for p in people]
        if len(self._members) < identities:
            raise ValueError(f"A batch of {identities} identities needs as many; the data has {len(self._members)}.")
        self._identities, self._views = identities, views
        self._world = np.zeros(len(people), np.int64) if world is None else world[first]
        self.rng = np.random.default_rng(seed)

    def _order(self) -> NDArray[np.int64]:
        """People in random order, world by world in random order."""
        place = self.rng.permutation(int(self._world.max()) + 1)[self._world]
        return np.lexsort((self.rng.random(len(self._members)), place))

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        while True:
            order = self._order()
            for start in range(0, len(order) - self._identities + 1, self._identities):
                chosen = [self._members[i] for i in order[start : start + self._identities]]
                yield np.concatenate([self.rng.choice(m, self._views, replace=len(m) < self._views) for m in chosen])
