"""Memory that large pictures leave behind: the C library keeps freed pages unless it is asked for them."""

import ctypes
import sys
from functools import lru_cache
from typing import Any


def give_back() -> None:
    """Return freed memory to the system, where the C library can; a few milliseconds."""
    if (trim := _trim()) is not None:
        trim(0)


@lru_cache(maxsize=1)
def _trim() -> Any:
    """glibc's `malloc_trim`, or None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):  # another C library
        return None
