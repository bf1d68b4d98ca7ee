"""The records that travel through the program: plain, frozen, NumPy only."""

from sdtps.types.analysis import Analysis
from sdtps.types.basic import MODALITIES, BoolArray, FloatArray, Grid, IntArray, Modality, Payload
from sdtps.types.settings import Settings
from sdtps.types.trace import ModalityTrace
from sdtps.types.weights import WeightsGroup, WeightsReport

__all__ = [
    "MODALITIES",
    "Analysis",
    "BoolArray",
    "FloatArray",
    "Grid",
    "IntArray",
    "Modality",
    "ModalityTrace",
    "Payload",
    "Settings",
    "WeightsGroup",
    "WeightsReport",
]
