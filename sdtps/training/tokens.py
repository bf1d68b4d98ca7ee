"""Tokens of a frozen trunk, computed once and kept on disk: minutes per epoch become seconds."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray

from sdtps.images.masks import patch_share
from sdtps.models.backbone import HieraBackbone, Stem
from sdtps.support.files import whole_file
from sdtps.training.synth import SynthSample, generate
from sdtps.types import MODALITIES

BATCH = 8


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
        parts: dict[str, list[NDArray[np.generic]]] = {f.name: [] for f in fields(cls)}
        for path in paths:
            with np.load(path) as archive:
                for name in parts:
                    parts[name].append(archive[name])
        parts["world"] = [np.full(len(pid), i) for i, pid in enumerate(parts["pid"])]
        offset = 0
        for i, pid in enumerate(parts["pid"]):
            parts["pid"][i] = np.unique(pid, return_inverse=True)[1] + offset
            offset = int(parts["pid"][i].max()) + 1  # type: ignore[call-overload]
        return cls(**{name: np.concatenate(arrays) for name, arrays in parts.items()})  # type: ignore[arg-type]


def cache_synthetic(
    backbone: HieraBackbone,
    seed: int,
    ids: int,
    views: int,
    start_pid: int = 0,
    progress: Callable[[int, int], None] | None = None,
    style: str = "drawn",
    bfloat16: bool = False,
) -> TokenSet:
    """Generate people and run the frozen part of the trunk on them, in bfloat16 if asked for."""
    mean, std = (torch.tensor(v)[:, None, None] for v in (backbone.mean, backbone.std))
    stems: list[Stem] = []
    pending: list[SynthSample] = []
    seen: list[SynthSample] = []
    total = ids * views

    def flush() -> None:
        pixels = np.stack([getattr(s, m) for s in pending for m in MODALITIES])
        images = (torch.from_numpy(pixels).permute(0, 3, 1, 2) / 255 - mean) / std
        with torch.inference_mode(), torch.autocast(images.device.type, torch.bfloat16, enabled=bfloat16):
            stem = backbone.stem(images)
        stems.append(Stem(*(t.unflatten(0, (len(pending), len(MODALITIES))).half() for t in stem)))
        pending.clear()

    for sample in generate(ids, views, seed=seed, start_pid=start_pid, style=style):
        pending.append(sample)
        seen.append(sample)
        if len(pending) == BATCH or len(seen) == total:
            flush()
            if progress is not None:
                progress(len(seen), total)
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
