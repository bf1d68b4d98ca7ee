"""`analyse()`: the one path from a triplet and settings to an `Analysis`. Page, HTTP, CLI and exports all call it.

The expensive half (decode, backbone) is cached by image content and weights, and what follows from it without any
setting (cosines, predictor, aggregation logits) by variant, too. The cheap half (mix, rank, keep, blend) runs on the
CPU, without a lock, on every slider move.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
from sdtps.support.messages import InputError, Message
from sdtps.support.threads import one_thread, settle
from sdtps.types import MODALITIES, Analysis, ModalityTrace, Settings
from sdtps.variants import Variant, get_variant

CACHE_BYTES = 256 * 1024 * 1024  # of each of the two caches


@dataclass(frozen=True, eq=False)
class Encoding:
    """A triplet after the backbone, on the CPU in fp32: tokens, global vectors and the `ori` feature (1, 3C).

    Without a key it is used once, and what follows from it is not cached.
    """

    key: tuple[str, ...] | None
    encoded: Encoded
    original_feature: Tensor

    @property
    def bytes(self) -> int:
        """Memory of its tensors."""
        return sum(_bytes(t) for part in self.encoded for t in part.values())


_encodings: ByteLru[Encoding] = ByteLru(CACHE_BYTES, lambda e: e.bytes)
_evidence: ByteLru[dict[str, Evidence]] = ByteLru(CACHE_BYTES, lambda found: sum(e.bytes for e in found.values()))


def camera_label(model: LoadedModel, camera: int | None) -> int | None:
    """The label, where these weights have an embedding for that camera; else none."""
    table = getattr(model.net.backbone, "cv_embed", None)
    return camera if camera is not None and table is not None and 0 <= camera < len(table) else None


def encode(model: LoadedModel, prepared: Prepared, camera: int | None = None) -> Encoding:
    """The backbone, or the cache when this content met these weights before.

    Args:
        model: loaded weights.
        prepared: the triplet at the model's size.
        camera: camera label for models with a camera embedding.
    """
    key = (model.weights.sha256, model.fingerprint, str(model.device), prepared.sha256, str(camera))
    encoding = _encodings.get(key)
    if encoding is not None:
        return encoding
    settle()
    backbone = model.net.backbone
    images = prepared.tensor(backbone.mean, backbone.std).unsqueeze(1).to(model.device)  # (M, 1, 3, H, W)
    label = None if camera is None else torch.tensor([camera], device=model.device)
    with model.lock, torch.inference_mode():
        encoding = _encodings.get(key)  # another thread may have finished it while this one waited
        if encoding is None:
            (encoding,) = _forward(model, images, label, key)
            _encodings.put(key, encoding)
    return encoding


def encode_many(model: LoadedModel, prepared: Sequence[Prepared]) -> list[Encoding]:
    """Several triplets in one forward pass, for long series: nothing is looked up, nothing is cached.

    The last bits of a result can depend on how many triplets share a pass; one at a time gives those of `encode`.
    """
    settle()
    backbone = model.net.backbone
    images = torch.stack([p.tensor(backbone.mean, backbone.std) for p in prepared], dim=1)  # (M, B, 3, H, W)
    with model.lock, torch.inference_mode():
        return _forward(model, images.to(model.device), None, None)


def _forward(model: LoadedModel, images: Tensor, camera: Tensor | None, key: tuple[str, ...] | None) -> list[Encoding]:
    """(M, B, 3, H, W) images to B encodings."""
    with model.autocast():
        encoded = model.net.encode(images, camera)
    encoded = Encoded(*({m: t.float().cpu() for m, t in part.items()} for part in encoded))
    if not all(bool(t.isfinite().all()) for part in encoded for t in part.values()):
        raise InputError("model.nan", "These weights compute no finite numbers for this triplet; they may be damaged.")
    found = []
    for i in range(images.shape[1]):
        one = Encoded(*({m: t[i : i + 1] for m, t in part.items()} for part in encoded))
        found.append(Encoding(key, one, model.net.original_feature(one)))
    return found


def evidence_of(model: LoadedModel, encoding: Encoding, variant: Variant) -> dict[str, Evidence]:
    """What no slider changes: cosines, predictor, aggregation logits; on the CPU, cached."""
    key = None if encoding.key is None else (*encoding.key, variant.name)
    found = None if key is None else _evidence.get(key)
    if found is None:
        settle()
        patches, vectors = ({m: t.to(model.device) for m, t in part.items()} for part in encoding.encoded)
        with torch.inference_mode():
            found = model.net.selector(variant).evidence(patches, vectors, variant)
            found = {m: e.map(Tensor.cpu) for m, e in found.items()}
        if key is not None:
            _evidence.put(key, found)
    return found


def decide(
    model: LoadedModel,
    encoding: Encoding,
    settings: Settings,
    notes: tuple[str, ...] = (),
    missing: frozenset[str] = frozenset(),
) -> Analysis:
    """The cheap half: settings to numbers. No backbone, no lock."""
    variant = get_variant(settings.variant)
    evidence = evidence_of(model, encoding, variant)
    with one_thread(), torch.inference_mode():
        traces = model.net.selector(variant).choose(evidence, settings)
        scores = torch.cat([traces[m].score for m in MODALITIES])  # (M, N)
        soft = soft_decision(scores, settings.tau)
        noise = _noise(settings.seed, settings.draws, scores.shape[1])
        frequency = selection_frequency(scores, traces[MODALITIES[0]].keep.shape[1], settings.tau, noise)
        feature = model.net.test_feature(encoding.encoded, traces)
    rows = model.net.sdtps.rows
    asked = traces[MODALITIES[0]].rows_asked
    if variant.needs_aggregation and 0 < rows < asked:
        notes += (
            Message(
                "aggregation.clamped",
                "The ratios ask for {asked} aggregated tokens, but these weights can make {rows}; {rows} are shown.",
                asked=asked,
                rows=rows,
            ),
        )
    if traces[MODALITIES[0]].predictor is None and variant.needs_predictor and settings.beta == 0:
        text = "At beta 0 only the predictor ranks, and it is not in this checkpoint: the order below means nothing."
        notes += (Message("score.flat", text),)
    return Analysis(
        traces={
            str(m): _as_numpy(traces[m], evidence[m], soft[i], frequency[i], m in missing)
            for i, m in enumerate(MODALITIES)
        },
        grid=model.net.backbone.grid,
        settings=settings,
        feature=_array(feature),
        weights=model.weights,
        notes=notes,
    )


def analyse_triplet(
    model: LoadedModel, triplet: Triplet, settings: Settings | None = None, *, camera: int | None = None
) -> Analysis:
    """`analyse()` for a triplet that was read before."""
    settings = settings or model.settings
    variant = get_variant(settings.variant)
    if lacking := model.net.supports(variant):
        raise ValueError(lacking)
    cameras = model.weights.facts.get("cameras", 0)
    if camera is not None and cameras and not 0 <= camera < cameras:
        text = "These weights know the cameras 0 to {last}, not {camera}."
        raise ValueError(Message("camera.unknown", text, last=cameras - 1, camera=camera))
    size = model.net.backbone.input_size
    encoding = encode(model, prepare(triplet, size), camera)
    return decide(model, encoding, settings, triplet.notes(size), triplet.missing)


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
        camera: camera label, for models with a camera embedding.

    Returns:
        An immutable analysis; `analysis["rgb"].keep` and so on.

    Raises:
        InputError: an image that cannot be used.
        ValueError: a variant that these weights cannot run.
    """
    return analyse_triplet(model, read_triplet(rgb, nir, tir, fit), settings, camera=camera)


def cached_bytes() -> int:
    """Memory of both caches."""
    return _encodings.bytes + _evidence.bytes


def forget(sha256: str | None = None) -> None:
    """Drop cached encodings: of one set of weights, or all."""
    for cache in (_encodings, _evidence):
        cache.discard_where(lambda key: sha256 is None or key[0] == sha256)  # type: ignore[index]


@lru_cache(maxsize=32)
def _noise(seed: int, draws: int, patches: int) -> Tensor:
    """(S, N) Gumbel noise, drawn once per seed so that a slider move changes only what it should."""
    return gumbel_noise(torch.rand(draws, patches, generator=torch.Generator().manual_seed(seed)))


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _array(tensor: Tensor) -> NDArray[Any]:
    """The first sample as a NumPy array that shares no memory with the cache."""
    return tensor[0].numpy().copy()


def _as_numpy(trace: Trace, evidence: Evidence, soft: Tensor, frequency: Tensor, missing: bool) -> ModalityTrace:
    def optional(tensor: Tensor | None) -> NDArray[Any] | None:
        return None if tensor is None else _array(tensor)

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
        soft_mask=soft.numpy().copy(),
        selection_frequency=frequency.numpy().copy(),
        aggregation_weights=optional(trace.aggregation_weights),
        dense_keep=optional(trace.dense_keep),
        dense_aggregation_weights=optional(trace.dense_aggregation_weights),
        extra_weights=_array(trace.extra_weights),
        token_norm=np.linalg.norm(evidence.patches[0].numpy(), axis=-1),
        pooled=_array(trace.pooled),
        missing=missing,
    )
