"""Rows with names as one array per name, in which a number that was never written is told from one that is NaN."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.runs.schema import Values

_MARK = np.uint64(0x7FF8_0000_0000_07A2)  # a NaN with a mark, as R's NA: what is computed from it is NaN
ABSENT = float(np.array(_MARK).view(np.float64))


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Values]:
    """One array per name; `ABSENT` where a row has no such number."""
    names = dict.fromkeys(name for row in rows for name, v in row.items() if is_number(v))
    return {name: np.array([v if is_number(v := row.get(name)) else ABSENT for row in rows], float) for name in names}


def is_absent(values: Values) -> NDArray[np.bool_]:
    """Where nothing was written; elsewhere a NaN is what was measured."""
    return np.asarray(values, np.float64).view(np.uint64) == _MARK


def is_number(value: Any) -> bool:
    """Whether a value of a row is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
