"""What a case of the corpus is."""

from collections.abc import Callable
from dataclasses import dataclass

GOOD = "good"  # the file is taken: a picture, an opened bundle, loaded weights


@dataclass(frozen=True)
class Case:
    """One file and the end it must come to.

    Attributes:
        name: what the file is called when it is sent.
        make: its bytes.
        ends: `GOOD`, or the code of the one sentence; several where the decoder of this machine may decide.
        notes: codes of what must be said about a picture that is taken.
        like: what a picture must look like; see `pictures.LOOKS`.
    """

    name: str
    make: Callable[[], bytes]
    ends: tuple[str, ...] = (GOOD,)
    notes: tuple[str, ...] = ()
    like: str = ""


def refused(name: str, make: Callable[[], bytes], *codes: str) -> Case:
    """A file that ends in one of these sentences."""
    return Case(name, make, codes)


def constant(content: bytes) -> Callable[[], bytes]:
    """A maker of bytes that are there already."""
    return lambda: content
