"""What a browser may ask, checked field by field: nothing that comes over the wire is trusted."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sdtps.images.read import Fit
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Settings
from sdtps.variants import VARIANTS

MAX_NAME = 200
RANGES = {"sparse_ratio": (0.05, 1.0), "aggr_ratio": (0.05, 1.0), "beta": (0.0, 0.5), "tau": (0.05, 10.0)}
WIDE = "wide"
SLOTS = (*(str(m) for m in MODALITIES), WIDE)


class Refusal(ValueError):
    """A request that cannot be answered: one sentence, and the zone it concerns.

    Attributes:
        message: the sentence.
        zone: `rgb`, `nir`, `tir` or `wide`, where it concerns one.
        expired: modalities whose picture must be sent again.
    """

    def __init__(self, message: str, zone: str | None = None, expired: tuple[str, ...] = ()) -> None:
        self.message = message
        self.zone = zone
        self.expired = expired
        super().__init__(message)


def malformed() -> Refusal:
    """The answer to everything that our own page would never send."""
    return Refusal(Message("request.malformed", "The request was not understood; reload the page."))


@dataclass(frozen=True)
class PictureRef:
    """Where one picture comes from: a shipped example, a staged upload, or a record of a data folder."""

    example: str | None = None
    token: str | None = None
    record: str | None = None


@dataclass(frozen=True)
class AnalyseRequest:
    """A triplet, how to fit it, and the settings to show it with."""

    pictures: dict[str, PictureRef | None]
    leave_out: frozenset[str]
    fit: Fit
    weights: str | None
    settings: Settings
    matrix: bool


@dataclass(frozen=True)
class DecideRequest:
    """Other settings for a triplet that was analysed before."""

    key: str
    settings: Settings
    matrix: bool


def parse_analyse(data: object) -> AnalyseRequest:
    """Check an analyse request."""
    fields = _mapping(data)
    pictures = _mapping(fields.get("pictures"))
    left_out = fields.get("leave_out", [])
    if not isinstance(left_out, list):
        raise malformed()
    fit = fields.get("fit", Fit.STRETCH)
    if fit not in list(Fit):
        raise malformed()
    return AnalyseRequest(
        pictures={str(m): _picture(pictures.get(str(m))) for m in MODALITIES},
        leave_out=frozenset(str(m) for m in MODALITIES if m in left_out),
        fit=Fit(fit),
        weights=name_field(fields.get("weights")),
        settings=parse_settings(fields.get("settings")),
        matrix=fields.get("matrix") is True,
    )


def parse_decide(data: object) -> DecideRequest:
    """Check a slider move."""
    fields = _mapping(data)
    key = name_field(fields.get("key"))
    if key is None:
        raise malformed()
    return DecideRequest(key, parse_settings(fields.get("settings")), fields.get("matrix") is True)


def parse_settings(data: object) -> Settings:
    """Numbers are clamped into the sliders' ranges; what is not a number is refused."""
    fields = _mapping({} if data is None else data)
    values: dict[str, Any] = {}
    for name, (low, high) in RANGES.items():
        value = fields.get(name, getattr(Settings, name))
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise Refusal(Message("request.number", "{name} must be a number.", name=name))
        values[name] = min(max(float(value), low), high)
    variant = fields.get("variant", Settings.variant)
    if not isinstance(variant, str) or variant not in VARIANTS:
        raise Refusal(
            Message("request.variant", "There is no such variant; choose one of {names}.", names=", ".join(VARIANTS))
        )
    return Settings(**values, variant=variant)


def _picture(data: object) -> PictureRef | None:
    if data is None:
        return None
    fields = _mapping(data)
    ref = PictureRef(*(name_field(fields.get(kind)) for kind in ("example", "token", "record")))
    if sum(value is not None for value in (ref.example, ref.token, ref.record)) != 1:
        raise malformed()
    return ref


def _mapping(data: object) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise malformed()
    return data


def number_field(fields: Mapping[str, Any], name: str, default: int | None = None) -> int:
    """A whole number from 0; without a default it must be there."""
    value = fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise malformed()
    return value


def name_field(value: object) -> str | None:
    """A short text, or nothing."""
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
        raise malformed()
    return value
