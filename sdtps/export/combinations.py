"""Where DeMo's seven combinations of modalities look (HDM): maps and shares of its attention, for page and exports."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sdtps.models.moe import COMBINATIONS
from sdtps.types import MODALITIES, Analysis

ATTENTION = "attention_"  # before a combination's name among the numbers of the fusion


def looks_of(analysis: Analysis) -> dict[str, Mapping[str, NDArray[np.float32]]]:
    """Combination → modality → (1 + N,) attention of its token: to the global vector, then to the patches.

    All of a combination sums to 1; modalities that are not in it are left out. Empty without HDM.
    """
    found: dict[str, Mapping[str, NDArray[np.float32]]] = {}
    for name in COMBINATIONS:
        seen = analysis.fusion.get(ATTENTION + name)
        if seen is not None:
            parts = np.split(np.asarray(seen, np.float32), len(name))
            found[name] = {str(m): part for m, part in zip(_modalities(name), parts, strict=True)}
    return found


def _modalities(name: str) -> list[str]:
    return [m for letter in name for m in MODALITIES if m[0] == letter]
