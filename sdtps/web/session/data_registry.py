"""The data sets that the page may show: found by id, filtered, handed out in pages. A browser never names a path."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from sdtps.datasets import UNKNOWN, Broken, Dataset, Record
from sdtps.images.read import Fit, Triplet
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.support.errors import InputError
from sdtps.web.session.requests import Refusal


@dataclass(frozen=True)
class Located:
    """A record and where it belongs; `number` is its place in the split's list."""

    source: "NamedDataset"
    split: str
    number: int
    record: Record
    id: str


@dataclass(frozen=True)
class Filter:
    """Which records of a split to show; None and "" mean any."""

    pid: int | None = None
    cam: int | None = None
    search: str = ""

    def accepts(self, record: Record) -> bool:
        """Whether a record passes; the search ignores case."""
        return (
            (self.pid is None or record.pid == self.pid)
            and (self.cam is None or record.cam == self.cam)
            and self.search in record.name.lower()
        )


@dataclass(eq=False)
class NamedDataset:
    """One data set under the name that the page shows.

    Attributes:
        label: its name, unlike that of any other.
        dataset: the data set, confined to its folder.
        unreadable: by split, files that were found broken when they were opened.
    """

    label: str
    dataset: Dataset
    unreadable: dict[str, dict[str, Broken]] = field(default_factory=dict)
    _ids: dict[str, list[str]] = field(default_factory=dict)
    _numbers: dict[str, dict[Record, int]] = field(default_factory=dict)

    def ids(self, split: str) -> list[str]:
        """The records' ids, in the order of the listing; made once."""
        if split not in self._ids:
            records = self.dataset.listing(split).records
            self._ids[split] = [self.dataset.identifier(self.label, split, r) for r in records]
        return self._ids[split]

    def at(self, split: str, number: int) -> Located:
        """The record at a place."""
        return Located(self, split, number, self.dataset.listing(split).records[number], self.ids(split)[number])

    def place(self, split: str, record: Record) -> int:
        """Where a record stands in the listing."""
        if split not in self._numbers:
            self._numbers[split] = {r: i for i, r in enumerate(self.dataset.listing(split).records)}
        return self._numbers[split][record]

    def select(self, split: str, wanted: Filter) -> list[int]:
        """Places of the records that pass a filter."""
        return [i for i, record in enumerate(self.dataset.listing(split).records) if wanted.accepts(record)]

    def identities(self, split: str) -> list[int]:
        """Every identity of a split."""
        return sorted({r.pid for r in self.dataset.listing(split).records} - {UNKNOWN})

    def cameras(self, split: str) -> list[int]:
        """Every camera of a split, as file names write it."""
        first = self.dataset.layout.first_camera
        return sorted(cam + first for cam in {r.cam for r in self.dataset.listing(split).records} - {UNKNOWN})

    def broken(self, split: str) -> list[Broken]:
        """What is no triplet, and what turned out to be unreadable."""
        return [*self.dataset.listing(split).broken, *self.unreadable.get(split, {}).values()]


class DataRegistry:
    """The data sets of the page.

    Args:
        browsed: data sets that can be leafed through; each is a gallery, too.
        galleries: further data sets to search in.
        store: where features are kept.
    """

    def __init__(
        self, browsed: Sequence[Dataset] = (), galleries: Sequence[Dataset] = (), store: FeatureStore | None = None
    ) -> None:
        self.store = store or FeatureStore()
        self.galleries: list[NamedDataset] = []
        for dataset in (*browsed, *galleries):
            taken = sum(s.dataset.name == dataset.name for s in self.galleries)
            self.galleries.append(NamedDataset(f"{dataset.name} ({taken + 1})" if taken else dataset.name, dataset))
        self.browsed = self.galleries[: len(browsed)]
        self._places: dict[str, tuple[NamedDataset, str, int]] = {}
        self._known: set[tuple[int, str]] = set()
        self._lock = threading.Lock()

    def warm(self) -> None:
        """List the splits that are shown first, so that the first reader does not wait for it."""
        for source in self.browsed:
            source.ids(source.dataset.query)

    def find(self, identifier: str) -> Located:
        """The record of an id; splits that nobody looked at yet are listed when the id is not among the others."""
        with self._lock:
            for source in self.galleries:
                for split in source.dataset.folders:
                    if identifier in self._places:
                        break
                    self._learn(source, split)
            place = self._places.get(identifier)
        if place is None:
            raise Refusal("record.unknown", "This image set is not in the data folders; choose another.")
        return place[0].at(*place[1:])

    def read(self, located: Located, fit: Fit) -> Triplet:
        """The pictures of a record; a broken one is remembered for the list of broken files."""
        try:
            return located.source.dataset.read(located.record, fit)
        except InputError as error:
            name = located.record.name
            located.source.unreadable.setdefault(located.split, {})[name] = Broken(name, error.message)
            raise

    def _learn(self, source: NamedDataset, split: str) -> None:
        if (id(source), split) in self._known:
            return
        self._known.add((id(source), split))
        for number, identifier in enumerate(source.ids(split)):
            self._places.setdefault(identifier, (source, split, number))
