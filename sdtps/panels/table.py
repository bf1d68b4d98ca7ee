"""The one table: which panels and sliders there are, in which order, from which numbers, by which equation."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sdtps.panels.panel import Bounds, Kind, Panel, Slider
from sdtps.types import Modality, Settings
from sdtps.variants import VARIANTS, Group, MapSpec, Variant, get_variant


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
