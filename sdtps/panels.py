"""The one table of panels and sliders: what is shown, in which order, from which numbers, by which equation.

Page, figure, comparison and exports read it; the browser receives it with the page. A panel is one entry here and its
words in `web/static/texts` (`column.NAME`, `explain.NAME`), a slider one entry and `setting.NAME`.

Equations are written once, with `_{}` and `^{}` for lower and upper indices.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from sdtps.types import MODALITIES, FloatArray, Modality, ModalityTrace, Settings
from sdtps.variants import VARIANTS, Group, MapSpec, Score, Variant, get_variant

if TYPE_CHECKING:
    from sdtps.algorithm.scoring import ScoreWeights

Range = list[float]


class Kind(StrEnum):
    """How a panel is drawn."""

    PHOTO = "photo"
    HEAT = "heat"
    KEPT = "kept"  # the photograph with dropped patches darkened


class Bounds(StrEnum):
    """The range that one colour bar for all three modalities has."""

    UNIT = "unit"  # 0 to 1
    FROM_ZERO = "from zero"  # 0 to the largest value
    FREE = "free"  # from the smallest to the largest value
    SCORE = "score"  # what equation 3 allows; from the smallest to the largest where it bounds nothing


@dataclass(frozen=True)
class Panel:
    """One column of the grid.

    Attributes:
        name: in links, options and texts.
        kind: how it is drawn.
        group: the step of the method.
        symbol, equation: in the notation of this module.
        values: a trace and its modality to the (N,) map; None where the weights lack it. Batched traces work, too.
        raw: the numbers before normalisation, where they are shown besides.
        bounds: range of the shared colour bar.
        own_zero: the map's own range begins at 0, too.
        equations, symbols, bounds_of: by variant, where it computes the panel in another way.
        other: which of the two other modalities the map compares with.
        sliders: what changes it; a page without a server holds its numbers for every stop of these.
        shares: its values are whole numbers of Gumbel draws, divided by their number.
        masked: dropped patches are darkened on it.
        tokens: one aggregated token can be chosen in it.
        compact: it is among the columns of a narrow figure.
        title: where no text of its name exists.
    """

    name: str
    kind: Kind
    group: Group
    symbol: str
    equation: str
    values: Callable[[Any, Modality], Any] | None = None
    raw: Callable[[Any, Modality], Any] | None = None
    bounds: Bounds = Bounds.UNIT
    own_zero: bool = False
    equations: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    bounds_of: Mapping[str, Bounds] = field(default_factory=dict)
    other: int | None = None
    sliders: tuple[str, ...] = ()
    shares: bool = False
    masked: bool = False
    tokens: bool = False
    compact: bool = True
    title: str = ""

    def as_dict(self) -> dict[str, Any]:
        """What the browser needs to draw it."""
        return {
            "name": self.name,
            "kind": self.kind,
            "group": self.group,
            "symbol": markup(self.symbol),
            "equation": markup(self.equation),
            "equations": {variant: markup(text) for variant, text in self.equations.items()},
            "symbols": {variant: markup(text) for variant, text in self.symbols.items()},
            "title": self.title or self.name,
            "other": self.other,
            "sliders": list(self.sliders),
            "shares": self.shares,
            "masked": self.masked,
            "tokens": self.tokens,
            "what_if": self.group is Group.WHAT_IF,
            "compact": self.compact,
        }


@dataclass(frozen=True)
class Slider:
    """One number of `Settings` that a reader can move.

    Attributes:
        name: of the field in `Settings`.
        symbol: as in the equations.
        low, high, step: its range; a logarithmic slider steps in powers of ten.
        log: whether it is logarithmic.
        meaning: what it says, for the help of commands.
    """

    name: str
    symbol: str
    low: float
    high: float
    meaning: str
    step: float = 0.01
    log: bool = False

    def as_dict(self) -> dict[str, Any]:
        """What the browser needs to draw it."""
        return {name: getattr(self, name) for name in ("name", "symbol", "low", "high", "step", "log")}

    def stops(self) -> list[float]:
        """Every value it can take."""
        if self.log:  # twenty in a factor of ten, and exactly 1
            powers = [float(f"{10 ** (k / 20):.3g}") for k in range(-40, 41)]
            return [value for value in powers if self.low <= value <= self.high]
        return [round(k * self.step, 4) for k in range(round(self.low / self.step), round(self.high / self.step) + 1)]


def _cross(which: int) -> Panel:
    symbol = f"s_{{c{which + 1}}}"
    return Panel(
        f"cross{which + 1}",
        Kind.HEAT,
        Group.EVIDENCE,
        symbol,
        f"{symbol}[i] = Norm( cos(p_{{i}}, g_{{{'AB'[which]}}}) )",
        lambda trace, m: trace.cross_attention[m.others[which]],
        lambda trace, m: trace.raw_cross_attention[m.others[which]],
        other=which,
        compact=which == 0,
    )


_MEAN_SELF = "s_{im}[i] = Norm( cos(p_{i}, mean p) )"
PANELS: dict[str, Panel] = {
    panel.name: panel
    for panel in (
        Panel("input", Kind.PHOTO, Group.EVIDENCE, "p", "x → p_{1}, …, p_{N}"),
        Panel(
            "self",
            Kind.HEAT,
            Group.EVIDENCE,
            "s_{im}",
            "s_{im}[i] = Norm( cos(p_{i}, g_{m}) )",
            lambda trace, _: trace.self_attention,
            lambda trace, _: trace.raw_self_attention,
            equations={"open-source": _MEAN_SELF, "paper": _MEAN_SELF},
        ),
        _cross(0),
        _cross(1),
        Panel(
            "predictor",
            Kind.HEAT,
            Group.EVIDENCE,
            "s_{p}",
            "s_{p}[i] = σ( MLP(p_{i}) )",
            lambda trace, _: trace.predictor,
            compact=False,
        ),
        Panel(
            "score",
            Kind.HEAT,
            Group.DECISION,
            "s",
            "s = (1 − 2β) s_{p} + β ( s_{c1} + s_{c2} + 2 s_{im} )",
            lambda trace, _: trace.score,
            bounds=Bounds.SCORE,
            equations={"open-source": "s[i] = cos(p_{i}, mean p) + cos(p_{i}, g_{A}) + cos(p_{i}, g_{B})"},
            sliders=("beta",),
        ),
        Panel(
            "kept",
            Kind.KEPT,
            Group.DECISION,
            "D",
            "K = ⌈ρN⌉,  D[i] = 1 ⇔ rank(s[i]) ≤ K",
            sliders=("beta", "sparse_ratio"),
            masked=True,
        ),
        Panel(
            "aggregation",
            Kind.HEAT,
            Group.OUTPUT,
            "W",
            "v̂_{j} = Σ_{i} W_{ji} p_{i},  W = softmax_{K}( MLP(p) )",
            lambda trace, _: trace.aggregation_total,
            bounds=Bounds.FROM_ZERO,
            own_zero=True,
            equations={
                "paper": "v̂_{j} = Σ_{i} W^{s}_{ji} p^{s}_{i} + Σ_{i} W^{d}_{ji} p^{d}_{i}",
                "first": "W = I,  v̂_{j} = p_{j}",
                "importance": "v̂_{j} = Σ_{i} W_{ji} p_{i},  W = softmax_{K}( MLP(p) + log softmax_{K}(s) )",
            },
            sliders=("beta", "aggr_ratio", "sparse_ratio"),
            masked=True,
            tokens=True,
        ),
        Panel(
            "soft",
            Kind.HEAT,
            Group.WHAT_IF,
            "D̃",
            "D̃ = softmax_{N}( s / τ )",
            lambda trace, _: trace.soft_mask,
            bounds=Bounds.FROM_ZERO,
            sliders=("beta", "tau"),
            compact=False,
        ),
        Panel(
            "frequency",
            Kind.HEAT,
            Group.WHAT_IF,
            "P(kept)",
            "share of draws with i ∈ topK( s / τ + Gumbel )",
            lambda trace, _: trace.selection_frequency,
            sliders=("beta", "tau", "sparse_ratio"),
            shares=True,
            compact=False,
        ),
    )
}
HEAT_PANELS = {name: panel for name, panel in PANELS.items() if panel.values is not None}
SDTPS_PANELS = tuple(PANELS)

SLIDERS: dict[str, Slider] = {
    slider.name: slider
    for slider in (
        Slider("sparse_ratio", "ρ", 0.05, 1.0, "share of patches kept"),
        Slider("aggr_ratio", "α", 0.05, 1.0, "kept patches are blended into N x this x sparse ratio tokens"),
        Slider("beta", "β", 0.0, 0.5, "attention (similarity) against predictor, 0 to 0.5"),
        Slider("tau", "τ", 0.05, 10.0, "temperature of the what-if maps; changes no choice", log=True),
    )
}


def markup(notation: str) -> str:
    """The notation as HTML."""
    lower = re.sub(r"_\{([^}]*)\}", r"<sub>\1</sub>", notation.replace(",  ", ", &ensp;"))
    return re.sub(r"\^\{([^}]*)\}", r"<sup>\1</sup>", lower)


def use_selector_file(path: str | os.PathLike[str]) -> None:
    """Run a Python file with a selector of one's own, and make its panels."""
    from sdtps.algorithm.selector_file import load_selector  # brings torch, too

    for selector in load_selector(path):
        add_maps_of(selector.variant)


def add_maps_of(variant: Variant) -> None:
    """Make the panels of a further selector: new ones, and its equations for those that there are."""
    for spec in variant.maps:
        bounds = _bounds_of(spec)
        known = PANELS.get(spec.name)
        if known is None:
            moved = () if spec.group is Group.EVIDENCE else (*variant.reads, *(k.name for k in variant.knobs))
            PANELS[spec.name] = Panel(
                spec.name, Kind.HEAT, spec.group, spec.symbol, spec.equation, _own_map(spec.name), bounds=bounds,
                own_zero=bounds is Bounds.FROM_ZERO, sliders=moved, title=spec.words,
            )  # fmt: skip
        else:
            PANELS[spec.name] = replace(
                known,
                equations={**known.equations, variant.name: spec.equation},
                symbols={**known.symbols, variant.name: spec.symbol},
                bounds_of={**known.bounds_of, variant.name: bounds},
            )
        if PANELS[spec.name].values is not None:
            HEAT_PANELS[spec.name] = PANELS[spec.name]


def panels_of(variant: str) -> tuple[str, ...]:
    """The panels that a variant has, from left to right."""
    own = get_variant(variant).maps
    if own:
        return ("input", *(spec.name for spec in own))
    return tuple(name for name in PANELS if name in SDTPS_PANELS)


def _bounds_of(spec: MapSpec) -> Bounds:
    if (spec.low, spec.high) == (0.0, 1.0):
        return Bounds.UNIT
    return Bounds.FROM_ZERO if spec.low == 0.0 else Bounds.FREE


def _own_map(name: str) -> Callable[[Any, Modality], Any]:
    return lambda trace, _m: trace.maps.get(name)


for _variant in VARIANTS.values():
    add_maps_of(_variant)


def settings_line(settings: Settings) -> str:
    """The values that the variant reads, as one line."""
    variant = get_variant(settings.variant)
    parts = [f"{s.symbol} = {getattr(settings, name):g}" for name, s in SLIDERS.items() if name in variant.reads]
    parts += [f"{k.symbol} = {settings.knobs[k.name]:g}" for k in variant.knobs if k.name in settings.knobs]
    return ", ".join(parts)


def maps_of(trace: ModalityTrace, modality: str, *, moving: bool | None = None) -> dict[str, FloatArray | None]:
    """(N,) heat maps of a trace by panel, None where the weights lack one.

    Args:
        trace: the numbers.
        modality: of the trace.
        moving: only those that a slider changes, or only those that none does; all by default.
    """
    return {
        name: panel.values(trace, Modality(modality))
        for name, panel in HEAT_PANELS.items()
        if panel.values is not None and moving in (None, bool(panel.sliders))
    }


def own_ranges(maps: Mapping[str, FloatArray | None]) -> dict[str, Range]:
    """Each map's own range."""
    return {
        name: [0.0 if PANELS[name].own_zero else float(values.min()), float(values.max())]
        for name, values in maps.items()
        if values is not None
    }


def shared_ranges(traces: Iterable[ModalityTrace], settings: Settings) -> dict[str, Range]:
    """One range per panel for the three modalities; where the equation bounds a map, its bounds."""
    each = [maps_of(trace, m) for trace, m in zip(traces, MODALITIES, strict=True)]
    return {name: _shared(panel, [maps[name] for maps in each], each, settings) for name, panel in HEAT_PANELS.items()}


def _shared(
    panel: Panel, maps: list[FloatArray | None], each: list[dict[str, FloatArray | None]], settings: Settings
) -> Range:
    there = [values for values in maps if values is not None]
    bounds = panel.bounds_of.get(settings.variant, panel.bounds)
    if bounds is Bounds.UNIT:
        return [0.0, 1.0]
    if bounds is Bounds.FREE:
        lows, highs = ([float(f(values)) for values in there] for f in (np.min, np.max))
        return [min(lows, default=0.0), max(highs, default=0.0)]
    if bounds is Bounds.FROM_ZERO:
        return [0.0, max((float(values.max()) for values in there), default=0.0)]
    return score_bounds(settings, there, each[0]["predictor"] is not None)


def score_weights(settings: Settings) -> "ScoreWeights":
    """The weight of each part in the score."""
    from sdtps.algorithm.scoring import ScoreWeights  # brings torch, which the table itself does without

    if get_variant(settings.variant).score is Score.COSINES:
        return ScoreWeights(0.0, 1.0, 1.0)
    return ScoreWeights.fused(settings.beta)


def score_bounds(settings: Settings, scores: list[FloatArray], with_predictor: bool = True) -> Range:
    """The bounds of equation 3; for the plain sum of cosines, which it does not bound, what there is."""
    variant = get_variant(settings.variant)
    if variant.score is Score.COSINES or variant.selector != "sdtps":
        return [min(float(s.min()) for s in scores), max(float(s.max()) for s in scores)]
    weights = score_weights(settings)
    # Without a predictor its share of the score is 0.
    return [0.0, weights.self_attention + 2 * weights.cross_attention + (weights.predictor if with_predictor else 0.0)]
