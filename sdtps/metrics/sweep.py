"""One slider over its range: how K, the kept set, foreground precision and the feature follow it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.images.foreground import precision
from sdtps.metrics.compare import cosine
from sdtps.metrics.overlap import overlap
from sdtps.panels import SLIDERS
from sdtps.pipeline import OpenSet
from sdtps.types import MODALITIES, BoolArray, IntArray, Settings
from sdtps.variants import get_variant

Values = NDArray[np.float64]
STILL = 1e-6  # below that a curve does not move


@dataclass(frozen=True)
class Sweep:
    """A slider over V values, all else as in the settings. Curves are (V,) per modality that was given.

    Attributes:
        name: the slider.
        values: (V,) its values.
        now: the value in the settings: what sets and features are compared with.
        kept: (V,) K.
        tokens: (V,) N_c; 0 without an aggregation network.
        jaccard: overlap of the kept set with the one at `now`.
        corrected: the same corrected for chance; NaN where both keep everything.
        cosine: cosine of the modality's share of the feature with the one at `now`.
        precision: share of the kept patches that are the person; empty without a mask.
        masks: (V, N) the kept sets.
    """

    name: str
    values: Values
    now: float
    kept: IntArray
    tokens: IntArray
    jaccard: dict[str, Values]
    corrected: dict[str, Values]
    cosine: dict[str, Values]
    precision: dict[str, Values]
    masks: dict[str, BoolArray]

    @property
    def telling(self) -> tuple[str, ...]:
        """The curves that say something about the picture.

        The Jaccard index of nested sets is arithmetic (it is the ratio of their sizes, as against the sparse ratio
        alone), and what the slider does not move is no curve.
        """
        curves = []
        if not all(self._follows_from_sizes(m) for m in self.jaccard):
            curves.append("jaccard")
        if self.precision and any((mask != mask[0]).any() for mask in self.masks.values()):
            curves.append("precision")
        if any(np.nanmax(values) - np.nanmin(values) > STILL for values in self.cosine.values()):
            curves.append("cosine")
        return tuple(curves)

    def _follows_from_sizes(self, modality: str) -> bool:
        sizes = self.masks[modality].sum(1)
        now = sizes[int(np.argmin(np.abs(self.values - self.now)))]
        ratio = np.minimum(sizes, now) / np.maximum(sizes, now)
        return bool(np.allclose(self.jaccard[modality], ratio, atol=STILL))

    def as_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        return asdict(self) | {"telling": self.telling}


def sweep(
    opened: OpenSet,
    settings: Settings,
    name: str,
    values: Sequence[float] | Values,
    *,
    person: BoolArray | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Decide anew at every value of one slider.

    Args:
        opened: the image set; missing modalities get no curves.
        settings: where everything else stays.
        name: a slider of `panels.SLIDERS`, or a knob of the variant.
        values: the slider's values.
        person: (N,) True on the person's patches, where a mask is known.
        progress: called with (done, total); may raise to stop.
    """
    swept = (*SLIDERS, *(knob.name for knob in get_variant(settings.variant).knobs))
    if name not in swept:
        raise ValueError(f"There is no slider {name!r}; choose one of {', '.join(swept)}.")
    # The draws behind the selection frequency are no part of a sweep, and most of its cost.
    settings = replace(settings, draws=1)
    now = opened.analyse(settings)
    found = []
    for i, value in enumerate(values):
        if progress is not None:
            progress(i, len(values))
        found.append(opened.analyse(_at(settings, name, float(value))))
    given = [str(m) for m in MODALITIES if m not in opened.missing]
    overlaps = {m: [overlap(now[m].keep, a[m].keep, now.grid.patches) for a in found] for m in given}
    weights = [a[MODALITIES[0]].aggregation_weights for a in found]
    return Sweep(
        name=name,
        values=np.asarray(values, np.float64),
        now=float(getattr(settings, name) if name in SLIDERS else settings.knobs.get(name, np.nan)),
        kept=np.array([a[MODALITIES[0]].kept for a in found]),
        tokens=np.array([0 if w is None else len(w) for w in weights]),
        jaccard={m: np.array([o.jaccard for o in each]) for m, each in overlaps.items()},
        corrected={m: np.array([o.corrected for o in each]) for m, each in overlaps.items()},
        cosine={m: np.array([cosine(now.share(m), a.share(m)) for a in found]) for m in given},
        precision={} if person is None else {m: np.array([precision(person, a[m].keep) for a in found]) for m in given},
        masks={m: np.stack([a[m].mask for a in found]) for m in given},
    )


def _at(settings: Settings, name: str, value: float) -> Settings:
    return replace(settings, **({name: value} if name in SLIDERS else {"knobs": {**settings.knobs, name: value}}))
