"""Who asks: an address and a session, so that no visitor takes the places of all others. The server says who it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass
class Visitor:
    """Where a request comes from.

    Attributes:
        address: of the connection; empty for work that nobody outside asked for: the start, commands, tests.
        session: of the page, as far as it is known; it is found in what the browser sends while that arrives.
    """

    address: str = ""
    session: str = ""

    @property
    def name(self) -> tuple[str, str]:
        """The same as a key."""
        return self.address, self.session


_visitor: ContextVar[Visitor | None] = ContextVar("visitor", default=None)


def visitor() -> Visitor:
    """The visitor whose request is being answered."""
    return _visitor.get() or Visitor()


@contextmanager
def answering(who: Visitor) -> Iterator[None]:
    """Everything in here is done for this visitor."""
    token = _visitor.set(who)
    try:
        yield
    finally:
        _visitor.reset(token)
