"""Banks of precomputed noise, shared by every sample.

Spectral noise is too slow to make per image, so a fixed set is made once per process from a fixed seed and each
sample takes random crops and flips of it. The bank does not depend on the sample seed.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from .types import CANVAS_H, CANVAS_W, FloatArray

_BANK_SEED = 20240201
_FIELD_H, _FIELD_W = 400, 256
_FIELDS_PER_KIND = 10

# kind: (spectral slope, vertical stretch, lowest and highest frequency kept)
_KINDS: dict[str, tuple[float, float, float, float]] = {
    "cloud": (2.0, 1.0, 0.004, 0.2),
    "patch": (1.5, 1.0, 0.02, 0.12),
    "mottle": (1.0, 1.0, 0.03, 0.3),
    "grain": (0.4, 1.0, 0.05, 0.5),
    "upright": (1.3, 4.0, 0.012, 0.3),
    "flat": (1.3, 0.25, 0.012, 0.3),
    "folds": (1.2, 1.8, 0.015, 0.06),
    "outline": (1.0, 0.8, 0.02, 0.07),
    "white": (0.0, 1.0, 0.0, 9.0),
}


@dataclass(frozen=True)
class NoiseBank:
    """Zero mean, unit deviation fields, (n, 400, 256) float32 per kind."""

    fields: dict[str, FloatArray]

    def draw(self, rng: np.random.Generator, kind: str) -> FloatArray:
        """One random crop, (CANVAS_H, CANVAS_W) float32, possibly mirrored or negated."""
        stack = self.fields[kind]
        index, top, left, turn = rng.integers(
            0, (len(stack), _FIELD_H - CANVAS_H + 1, _FIELD_W - CANVAS_W + 1, 8)
        ).tolist()
        crop: FloatArray = stack[index, top : top + CANVAS_H, left : left + CANVAS_W]
        if turn & 1:
            crop = crop[:, ::-1]
        if turn & 2:
            crop = crop[::-1]
        return -crop if turn & 4 else crop


def _field(rng: np.random.Generator, slope: float, stretch: float, low: float, high: float) -> FloatArray:
    fy = np.fft.fftfreq(_FIELD_H)[:, None] * np.sqrt(stretch)
    fx = np.fft.rfftfreq(_FIELD_W)[None] / np.sqrt(stretch)
    frequency = np.hypot(fy, fx)
    spectrum = (frequency + max(low, 1e-3)) ** -slope * np.exp(2j * np.pi * rng.random(frequency.shape))
    spectrum *= np.exp(-((frequency / high) ** 2))
    spectrum[frequency < low] = 0
    field = np.fft.irfft2(spectrum, (_FIELD_H, _FIELD_W))
    return ((field - field.mean()) / field.std()).astype(np.float32)


def _creased(rng: np.random.Generator) -> FloatArray:
    """Cloth: soft undulation with thin creases where a second field crosses zero."""
    soft = _field(rng, *_KINDS["folds"])
    crease = np.exp(-((_field(rng, 1.0, 1.5, 0.012, 0.07) / 0.22) ** 2)) * (_field(rng, *_KINDS["folds"]) > 0)
    field = soft - 1.6 * crease + 0.35 * _field(rng, *_KINDS["mottle"])
    return ((field - field.mean()) / field.std()).astype(np.float32)


@cache
def noise_bank() -> NoiseBank:
    """The bank of this process, built on first use."""
    rng = np.random.default_rng(_BANK_SEED)
    fields = {kind: np.stack([_field(rng, *how) for _ in range(_FIELDS_PER_KIND)]) for kind, how in _KINDS.items()}
    fields["folds"] = np.stack([_creased(rng) for _ in range(_FIELDS_PER_KIND)])
    return NoiseBank(fields)
