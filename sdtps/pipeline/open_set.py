"""An image set in front of a model: from it every `Analysis` is made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from sdtps.algorithm.trace import Evidence
from sdtps.images.read import Prepared, Triplet, prepare
from sdtps.models.reid import Encoded, LoadedModel
from sdtps.pipeline.decision import DECISION_NOTES, choose, decision_notes, runnable, what_if
from sdtps.pipeline.encoding import Encoding, check_numbers, concatenate, encode, evidence_of, forward
from sdtps.pipeline.record import array, modality_trace
from sdtps.support.errors import SettingsError
from sdtps.support.messages import Message
from sdtps.support.threads import one_thread, settle
from sdtps.types import MODALITIES, Analysis, Settings
from sdtps.variants import get_variant


@dataclass(frozen=True, eq=False)
class OpenSet:
    """One image set in front of one model.

    Attributes:
        model: loaded weights.
        prepared: the pictures at the model's size.
        camera: label for the camera embedding; None where there is none, or none is known.
        notes: plain sentences on what was done to the pictures.
        encoding: the tokens, where they were computed beforehand; else the cache is asked.
    """

    model: LoadedModel
    prepared: Prepared
    camera: int | None = None
    notes: tuple[str, ...] = ()
    encoding: Encoding | None = None

    @classmethod
    def of(cls, model: LoadedModel, triplet: Triplet, camera: int | None = None, *, asked: bool = True) -> "OpenSet":
        """An image set as it was read.

        Args:
            model: loaded weights.
            triplet: the pictures.
            camera: label of the camera, where it is known; below 0 means unknown.
            asked: a person named the camera, so one that the weights do not know is refused; else it is left out.
        """
        size = model.net.backbone.input_size
        label, remarks = _camera(model, camera, asked)
        return cls(model, prepare(triplet, size), label, (*triplet.notes(size), *remarks))

    @classmethod
    def again(cls, model: LoadedModel, analysis: Analysis, prepared: Prepared) -> "OpenSet":
        """The image set behind an analysis that was written down before."""
        notes = tuple(n for n in analysis.notes if getattr(n, "code", None) not in DECISION_NOTES)
        return cls(model, prepared, analysis.camera, notes)

    @property
    def missing(self) -> frozenset[str]:
        """Modalities without a picture."""
        return frozenset(str(m) for m in MODALITIES if self.prepared.pixels[m] is None)

    def with_pixels(self, pixels: dict[str, Any]) -> "OpenSet":
        """The same set with changed pictures of the same size."""
        return replace(self, prepared=Prepared(pixels), encoding=None)

    def analyse(self, settings: Settings | None = None) -> Analysis:
        """Every number at these settings; by default at those of the training.

        Raises:
            SettingsError: a variant that these weights cannot run.
        """
        settings = settings or self.model.settings
        variant = runnable(self.model, settings.variant)
        encoding = self.encode()
        return _decide(self, encoding, evidence_of(self.model, encoding, variant), settings)

    def encode(self) -> Encoding:
        """The tokens: from the cache where these weights met these pictures before."""
        return self.encoding or encode(self.model, self.prepared, self.camera)

    def evidence(self, variant: str) -> dict[str, Evidence]:
        """What no slider changes, by modality: cosines, predictor, aggregation logits; on the CPU, cached."""
        return evidence_of(self.model, self.encode(), runnable(self.model, variant))


def encode_together(sets: Sequence[OpenSet]) -> list[OpenSet]:
    """Several sets of one model in one forward pass, for long series; nothing is looked up, nothing is cached.

    The last bits of a result can depend on how many sets share a pass; one at a time gives those of `analyse`.
    """
    encoded = encode_batch(sets)
    ones = [Encoded(*({m: t[i : i + 1] for m, t in part.items()} for part in encoded)) for i in range(len(sets))]
    return [replace(s, encoding=Encoding(None, one)) for s, one in zip(sets, ones, strict=True)]


def encode_batch(sets: Sequence[OpenSet]) -> Encoded:
    """The tokens of B sets, (B, N, C) per modality, on the CPU in fp32."""
    settle()
    model, labels = sets[0].model, [s.camera for s in sets]
    known = [label for label in labels if label is not None]
    if known and len(known) < len(labels):  # the backbone takes labels for all of a batch or for none
        return concatenate([encode_batch([s]) for s in sets])
    backbone = model.net.backbone
    images = torch.stack([s.prepared.tensor(backbone.mean, backbone.std) for s in sets], dim=1)  # (M, B, 3, H, W)
    with model.lock:
        return forward(model, images, torch.tensor(known) if known else None)


def _camera(model: LoadedModel, camera: int | None, asked: bool) -> tuple[int | None, tuple[Message, ...]]:
    """The label that the weights can use, and what to say where a known camera has none."""
    cameras = model.weights.facts.get("cameras", 0)
    if camera is None or (camera < 0 and not asked):
        return None, ()
    if 0 <= camera < cameras:
        return camera, ()
    if not cameras:
        text = "These weights have no camera embedding, so camera {camera} changes nothing."
        return None, (Message("camera.none", text, camera=camera),) if asked else ()
    if asked:
        text = "These weights know the cameras 0 to {last}, not {camera}."
        raise SettingsError("camera.unknown", text, last=cameras - 1, camera=camera)
    text = "These weights know the cameras 0 to {last}, not {camera}; no camera was given to them."
    return None, (Message("camera.left_out", text, last=cameras - 1, camera=camera),)


def _decide(opened: OpenSet, encoding: Encoding, evidence: dict[str, Evidence], settings: Settings) -> Analysis:
    """The cheap half: settings to numbers. No backbone, no lock."""
    model, variant = opened.model, get_variant(settings.variant)
    with one_thread(), torch.inference_mode():
        traces, feature, numbers = choose(model, encoding.encoded, evidence, settings)
        noisy = what_if(traces, settings) if "tau" in variant.reads else {}
    check_numbers([feature, *(traces[m].score for m in MODALITIES)])
    missing = opened.missing
    return Analysis(
        traces={str(m): modality_trace(traces[m], evidence[m], noisy.get(m), m in missing) for m in MODALITIES},
        grid=model.net.backbone.grid,
        settings=settings,
        feature=array(feature),
        weights=model.weights,
        notes=(*opened.notes, *decision_notes(model, traces, settings)),
        camera=opened.camera,
        fusion={name: array(values) for name, values in numbers.items()},
        pictures=opened.prepared.pixels,
        opened=opened,
    )
