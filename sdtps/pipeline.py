"""The one door: an `OpenSet` is an image set in front of a model, and its `analyse` makes every `Analysis`.

Page, HTTP, command line, batch, index, exports and `analyse()` all go through it, so they show the same numbers. What
the weights cannot run (a variant, a camera) is refused here and nowhere else.

The expensive half (backbone) is cached by the model's identity and the content of the pictures, and what follows from
it without any setting (cosines, predictor, aggregation logits) by variant, too. The cheap half (mix, rank, keep,
blend) runs on the CPU, without a lock, on every slider move.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sdtps.algorithm.selection import gumbel_noise, selection_frequency, soft_decision
from sdtps.algorithm.trace import Evidence, Trace
from sdtps.images.read import Fit, Prepared, Source, Triplet, prepare, read_triplet
from sdtps.models.reid import Encoded, LoadedModel
from sdtps.support.byte_lru import ByteLru
from sdtps.support.errors import InputError, SettingsError
from sdtps.support.messages import Message
from sdtps.support.threads import one_thread, settle
from sdtps.types import MODALITIES, Analysis, ModalityTrace, Settings
from sdtps.variants import Variant, get_variant

CACHE_BYTES = 256 * 1024 * 1024  # of each of the two caches
DECISION_NOTES = ("aggregation.clamped", "score.flat")  # what settings bring about; all other notes are the set's


@dataclass(frozen=True, eq=False)
class Encoding:
    """An image set after the backbone, on the CPU in fp32: tokens and global vectors.

    Without a key it is used once, and what follows from it is not cached.
    """

    key: tuple[str, ...] | None
    encoded: Encoded

    @property
    def bytes(self) -> int:
        """Memory of its tensors."""
        return sum(t.nbytes for part in self.encoded for t in part.values())


_encodings: ByteLru[Encoding] = ByteLru(CACHE_BYTES, lambda e: e.bytes)
_evidence: ByteLru[dict[str, Evidence]] = ByteLru(CACHE_BYTES, lambda found: sum(e.bytes for e in found.values()))


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
        return _decide(self, encoding, _evidence_of(self.model, encoding, variant), settings)

    def encode(self) -> Encoding:
        """The tokens: from the cache where these weights met these pictures before."""
        return self.encoding or _encode(self)

    def evidence(self, variant: str) -> dict[str, Evidence]:
        """What no slider changes, by modality: cosines, predictor, aggregation logits; on the CPU, cached."""
        return _evidence_of(self.model, self.encode(), runnable(self.model, variant))


def runnable(model: LoadedModel, name: str) -> Variant:
    """The variant of that name; refused where the weights cannot run it."""
    variant = get_variant(name)
    if lacking := model.net.supports(variant):
        raise SettingsError(lacking)
    return variant


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


def concatenate(parts: Sequence[Encoded]) -> Encoded:
    """Batches behind one another."""
    return Encoded(*({m: torch.cat([p[i][m] for p in parts]) for m in parts[0][i]} for i in range(2)))


def forward(model: LoadedModel, images: Tensor, camera: Tensor | None) -> Encoded:
    """(M, B, 3, H, W) normalised images through the backbone; the caller holds the model's lock."""
    with torch.inference_mode(), model.autocast():
        encoded = model.net.encode(images.to(model.device), None if camera is None else camera.to(model.device))
    encoded = Encoded(*({m: t.float().cpu() for m, t in part.items()} for part in encoded))
    check_finite(encoded)
    return encoded


def check_finite(encoded: Encoded) -> None:
    """Refuse weights that compute no numbers."""
    check_numbers(t for part in encoded for t in part.values())


def check_numbers(tensors: Iterable[Tensor]) -> None:
    """Refuse what cannot be shown: weights can be finite and still overflow on their way to a number."""
    if not all(bool(t.isfinite().all()) for t in tensors):
        text = "These weights compute no finite numbers for this image set; they may be damaged."
        raise InputError("model.nan", text)


def decide_batch(model: LoadedModel, encoded: Encoded, settings: Settings) -> tuple[dict[str, Trace], Tensor]:
    """Traces by modality and the (B, D) test features of a batch, by the same steps as a single analysis."""
    evidence = evidence_of_batch(model, encoded, runnable(model, settings.variant))
    return choose(model, encoded, evidence, settings)[:2]


def choose(
    model: LoadedModel, encoded: Encoded, evidence: dict[str, Evidence], settings: Settings
) -> tuple[dict[str, Trace], Tensor, dict[str, Tensor]]:
    """From evidence to traces, the test feature and what its fusion says; all given and returned on the CPU."""
    selector = model.net.selector(get_variant(settings.variant))
    with torch.inference_mode():
        if model.device.type == "cpu":
            traces = selector.choose(evidence, settings)
        else:  # some selectors have weights
            there = {m: e.map(lambda t: t.to(model.device)) for m, e in evidence.items()}
            traces = {m: trace.map(Tensor.cpu) for m, trace in selector.choose(there, settings).items()}
    return traces, *fused(model, encoded, traces, evidence)


def fused(
    model: LoadedModel, encoded: Encoded, traces: Mapping[str, Trace], evidence: Mapping[str, Evidence]
) -> tuple[Tensor, dict[str, Tensor]]:
    """The test feature and what its fusion says, computed where the weights are; given and returned on the CPU."""
    with torch.inference_mode():
        if model.device.type == "cpu":
            return model.net.fuse(encoded, traces, evidence)

        def there(tensor: Tensor) -> Tensor:
            return tensor.to(model.device)

        feature, numbers = model.net.fuse(
            Encoded(*({m: there(t) for m, t in part.items()} for part in encoded)),
            {m: trace.map(there) for m, trace in traces.items()},
            {m: e.map(there) for m, e in evidence.items()},
        )
        return feature.cpu(), {name: values.cpu() for name, values in numbers.items()}


def evidence_of_batch(model: LoadedModel, encoded: Encoded, variant: Variant) -> dict[str, Evidence]:
    """What no slider changes, of a batch; on the CPU, not cached."""
    return _evidence_of(model, Encoding(None, encoded), variant)


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


def _encode(opened: OpenSet) -> Encoding:
    model = opened.model
    key = (model.identity, opened.prepared.sha256, str(opened.camera))
    encoding = _encodings.get(key)
    if encoding is not None:
        return encoding
    settle()
    backbone = model.net.backbone
    images = opened.prepared.tensor(backbone.mean, backbone.std).unsqueeze(1)  # (M, 1, 3, H, W)
    label = None if opened.camera is None else torch.tensor([opened.camera])
    with model.lock:
        encoding = _encodings.get(key)  # another thread may have finished it while this one waited
        if encoding is None:
            encoding = Encoding(key, forward(model, images, label))
            _encodings.put(key, encoding)
    return encoding


def _evidence_of(model: LoadedModel, encoding: Encoding, variant: Variant) -> dict[str, Evidence]:
    key = None if encoding.key is None else (*encoding.key, variant.name)
    found = None if key is None else _evidence.get(key)
    if found is None:
        settle()
        encoded = Encoded(*({m: t.to(model.device) for m, t in part.items()} for part in encoding.encoded))
        with torch.inference_mode():
            found = model.net.evidence(encoded, variant)
        found = {m: e.map(Tensor.cpu) for m, e in found.items()}
        check_numbers(t for e in found.values() for b in e.branches for t in (b.predictor, b.logits) if t is not None)
        check_numbers(t for e in found.values() for t in e.own.values() if t.is_floating_point())
        if key is not None:
            _evidence.put(key, found)
    return found


def _decide(opened: OpenSet, encoding: Encoding, evidence: dict[str, Evidence], settings: Settings) -> Analysis:
    """The cheap half: settings to numbers. No backbone, no lock."""
    model, variant = opened.model, get_variant(settings.variant)
    with one_thread(), torch.inference_mode():
        traces, feature, numbers = choose(model, encoding.encoded, evidence, settings)
        what_if = _what_if(traces, settings) if "tau" in variant.reads else {}
    check_numbers([feature, *(traces[m].score for m in MODALITIES)])
    missing = opened.missing
    return Analysis(
        traces={str(m): _as_numpy(traces[m], evidence[m], what_if.get(m), m in missing) for m in MODALITIES},
        grid=model.net.backbone.grid,
        settings=settings,
        feature=_array(feature),
        weights=model.weights,
        notes=(*opened.notes, *_decision_notes(model, traces, settings)),
        camera=opened.camera,
        fusion={name: _array(values) for name, values in numbers.items()},
        pictures=opened.prepared.pixels,
        opened=opened,
    )


def _what_if(traces: dict[str, Trace], settings: Settings) -> dict[str, tuple[Tensor, Tensor]]:
    """The soft decision and the frequency under noise, (N,) each, of selectors that have a tau."""
    scores = torch.cat([traces[m].score for m in MODALITIES])  # (M, N)
    soft = soft_decision(scores, settings.tau)
    noise = _noise(settings.seed, settings.draws, scores.shape[1])
    frequency = selection_frequency(scores, traces[MODALITIES[0]].keep.shape[1], settings.tau, noise)
    return {str(m): (soft[i], frequency[i]) for i, m in enumerate(MODALITIES)}


def _decision_notes(model: LoadedModel, traces: dict[str, Trace], settings: Settings) -> list[Message]:
    """What these weights could not do as the settings ask."""
    notes = []
    first, rows, variant = traces[MODALITIES[0]], model.net.sdtps.rows, get_variant(settings.variant)
    if variant.needs_aggregation and 0 < rows < first.rows_asked:
        text = "The ratios ask for {asked} aggregated tokens, but these weights can make {rows}; {rows} are shown."
        notes.append(Message("aggregation.clamped", text, asked=first.rows_asked, rows=rows))
    if first.predictor is None and variant.needs_predictor and settings.beta == 0:
        text = "At beta 0 only the predictor ranks, and it is not in this checkpoint: the order below means nothing."
        notes.append(Message("score.flat", text))
    return notes


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


def cached_bytes() -> int:
    """Memory of both caches."""
    return _encodings.bytes + _evidence.bytes


def forget(identity: str | None = None) -> None:
    """Drop cached encodings: of one loaded model, or all."""
    for cache in (_encodings, _evidence):
        cache.discard_where(lambda key: identity is None or key[0] == identity)  # type: ignore[index]


@lru_cache(maxsize=32)
def _noise(seed: int, draws: int, patches: int) -> Tensor:
    """(S, N) Gumbel noise, drawn once per seed so that a slider move changes only what it should."""
    return gumbel_noise(torch.rand(draws, patches, generator=torch.Generator().manual_seed(seed)))


def _array(tensor: Tensor) -> NDArray[Any]:
    """The first sample as a NumPy array that shares no memory with the cache."""
    return np.array(tensor[0].numpy())


def _as_numpy(trace: Trace, evidence: Evidence, what_if: tuple[Tensor, Tensor] | None, missing: bool) -> ModalityTrace:
    def optional(tensor: Tensor | None) -> NDArray[Any] | None:
        return None if tensor is None else _array(tensor)

    soft, frequency = (None, None) if what_if is None else (t.numpy().copy() for t in what_if)
    return ModalityTrace(
        self_attention=_array(trace.self_attention),
        cross_attention={o: _array(t) for o, t in trace.cross_attention.items()},
        raw_self_attention=_array(trace.raw_self_attention),
        raw_cross_attention={o: _array(t) for o, t in trace.raw_cross_attention.items()},
        predictor=optional(trace.predictor),
        score=_array(trace.score),
        keep=_array(trace.keep),
        drop=_array(trace.drop),
        mask=_array(trace.mask),
        soft_mask=soft,
        selection_frequency=frequency,
        aggregation_weights=optional(trace.aggregation_weights),
        dense_keep=optional(trace.dense_keep),
        dense_aggregation_weights=optional(trace.dense_aggregation_weights),
        extra_weights=_array(trace.extra_weights),
        token_norm=np.linalg.norm(evidence.patches[0].numpy(), axis=-1),
        pooled=_array(trace.pooled),
        missing=missing,
        weights=optional(trace.weights),
        groups=optional(trace.groups),
        maps={name: _array(t) for name, t in trace.maps.items()},
        numbers={name: _array(t) for name, t in trace.numbers.items()},
    )
