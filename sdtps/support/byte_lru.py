"""A least-recently-used cache bounded in bytes, safe to share between threads."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MAX_ITEMS = 4096
Value = TypeVar("Value")


class ByteLru(Generic[Value]):
    """Keeps the most recently used values within a budget.

    Args:
        max_bytes: the budget; a value larger than it is returned to the caller but not kept.
        max_items: the most values, for small ones cost more than their bytes.
        size_of: bytes of a value.
    """

    def __init__(self, max_bytes: int, size_of: Callable[[Value], int], max_items: int = MAX_ITEMS) -> None:
        self.max_bytes = max_bytes
        self.max_items = max_items
        self._size_of = size_of
        self._items: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Hashable) -> Value | None:
        """The value, marked as just used, or None."""
        with self._lock:
            if key not in self._items:
                return None
            self._items.move_to_end(key)
            return self._items[key][0]

    def put(self, key: Hashable, value: Value) -> None:
        """Keep a value, dropping the least recently used until it fits."""
        size = self._size_of(value)
        if size > self.max_bytes:
            return
        with self._lock:
            self._discard(key)
            self._items[key] = (value, size)
            self.bytes += size
            while self.bytes > self.max_bytes or len(self._items) > self.max_items:
                self._discard(next(iter(self._items)))

    def discard_where(self, matches: Callable[[Hashable], bool]) -> None:
        """Drop every entry whose key matches, such as those of weights that were unloaded."""
        with self._lock:
            for key in [k for k in self._items if matches(k)]:
                self._discard(key)

    def clear(self) -> None:
        """Drop everything."""
        self.discard_where(lambda _: True)

    def _discard(self, key: Hashable) -> None:
        if key in self._items:
            self.bytes -= self._items.pop(key)[1]
