"""What the public endpoints can be asked: each parameter with its type, its default and its words, written once.

Gradio reads the parameters of an endpoint from the signature and the docstring of a function; `endpoint` makes both
from this table. Their order is public: a request over HTTP is a list.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Asked = Mapping[str, Any]


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        name: of the parameter.
        kind: its type, from which the schema of the endpoint is made.
        default: where it is not given.
        words: what it means.
    """

    name: str
    kind: Any
    default: Any
    words: str


_TABLE = (
    Parameter(
        "rgb",
        str | None,
        None,
        "the RGB picture: base64 or a data URL of a PNG, JPEG, TIFF, BMP or WebP, or the path or address that "
        "POST /gradio_api/upload answered; null if missing.",
    ),
    Parameter("nir", str | None, None, "the near-infrared picture, likewise."),
    Parameter("tir", str | None, None, "the thermal picture, likewise."),
    Parameter(
        "sparse_ratio",
        float | None,
        None,
        "share of patches to keep, 0.05 to 1; by default what the weights were trained with.",
    ),
    Parameter("aggr_ratio", float | None, None, "aggregated tokens per kept share, 0.05 to 1; the same default."),
    Parameter("beta", float | None, None, "weight of the attention maps in the score, 0 to 0.5; the same default."),
    Parameter("tau", float | None, None, "temperature of the soft decision; never changes what is kept."),
    Parameter(
        "variant", str | None, None, "which SDTPS, such as final or importance; by default the one of the weights."
    ),
    Parameter("format", Literal["pdf", "svg", "png"], "pdf", "pdf or svg (vector), or png."),
    Parameter("width", str, "cvpr-page", "cvpr-page, cvpr-column, iclr-page, iclr-column, ieee-page or ieee-column."),
    Parameter(
        "columns",
        list[str] | None,
        None,
        "from input, self, cross1, cross2, predictor, score, kept, aggregation, soft, frequency.",
    ),
    Parameter("captions", bool, False, "print (a), (b), ... below the columns."),
    Parameter("language", Literal["en", "zh"], "en", "of the labels."),
    Parameter("dpi", int, 300, "of a png."),
    Parameter(
        "fit",
        Literal["stretch", "letterbox"],
        "stretch",
        "what to do with pictures of another shape than the model's.",
    ),
    Parameter("weights", str | None, None, "short hash of loaded weights (see weights); the first by default."),
    Parameter("camera", int | None, None, "label of the camera from 0, for weights with a camera embedding."),
    Parameter("example", str | None, None, "name of a shipped image set, instead of pictures (see sets)."),
    Parameter("record", str | None, None, "id of an image set of a data folder, instead of pictures (see sets)."),
)
PARAMETERS = {parameter.name: parameter for parameter in _TABLE}

PICTURES = ("rgb", "nir", "tir")
SETTINGS = ("sparse_ratio", "aggr_ratio", "beta", "tau", "variant")
LOOK = ("width", "columns", "captions", "language")
FILE = ("format", "dpi")
MODEL = ("fit", "weights", "camera")
NAMED = ("example", "record")

ANALYSE = (*PICTURES, *SETTINGS, *MODEL, *NAMED)
FIGURE = (*PICTURES, *SETTINGS, "format", *LOOK, "dpi", *MODEL, *NAMED)
SUMMARY = (*NAMED, *PICTURES, *(name for name in SETTINGS if name != "tau"), *MODEL)


def given(asked: Asked, names: Sequence[str]) -> dict[str, Any]:
    """Those of the named parameters that were given; the rest stays as the weights have it."""
    return {name: asked[name] for name in names if asked.get(name) is not None}


def endpoint(description: str, names: Sequence[str], answers: Any, work: Callable[[Asked], Any]) -> Callable[..., Any]:
    """A function as Gradio reads it, which hands what was asked to `work` by name.

    Args:
        description: what it does.
        names: its parameters, in the order of the list that a request is.
        answers: type of the answer.
        work: what it does, from the parameters by name.
    """
    parameters = [PARAMETERS[name] for name in names]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter(p.name, kind, default=p.default, annotation=p.kind) for p in parameters],
        return_annotation=answers,
    )

    def asked(*listed: Any, **named: Any) -> Any:
        bound = signature.bind(*listed, **named)
        bound.apply_defaults()
        return work(bound.arguments)

    asked.__name__ = asked.__qualname__ = work.__name__
    asked.__signature__ = signature  # type: ignore[attr-defined]
    asked.__annotations__ = {p.name: p.kind for p in parameters} | {"return": answers}
    asked.__doc__ = "\n".join([description, "", "Args:", *(f"    {p.name}: {p.words}" for p in parameters)])
    return asked
