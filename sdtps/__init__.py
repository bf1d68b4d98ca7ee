"""SDTPS Lens: see which patches SDTPS keeps, and why.

import sdtps
model = sdtps.load_model()
analysis = sdtps.analyse(model, "rgb.png", "nir.png", "tir.png", sdtps.Settings(sparse_ratio=0.5))
analysis["rgb"].keep
"""

from typing import TYPE_CHECKING, Any

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.checkpoints.load import load_model
from sdtps.images.read import Fit, Triplet, read_triplet, read_wide
from sdtps.pipeline import analyse, analyse_triplet
from sdtps.support.errors import CheckpointError, InputError, SettingsError
from sdtps.types import Analysis, Grid, Modality, ModalityTrace, Settings, WeightsReport
from sdtps.variants import VARIANTS

if TYPE_CHECKING:
    from sdtps.runs.recorder import Recorder

__version__ = "0.1.0"

__all__ = [
    "VARIANTS",
    "Analysis",
    "CheckpointError",
    "Fit",
    "Grid",
    "InputError",
    "Modality",
    "ModalityTrace",
    "MultiModalSDTPS",
    "Recorder",
    "Settings",
    "SettingsError",
    "Triplet",
    "WeightsReport",
    "analyse",
    "analyse_triplet",
    "load_model",
    "read_triplet",
    "read_wide",
]


def __getattr__(name: str) -> Any:
    """`Recorder` on first use: analysing needs none of it."""
    if name == "Recorder":
        from sdtps.runs.recorder import Recorder

        return Recorder
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
