"""What a browser may ask, as models that check every field: nothing that comes over the wire is trusted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from sdtps.images.read import Fit
from sdtps.panels import SLIDERS
from sdtps.support.errors import LensError
from sdtps.types import MODALITIES, Settings
from sdtps.variants import VARIANTS, get_variant

MAX_NAME = 200
WIDE = "wide"
SLOTS = (*(str(m) for m in MODALITIES), WIDE)

Name = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME)]
Index = Annotated[int, Field(ge=0, lt=2**53)]  # as large as a number of a browser can be
Number = Annotated[float, Field(allow_inf_nan=False)]
ModalityName = Literal["rgb", "nir", "tir"]


class Refusal(LensError):
    """A request that cannot be answered: one sentence, and the zone it concerns.

    Args:
        code: stable name of the sentence, or the whole `Message`.
        template, values: see `LensError`.
        zone: `rgb`, `nir`, `tir` or `wide`, where it concerns one.
        expired: modalities whose picture must be sent again.
    """

    def __init__(
        self, code: str, template: str = "", *, zone: str | None = None, expired: tuple[str, ...] = (), **values: Any
    ) -> None:
        super().__init__(code, template, **values)
        self.zone = zone
        self.expired = expired


def malformed() -> Refusal:
    """The answer to everything that our own page would never send."""
    return Refusal("request.malformed", "The request was not understood; reload the page.")


class Request(BaseModel):
    """Fields of one request; values of another kind are refused, not converted."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")

    @classmethod
    def parse(cls, data: object) -> Self:
        """The request, or a refusal in one sentence."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise _refusal(error) from None


def _refusal(error: ValidationError) -> Refusal:
    """One sentence for the first field that is wrong."""
    place = error.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
    field = place[-1] if place else None
    if field in SLIDERS:
        return Refusal("request.number", "{name} must be a number.", name=str(field))
    if field == "variant":
        text = "There is no such variant; choose one of {names}."
        return Refusal("request.variant", text, names=", ".join(VARIANTS))
    return malformed()


def _known_variant(name: str) -> str:
    if name not in VARIANTS:
        raise ValueError(name)
    return name


class SettingsFields(Request):
    """The settings that a page sends; what it leaves out stays as the weights have it."""

    sparse_ratio: Number = 0.0
    aggr_ratio: Number = 0.0
    beta: Number = 0.0
    tau: Number = 0.0
    variant: Annotated[str, AfterValidator(_known_variant)] = ""
    knobs: dict[str, Number] = {}

    def over(self, base: Settings) -> Settings:
        """These settings over others; numbers are clamped into the sliders' ranges."""
        given: dict[str, Any] = {}
        for name in self.model_fields_set - {"knobs"}:
            value = getattr(self, name)
            given[name] = min(max(value, SLIDERS[name].low), SLIDERS[name].high) if name in SLIDERS else value
        variant = get_variant(given.get("variant", base.variant))
        asked = {**base.knobs, **self.knobs}
        given["knobs"] = {k.name: min(max(asked[k.name], k.low), k.high) for k in variant.knobs if k.name in asked}
        return replace(base, **given)


class WithSettings(Request):
    """A request that may name settings."""

    settings: SettingsFields | None = None

    def settings_over(self, base: Settings) -> Settings:
        """What it asks for, over what the weights have."""
        return base if self.settings is None else self.settings.over(base)


class OpenRequest(WithSettings):
    """A request about an image set that was opened before."""

    key: Name


class PictureRef(Request):
    """Where one picture comes from: a shipped example, a staged upload, or a record of a data folder."""

    example: Name | None = None
    token: Name | None = None
    record: Name | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(value is not None for value in (self.example, self.token, self.record)) != 1:
            raise ValueError("one source")
        return self


class Pictures(Request):
    """The three pictures; None for a missing one."""

    rgb: PictureRef | None = None
    nir: PictureRef | None = None
    tir: PictureRef | None = None

    def by_modality(self) -> Mapping[str, PictureRef | None]:
        """The same as a mapping."""
        return {str(m): getattr(self, m) for m in MODALITIES}


class AnalyseRequest(WithSettings):
    """An image set, how to fit it, and the settings to show it with."""

    pictures: Pictures
    leave_out: list[str] = []
    fit: Literal["stretch", "letterbox"] = "stretch"
    weights: Name | None = None
    matrix: bool = False

    @property
    def chosen_fit(self) -> Fit:
        """How pictures of another shape get the model's shape."""
        return Fit(self.fit)


class DecideRequest(OpenRequest):
    """Other settings for an image set that was opened before."""

    matrix: bool = False
