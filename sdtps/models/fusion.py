"""What comes after the selection in the author's own test: the common shape of the fusion heads."""

from typing import NamedTuple

from torch import Tensor


class Fused(NamedTuple):
    """A part of the test feature, and what the head says about the modalities on its way."""

    feature: Tensor  # (B, D)
    numbers: dict[str, Tensor]  # (B, ...) by name: expert weights, gates, attention
