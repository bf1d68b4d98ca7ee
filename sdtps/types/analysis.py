"""The result: every number of one image set at one set of settings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sdtps.support.shown import Shown, describe_analysis
from sdtps.types.basic import FloatArray, Grid
from sdtps.types.settings import Settings
from sdtps.types.trace import ModalityTrace
from sdtps.types.weights import WeightsReport


@dataclass(frozen=True)
class Analysis(Shown):
    """One triplet, one set of weights, one set of settings: every number, and where it comes from.

    Attributes:
        traces: one trace per modality; `analysis["rgb"]` is short for it.
        grid: rows and columns of the patches.
        settings: the settings that were asked for.
        feature: (D,) the re-identification test feature, not normalised; `weights.facts["feature"]` names its parts,
            `weights.compared` says how many channels of a vector are in `ori` and `sdtps`.
        weights: report on the weights.
        notes: plain sentences on what was not done as asked (clamped, scaled, missing).
        camera: label of the camera embedding that was used; None where none was.
        fusion: what the fusion behind the selection says: expert weights, gates, attention; empty without one.
        pictures: (H, W, 3) per modality as the model saw them, None for a missing one; None where they are not known.
        opened: the image set in front of its model, from which sliders can move on; None where it is not at hand.
    """

    traces: Mapping[str, ModalityTrace]
    grid: Grid
    settings: Settings
    feature: FloatArray
    weights: WeightsReport
    notes: tuple[str, ...] = field(default=())
    camera: int | None = None
    fusion: Mapping[str, FloatArray] = field(default_factory=dict)
    pictures: Mapping[str, NDArray[np.uint8] | None] | None = field(default=None, compare=False)
    opened: object | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return describe_analysis(self)

    def __post_init__(self) -> None:
        object.__setattr__(self, "traces", MappingProxyType(dict(self.traces)))
        object.__setattr__(self, "fusion", MappingProxyType(dict(self.fusion)))
        self.feature.flags.writeable = False

    def __getitem__(self, modality: str) -> ModalityTrace:
        return self.traces[modality]

    def share(self, modality: str) -> FloatArray:
        """(C,) what a modality's selection puts into the feature: its pooled vector, as far as it is compared."""
        return self[modality].pooled[: self.weights.compared]
