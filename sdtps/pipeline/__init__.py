"""The one door: an `OpenSet` is an image set in front of a model, and its `analyse` makes every `Analysis`.

Page, HTTP, command line, batch, index, exports and `analyse()` all go through it, so they show the same numbers. What
the weights cannot run (a variant, a camera) is refused here and nowhere else.
"""

from sdtps.images.read import Fit, Source, Triplet, read_triplet
from sdtps.models.reid import LoadedModel
from sdtps.pipeline.decision import DECISION_NOTES, choose, decide_batch, fused, runnable
from sdtps.pipeline.encoding import (
    CACHE_BYTES,
    Encoding,
    cached_bytes,
    check_finite,
    check_numbers,
    concatenate,
    evidence_of_batch,
    forget,
    forward,
)
from sdtps.pipeline.open_set import OpenSet, encode_batch, encode_together
from sdtps.types import Analysis, Settings

__all__ = [
    "CACHE_BYTES",
    "DECISION_NOTES",
    "Encoding",
    "OpenSet",
    "analyse",
    "analyse_triplet",
    "cached_bytes",
    "check_finite",
    "check_numbers",
    "choose",
    "concatenate",
    "decide_batch",
    "encode_batch",
    "encode_together",
    "evidence_of_batch",
    "forget",
    "forward",
    "fused",
    "runnable",
]


def analyse_triplet(
    model: LoadedModel, triplet: Triplet, settings: Settings | None = None, *, camera: int | None = None
) -> Analysis:
    """`analyse()` for an image set that was read before."""
    return OpenSet.of(model, triplet, camera).analyse(settings)


def analyse(
    model: LoadedModel,
    rgb: Source | None,
    nir: Source | None = None,
    tir: Source | None = None,
    settings: Settings | None = None,
    *,
    fit: Fit | str = Fit.STRETCH,
    camera: int | None = None,
) -> Analysis:
    """From three images to every number.

    Args:
        model: from `load_model`.
        rgb: a path, bytes, a PIL image or an array; None for a missing modality.
        nir: the same, near infrared.
        tir: the same, thermal.
        settings: ratios, beta, tau, variant; those of the training where they are known, else the defaults.
        fit: what to do with another shape than the model's: `stretch` or `letterbox`.
        camera: label of the camera from 0, for weights with a camera embedding.

    Returns:
        An immutable analysis; `analysis["rgb"].keep` and so on.

    Raises:
        InputError: an image that cannot be used.
        SettingsError: a variant or a camera that these weights do not have.
    """
    return analyse_triplet(model, read_triplet(rgb, nir, tir, fit), settings, camera=camera)
