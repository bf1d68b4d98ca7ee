"""SDTPS Lens: see which patches SDTPS keeps, and why.

import sdtps
model = sdtps.load_model()
analysis = sdtps.analyse(model, "rgb.png", "nir.png", "tir.png", sdtps.Settings(sparse_ratio=0.5))
analysis["rgb"].keep
analysis.show()
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sdtps.support.shown import Views, drawn_by

if TYPE_CHECKING:
    from sdtps.algorithm.module import MultiModalSDTPS
    from sdtps.checkpoints.load import load_model
    from sdtps.images.read import Fit, Triplet, read_triplet, read_wide
    from sdtps.pipeline import analyse, analyse_triplet
    from sdtps.runs.recorder import Recorder
    from sdtps.support.errors import CheckpointError, InputError, SettingsError
    from sdtps.tokens import analyse_tokens
    from sdtps.types import Analysis, Grid, Modality, ModalityTrace, Settings, WeightsReport
    from sdtps.variants import VARIANTS
    from sdtps.web.server.notebook import launch

__version__ = "0.2.0.dev0"

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


# Where each name lives; imported on first use, so that `--help` and the first answer of the server need no torch.
_HOMES = {
    "MultiModalSDTPS": "algorithm.module",
    "load_model": "checkpoints.load",
    **dict.fromkeys(("Fit", "Triplet", "read_triplet", "read_wide"), "images.read"),
    **dict.fromkeys(("analyse", "analyse_triplet"), "pipeline"),
    "Recorder": "runs.recorder",
    "analyse_tokens": "tokens",
    "launch": "web.server.notebook",
    **dict.fromkeys(("CheckpointError", "InputError", "SettingsError"), "support.errors"),
    **dict.fromkeys(("Analysis", "Grid", "Modality", "ModalityTrace", "Settings", "WeightsReport"), "types"),
    "VARIANTS": "variants",
}


def __getattr__(name: str) -> Any:
    """A public name, or a module of this package, on first use."""
    if name in _HOMES:
        value = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        return value
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What completion in a notebook offers."""
    return sorted({*globals(), *__all__})


def _notebook() -> Views:
    from sdtps.export import notebook

    return notebook


drawn_by(_notebook)
