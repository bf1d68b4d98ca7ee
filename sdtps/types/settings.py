"""What a user can change without running the backbone again, and within which bounds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from sdtps.support.errors import SettingsError
from sdtps.variants import DEFAULT_VARIANT, VARIANTS, Variant, get_variant


@dataclass(frozen=True)
class Settings:
    """Everything a user can change without running the backbone again.

    Attributes:
        sparse_ratio: share of patches that is kept, in (0, 1]; K = max(1, ceil(N * sparse_ratio)).
        aggr_ratio: aggregated tokens per kept share, in (0, 1]; N_c = int(N * aggr_ratio * sparse_ratio).
        beta: weight of the attention maps in the score, in [0, 0.5]; the predictor has 1 - 2 * beta.
        tau: temperature of the soft decision and of the Gumbel draws, above 0. It never changes the kept set.
        variant: a name of `sdtps.variants.VARIANTS`.
        draws: number of Gumbel top-K draws behind the selection frequency.
        seed: seed of those draws.
        knobs: numbers that the variant reads besides, by name; what is not given is as the weights were trained.
    """

    sparse_ratio: float = 0.5
    aggr_ratio: float = 0.4
    beta: float = 0.25
    tau: float = 1.0
    variant: str = DEFAULT_VARIANT
    draws: int = 64
    seed: int = 0
    knobs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_knobs(get_variant(self.variant))
        for name in ("sparse_ratio", "aggr_ratio"):
            if not 0.0 < getattr(self, name) <= 1.0:
                text = "{name} must lie above 0 and at most at 1, not at {value}."
                raise SettingsError("settings.ratio", text, name=name, value=getattr(self, name))
        if not 0.0 <= self.beta <= 0.5:
            raise SettingsError("settings.beta", "beta must lie between 0 and 0.5, not at {value}.", value=self.beta)
        if not (self.tau > 0.0 and math.isfinite(self.tau)):
            raise SettingsError("settings.tau", "tau must be a number above 0, not {value}.", value=self.tau)
        if not 1 <= self.draws <= 100_000:
            raise SettingsError(
                "settings.draws", "draws must lie between 1 and 100000, not at {value}.", value=self.draws
            )

    def _check_knobs(self, variant: Variant) -> None:
        own = {}
        for name, value in sorted(self.knobs.items()):
            knob = variant.knob(name)
            if knob is None and not any(v.knob(name) for v in VARIANTS.values()):
                text = "The variant {variant} has no {name}."
                raise SettingsError("settings.no_knob", text, variant=variant.name, name=name)
            if knob is not None and not knob.low <= value <= knob.high:
                text = "{name} must lie between {low} and {high}, not at {value}."
                raise SettingsError(
                    "settings.knob", text, name=name, low=f"{knob.low:g}", high=f"{knob.high:g}", value=value
                )
            if knob is not None:  # what another selector reads stays behind when the variant is changed
                own[name] = float(value)
        object.__setattr__(self, "knobs", MappingProxyType(own))

    def __hash__(self) -> int:
        return hash(tuple(tuple(v.items()) if isinstance(v, dict) else v for v in self.as_dict().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be sent to another process.
        return _settings_from, (self.as_dict(),)

    def as_dict(self) -> dict[str, Any]:
        """The settings as plain values, for JSON."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "knobs"}
        return values | ({"knobs": dict(self.knobs)} if self.knobs else {})


def _settings_from(values: dict[str, Any]) -> Settings:
    return Settings(**values)
