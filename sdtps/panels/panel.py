"""What a panel and a slider are, and how the browser is told of them.

Equations are written once, with `_{}` and `^{}` for lower and upper indices.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sdtps.types import Modality
from sdtps.variants import Group


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


def markup(notation: str) -> str:
    """The notation as HTML."""
    lower = re.sub(r"_\{([^}]*)\}", r"<sub>\1</sub>", notation.replace(",  ", ", &ensp;"))
    return re.sub(r"\^\{([^}]*)\}", r"<sup>\1</sup>", lower)
