"""SDTPS Lens: see which patches SDTPS keeps, and why.

import sdtps
model = sdtps.load_model()
analysis = sdtps.analyse(model, "rgb.png", "nir.png", "tir.png", sdtps.Settings(sparse_ratio=0.5))
analysis["rgb"].keep
analysis.show()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.checkpoints.load import load_model
from sdtps.images.read import Fit, Triplet, read_triplet, read_wide
from sdtps.pipeline import analyse, analyse_triplet
from sdtps.support.errors import CheckpointError, InputError, SettingsError
from sdtps.support.shown import Views, drawn_by
from sdtps.types import Analysis, Grid, Modality, ModalityTrace, Settings, WeightsReport
from sdtps.variants import VARIANTS

if TYPE_CHECKING:
    from sdtps.runs.recorder import Recorder
    from sdtps.tokens import analyse_tokens
    from sdtps.web.server.notebook import launch

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
    "analyse_tokens",
    "analyse_triplet",
    "launch",
    "load_model",
    "read_triplet",
    "read_wide",
]


# On first use: analysing needs none of them.
_LATER = {
    "Recorder": "sdtps.runs.recorder",
    "analyse_tokens": "sdtps.tokens",
    "launch": "sdtps.web.server.notebook",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def _notebook() -> Views:
    from sdtps.export import notebook

    return notebook


drawn_by(_notebook)
