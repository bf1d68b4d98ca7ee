"""Bodies that are under way: each keeps a pace, and where there is no room for more, the oldest makes it.

Who sends most gives way first, so nobody can fill the place and then hang.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Iterator

PAUSE_SECONDS = 15.0  # between two pieces
BASE_SECONDS, SLOWEST = 30.0, 32 * 1024  # time for any body, and bytes a second beyond that, at any moment


class NoRoom(Exception):
    """What is held is whole and being answered; nothing of it can make room."""


class Arrival:
    """One body; inside `keeping_pace`, a TimeoutError ends what is too slow or makes room.

    Args:
        address: of the sender.
        pause: seconds that the sender may be silent.
        base: seconds that any body may take.
    """

    def __init__(self, address: str, pause: float = PAUSE_SECONDS, base: float = BASE_SECONDS) -> None:
        self.address, self.pause, self.base = address, pause, base
        self.bytes = 0
        self.ended = False
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self.clock = asyncio.timeout_at(self._start + min(pause, base))

    def heard(self) -> None:
        """A piece came: so long until the next one."""
        if self.ended:
            raise TimeoutError
        slowest = self._start + self.base + self.bytes / SLOWEST
        with contextlib.suppress(RuntimeError):  # its time is up already
            self.clock.reschedule(min(self._loop.time() + self.pause, slowest))

    def end(self) -> None:
        """Make room."""
        self.ended = True
        with contextlib.suppress(RuntimeError):
            self.clock.reschedule(self._loop.time())


class Arrivals:
    """All bodies that are held.

    Args:
        most: bytes of all; half of them for one address.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.held: Counter[str] = Counter()  # bytes, by address
        self._unfinished: dict[Arrival, None] = {}  # the oldest first

    @contextlib.contextmanager
    def holding(self, body: Arrival) -> Iterator[None]:
        """Count a body until it is answered."""
        try:
            yield
        finally:
            self.held[body.address] -= body.bytes
            self.held += Counter()  # forgets who has nothing under way

    @contextlib.asynccontextmanager
    async def keeping_pace(self, body: Arrival) -> AsyncIterator[None]:
        """While it arrives."""
        async with body.clock:
            self._unfinished[body] = None
            try:
                yield
            finally:
                self._unfinished.pop(body, None)

    def add(self, body: Arrival, count: int) -> None:
        """So many more bytes of a body; others may have to end for them."""
        body.bytes += count
        self.held[body.address] += count
        while (crowded := self._crowded(body.address)) is not None:
            oldest = next((b for b in self._unfinished if b.address == crowded), body)
            if oldest is body:
                raise NoRoom
            del self._unfinished[oldest]
            self.held[crowded] -= oldest.bytes
            oldest.bytes = 0
            oldest.end()
        body.heard()

    def _crowded(self, address: str) -> str | None:
        if self.held[address] > self.most // 2:
            return address
        return max(self.held, key=self.held.__getitem__) if self.held.total() > self.most else None
