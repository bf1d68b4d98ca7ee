"""Tokens of a frozen trunk, computed once and kept on disk: minutes per epoch become seconds."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from sdtps.images.masks import patch_share
from sdtps.models.backbone import HieraBackbone, Stem
from sdtps.support.files import whole_file
from sdtps.training.synth import SynthSample, generate
from sdtps.types import MODALITIES

BATCH = 8
DETAIL = (0.4, 0.9)  # of each side's pixels, in pictures from afar


@dataclass(frozen=True)
class TokenSet:
    """Cached tokens of n triplets. M modalities, N patches.

    Attributes:
        tokens: (n, M, rows, cols, D3) fp16, the stem's tokens.
        skips: (n, M, N, D1 + D2 [+ 15]) fp16, the stem's early stages and colours.
        person: (n, N) share of each patch that the person covers.
        others: (n, N) share that other people cover.
        pid, cam: (n,) identity and camera.
        world: (n,) number of the file it was loaded from; people of one world share cameras.
    """

    tokens: NDArray[np.float16]
    skips: NDArray[np.float16]
    person: NDArray[np.float16]
    others: NDArray[np.float16]
    pid: NDArray[np.int64]
    cam: NDArray[np.int64]
    world: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.pid)

    def stem(self, index: NDArray[np.int64]) -> Stem:
        """The stems of some triplets, modality first: (M * b, ...)."""
        tokens, skips = (
            torch.from_numpy(a[index]).float().transpose(0, 1).flatten(0, 1) for a in (self.tokens, self.skips)
        )
        return Stem(tokens, skips)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write as .npz; the file appears whole or not at all."""
        with whole_file(path) as partial, partial.open("wb") as stream:
            np.savez(stream, **{f.name: getattr(self, f.name) for f in fields(self)})

    @classmethod
    def load(cls, paths: Sequence[str | os.PathLike[str]]) -> "TokenSet":
        """Several files as one set; equal pids of different files stay different people."""
        with ExitStack() as stack:
            archives = [stack.enter_context(np.load(path)) for path in paths]
            # One field after the other: twice the whole would not fit into memory.
            parts = {f.name: np.concatenate([archive[f.name] for archive in archives]) for f in fields(cls)}
            counts = [len(archive["pid"]) for archive in archives]
        parts["world"] = np.repeat(np.arange(len(counts)), counts)
        parts["pid"] = np.unique(np.stack([parts["world"], parts["pid"]]), axis=1, return_inverse=True)[1].ravel()
        return cls(**parts)


def from_afar(sample: SynthSample, rng: np.random.Generator) -> SynthSample:
    """The same pictures with the little detail that is left of somebody far away, in each modality another."""
    rgb, nir, tir = (_softer(getattr(sample, m), rng.uniform(*DETAIL)) for m in MODALITIES)
    return replace(sample, rgb=rgb, nir=nir, tir=tir)


def _softer(pixels: NDArray[np.uint8], detail: float) -> NDArray[np.uint8]:
    image = Image.fromarray(pixels)
    width, height = (round(side * detail) for side in image.size)
    small = image.resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(small.resize(image.size, Image.Resampling.BICUBIC))


def cache_synthetic(
    backbone: HieraBackbone,
    seed: int,
    ids: int,
    views: int,
    style: str = "drawn",
    bfloat16: bool = False,
    distant: float = 0.0,
) -> TokenSet:
    """Generate people and run the frozen part of the trunk on them; `Synthetic` says what the last two are."""
    mean, std = (torch.tensor(v)[:, None, None] for v in (backbone.mean, backbone.std))
    stems: list[Stem] = []
    pending: list[SynthSample] = []
    seen: list[SynthSample] = []
    total = ids * views
    rng = np.random.default_rng(seed)

    def flush() -> None:
        pixels = np.stack([getattr(s, m) for s in pending for m in MODALITIES])
        images = (torch.from_numpy(pixels).permute(0, 3, 1, 2) / 255 - mean) / std
        with torch.inference_mode(), torch.autocast(images.device.type, torch.bfloat16, enabled=bfloat16):
            stem = backbone.stem(images)
        stems.append(Stem(*(t.unflatten(0, (len(pending), len(MODALITIES))).half() for t in stem)))
        pending.clear()

    for sample in generate(ids, views, seed=seed, style=style):
        pending.append(from_afar(sample, rng) if rng.random() < distant else sample)
        seen.append(sample)
        if len(pending) == BATCH or len(seen) == total:
            flush()
    person, others = ([patch_share(getattr(s, k), backbone.grid) for s in seen] for k in ("person", "others"))
    return TokenSet(
        tokens=torch.cat([s.tokens for s in stems]).numpy(),
        skips=torch.cat([s.skips for s in stems]).numpy(),
        person=np.stack(person),
        others=np.stack(others),
        pid=np.array([s.pid for s in seen]),
        cam=np.array([s.cam for s in seen]),
        world=np.zeros(len(seen), np.int64),
    )
