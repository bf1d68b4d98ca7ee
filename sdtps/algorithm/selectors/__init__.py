"""Selectors besides the SDTPS module: one file each, known by the name of their variant."""

from sdtps.algorithm.selectors.sim import SelectiveInteraction
from sdtps.algorithm.selectors.soft import SoftSDTPS

__all__ = ["SelectiveInteraction", "SoftSDTPS"]
