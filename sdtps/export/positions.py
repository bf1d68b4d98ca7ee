"""Slider positions of a selector besides SDTPS, computed beforehand for a page without a server.

Its knobs are its own, so nothing is known of which map follows which slider: every position holds all that moves.
"""

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from sdtps.export import payload
from sdtps.panels import SLIDERS
from sdtps.pipeline import OpenSet
from sdtps.support.progress import Progress
from sdtps.types import Analysis, Payload, Settings
from sdtps.variants import get_variant

Axes = dict[str, tuple[float, ...]]
# Stops of the first slider and of each further one, from many to few.
PLANS = ((21, 5), (11, 3), (1, 1))


def axes_of(analysis: Analysis, plan: tuple[int, int]) -> Axes:
    """What can be moved, and where to: some stops of each slider, the analysis' own among them."""
    variant = get_variant(analysis.settings.variant)
    ends: dict[str, Sequence[float]] = {name: SLIDERS[name].stops() for name in variant.reads if name in SLIDERS}
    for knob in variant.knobs:
        high = min(knob.high, analysis.grid.patches) if knob.step == 1 else knob.high
        ends[knob.name] = tuple(np.round(np.arange(knob.low, high + knob.step / 2, knob.step), 6).tolist())
    counts = (plan[0], *[plan[1]] * len(ends))
    return {
        name: _some(stops, count, _value(analysis.settings, name))
        for (name, stops), count in zip(ends.items(), counts, strict=False)
    }


def _some(stops: Sequence[float], count: int, own: float) -> tuple[float, ...]:
    chosen = [] if count < 2 else [stops[i] for i in np.linspace(0, len(stops) - 1, min(count, len(stops))).astype(int)]
    return tuple(sorted({*map(float, chosen), own}))


def _value(settings: Settings, name: str) -> float:
    if name in settings.knobs:
        return float(settings.knobs[name])
    knob = get_variant(settings.variant).knob(name)
    return float(getattr(settings, name) if knob is None else knob.default)


def placed(settings: Settings, values: dict[str, float]) -> Settings:
    """The settings with sliders and knobs at these values."""
    variant = get_variant(settings.variant)
    knobs = {name: v for name, v in values.items() if variant.knob(name) is not None}
    plain = {name: v for name, v in values.items() if name not in knobs}
    return replace(settings, **plain, knobs={**settings.knobs, **knobs})  # type: ignore[arg-type]


def positions(opened: OpenSet, analysis: Analysis, axes: Axes, progress: Progress | None = None) -> Payload:
    """Every position, in the order of the axes, the last of them fastest; as one gzip."""
    total = prod(map(len, axes.values()))
    found = []
    for done, place in enumerate(product(*axes.values())):
        settings = placed(analysis.settings, dict(zip(axes, place, strict=True)))
        found.append(payload.moving(opened.analyse(settings)))
        if progress is not None:
            progress(done + 1, total)
    content = gzip.compress(json.dumps(found, separators=(",", ":")).encode(), 9, mtime=0)
    return {
        "axes": [[name, list(stops)] for name, stops in axes.items()],
        "content": base64.b64encode(content).decode(),
    }
