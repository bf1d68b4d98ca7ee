"""The expensive half: pictures through the backbone, and what follows from the tokens without any setting.

Encodings are cached by the model's identity and the content of the pictures, evidence by variant, too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sdtps.algorithm.trace import Evidence
from sdtps.images.read import Prepared
from sdtps.models.reid import Encoded, LoadedModel
from sdtps.support.byte_lru import ByteLru
from sdtps.support.errors import InputError
from sdtps.support.threads import settle
from sdtps.variants import Variant

CACHE_BYTES = 256 * 1024 * 1024  # of each of the two caches


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


ENCODINGS: ByteLru[Encoding] = ByteLru(CACHE_BYTES, lambda e: e.bytes)
EVIDENCE: ByteLru[dict[str, Evidence]] = ByteLru(CACHE_BYTES, lambda found: sum(e.bytes for e in found.values()))


def encode(model: LoadedModel, prepared: Prepared, camera: int | None) -> Encoding:
    """The tokens of an image set: from the cache where these weights met these pictures before."""
    key = (model.identity, prepared.sha256, str(camera))
    encoding = ENCODINGS.get(key)
    if encoding is not None:
        return encoding
    settle()
    backbone = model.net.backbone
    images = prepared.tensor(backbone.mean, backbone.std).unsqueeze(1)  # (M, 1, 3, H, W)
    label = None if camera is None else torch.tensor([camera])
    with model.lock:
        encoding = ENCODINGS.get(key)  # another thread may have finished it while this one waited
        if encoding is None:
            encoding = Encoding(key, forward(model, images, label))
            ENCODINGS.put(key, encoding)
    return encoding


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


def evidence_of(model: LoadedModel, encoding: Encoding, variant: Variant) -> dict[str, Evidence]:
    """What no slider changes, by modality: cosines, predictor, aggregation logits; on the CPU, cached by the key."""
    key = None if encoding.key is None else (*encoding.key, variant.name)
    found = None if key is None else EVIDENCE.get(key)
    if found is None:
        settle()
        encoded = Encoded(*({m: t.to(model.device) for m, t in part.items()} for part in encoding.encoded))
        with torch.inference_mode():
            found = model.net.evidence(encoded, variant)
        found = {m: e.map(Tensor.cpu) for m, e in found.items()}
        check_numbers(t for e in found.values() for b in e.branches for t in (b.predictor, b.logits) if t is not None)
        check_numbers(t for e in found.values() for t in e.own.values() if t.is_floating_point())
        if key is not None:
            EVIDENCE.put(key, found)
    return found


def evidence_of_batch(model: LoadedModel, encoded: Encoded, variant: Variant) -> dict[str, Evidence]:
    """What no slider changes, of a batch; on the CPU, not cached."""
    return evidence_of(model, Encoding(None, encoded), variant)


def cached_bytes() -> int:
    """Memory of both caches."""
    return ENCODINGS.bytes + EVIDENCE.bytes


def forget(identity: str | None = None) -> None:
    """Drop cached encodings: of one loaded model, or all."""
    for cache in (ENCODINGS, EVIDENCE):
        cache.discard_where(lambda key: identity is None or key[0] == identity)  # type: ignore[index]
