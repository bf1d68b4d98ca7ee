"""Does the kept set survive what should not matter: a little noise, a shift by one pixel, a mirror?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.metrics.overlap import Overlap, overlap
from sdtps.pipeline import OpenSet
from sdtps.types import MODALITIES, Analysis, Grid, IntArray

NOISE_SIGMA = 4.0  # grey levels of 255
NOISE_DRAWS = 2
Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Disturbance:
    """A change of the pictures that should not matter.

    Attributes:
        kind: `noise`, `shift` or `mirror`.
        change: (H, W, 3) pixels to pixels.
        back: patch indices of the changed picture to those of the original.
    """

    kind: str
    change: Callable[[Pixels], Pixels]
    back: Callable[[IntArray, Grid], IntArray] = lambda keep, _grid: keep


@dataclass(frozen=True)
class Stability:
    """Overlap of the kept sets before and after, per kind and modality; several draws of a kind are averaged."""

    overlaps: Mapping[str, Mapping[str, Overlap]]  # kind → modality → overlap

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {kind: {m: o.as_dict() for m, o in row.items()} for kind, row in self.overlaps.items()}


def disturbances(seed: int = 0) -> list[Disturbance]:
    """What the pictures are put through, each apart.

    - noise: Gaussian, sigma 4 of 255 grey levels, independent per pixel and channel, rounded and clipped; two draws.
    - shift: one pixel to the right, and one down; the uncovered edge repeats its neighbour.
    - mirror: left to right; its patches are mirrored back before they are compared.
    """
    return [
        *(Disturbance("noise", _noise(seed + i)) for i in range(NOISE_DRAWS)),
        Disturbance("shift", lambda p: np.concatenate([p[:, :1], p[:, :-1]], axis=1)),
        Disturbance("shift", lambda p: np.concatenate([p[:1], p[:-1]], axis=0)),
        Disturbance("mirror", lambda p: p[:, ::-1].copy(), _mirror_back),
    ]


def measure_stability(
    opened: OpenSet,
    analysis: Analysis,
    seed: int = 0,
    progress: Callable[[], None] | None = None,
) -> Stability:
    """Run the backbone on the disturbed pictures and compare the kept sets with those of the analysis.

    Args:
        opened: the image set.
        analysis: the kept sets to compare with, and the settings.
        seed: of the noise.
        progress: called before each of the `len(disturbances())` runs; may raise to stop.
    """
    found: dict[str, dict[str, list[Overlap]]] = {}
    for disturbance in disturbances(seed):
        if progress is not None:
            progress()
        pixels = {m: None if p is None else disturbance.change(p) for m, p in opened.prepared.pixels.items()}
        disturbed = opened.with_pixels(pixels).analyse(analysis.settings)
        row = found.setdefault(disturbance.kind, {})
        for m in MODALITIES:
            if m not in opened.missing:
                keep = disturbance.back(disturbed[m].keep, analysis.grid)
                row.setdefault(str(m), []).append(overlap(analysis[m].keep, keep, analysis.grid.patches))
    return Stability({kind: {m: _mean(each) for m, each in row.items()} for kind, row in found.items()})


def _noise(seed: int) -> Callable[[Pixels], Pixels]:
    def change(pixels: Pixels) -> Pixels:
        noise = np.random.default_rng(seed).normal(0.0, NOISE_SIGMA, pixels.shape)
        return np.clip(np.rint(pixels + noise), 0, 255).astype(np.uint8)

    return change


def _mirror_back(keep: IntArray, grid: Grid) -> IntArray:
    return keep // grid.cols * grid.cols + (grid.cols - 1 - keep % grid.cols)


def _mean(each: list[Overlap]) -> Overlap:
    return Overlap(
        float(np.mean([o.jaccard for o in each])),
        each[0].chance,
        float(np.mean([o.corrected for o in each])),
        round(float(np.mean([o.shared for o in each]))),
    )
