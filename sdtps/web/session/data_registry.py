"""The data sets that the page may show: found by id, filtered, handed out in pages. A browser never names a path."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from sdtps.datasets import UNKNOWN, Broken, Dataset, Record
from sdtps.images.read import Fit, Triplet
from sdtps.retrieval.feature_store import FeatureStore
from sdtps.support.errors import InputError
from sdtps.support.messages import Message
from sdtps.web.session.requests import Refusal

PLAIN = "plain folder"  # the layout whose splits are folders of any name


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

    def accepts(self, record: Record, name: str) -> bool:
        """Whether a record passes under the name that is shown; the search ignores case."""
        return (
            (self.pid is None or record.pid == self.pid)
            and (self.cam is None or record.cam == self.cam)
            and self.search in name.lower()
        )


@dataclass(eq=False)
class NamedDataset:
    """One data set under the name that the page shows.

    Attributes:
        label: its name, unlike that of any other.
        dataset: the data set, confined to its folder.
        anonymous: show numbers in place of names of folders and files.
        unreadable: by split, files that were found broken when they were opened.
    """

    label: str
    dataset: Dataset
    anonymous: bool = False
    unreadable: dict[str, dict[str, Broken]] = field(default_factory=dict)
    _ids: dict[str, list[str]] = field(default_factory=dict)
    _numbers: dict[str, dict[Record, int]] = field(default_factory=dict)

    @property
    def splits(self) -> dict[str, str]:
        """The splits as they are shown, and what they are called: a plain folder's are folders of its owner."""
        if not self.anonymous or self.dataset.layout.name != PLAIN:
            return {split: split for split in self.dataset.folders}
        return {f"part {i}": split for i, split in enumerate(self.dataset.folders, 1)}

    def shown_split(self, split: str) -> str:
        """What a split is called on the page."""
        return next((shown for shown, name in self.splits.items() if name == split), split)

    def shown_name(self, number: int, record: Record) -> str:
        """What a record is called on the page."""
        return f"image set {number + 1}" if self.anonymous else record.name

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
        records = self.dataset.listing(split).records
        return [i for i, record in enumerate(records) if wanted.accepts(record, self.shown_name(i, record))]

    def identities(self, split: str) -> list[int]:
        """Every identity of a split."""
        return sorted({r.pid for r in self.dataset.listing(split).records} - {UNKNOWN})

    def cameras(self, split: str) -> list[int]:
        """Every camera of a split, as file names write it."""
        first = self.dataset.layout.first_camera
        return sorted(cam + first for cam in {r.cam for r in self.dataset.listing(split).records} - {UNKNOWN})

    def broken(self, split: str) -> list[Broken]:
        """What is no triplet, and what turned out to be unreadable."""
        found = [*self.dataset.listing(split).broken, *self.unreadable.get(split, {}).values()]
        if not self.anonymous:
            return found
        return [Broken(f"file {i}", _nameless(b.why)) for i, b in enumerate(found, 1)]


class DataRegistry:
    """The data sets of the page.

    Args:
        browsed: data sets that can be leafed through; each is a gallery, too.
        galleries: further data sets to search in.
        store: where features are kept.
        anonymous: show no names of folders and files.
    """

    def __init__(
        self,
        browsed: Sequence[Dataset] = (),
        galleries: Sequence[Dataset] = (),
        store: FeatureStore | None = None,
        *,
        anonymous: bool = False,
    ) -> None:
        self.store = store or FeatureStore()
        self.galleries: list[NamedDataset] = []
        for dataset in (*browsed, *galleries):
            taken = sum(s.dataset.name == dataset.name for s in self.galleries)
            label = f"{dataset.name} ({taken + 1})" if taken else dataset.name
            if anonymous:
                label = f"data set {len(self.galleries) + 1}"
            self.galleries.append(NamedDataset(label, dataset, anonymous))
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
            if located.source.anonymous:
                error.message = _nameless(error.message)
            raise

    def _learn(self, source: NamedDataset, split: str) -> None:
        if (id(source), split) in self._known:
            return
        self._known.add((id(source), split))
        for number, identifier in enumerate(source.ids(split)):
            self._places.setdefault(identifier, (source, split, number))


def _nameless(why: Message) -> Message:
    """A sentence without the names of files in it."""
    told = any(isinstance(value, str) for name, value in why.values.items() if name != "lacking")
    return Message("data.hidden", "This image set cannot be read.") if told else why
