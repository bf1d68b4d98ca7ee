"""Where batches come from: cached tokens of a frozen trunk, or pictures of a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from sdtps.datasets import Record
from sdtps.images.masks import PERSON, fitted_mask, patch_share
from sdtps.images.read import prepare
from sdtps.models.adapters import COLOURS, surroundings
from sdtps.models.backbone import HieraBackbone, Stem, Tokens
from sdtps.models.reid import ReidModel
from sdtps.training.tokens import TokenSet
from sdtps.types import MODALITIES, Grid

BLACK = 10 / 255  # mean of a picture, 0 to 1


@dataclass(frozen=True)
class Patches:
    """What the generator or a mask knows of each patch.

    Attributes:
        person, others: (B, N) share that the person, and that other people, cover.
        visible, typical: (M, B, N) how much it stands out in each modality, and how close it is there to the person's
            mean colour, where known.
        warmth: (B, N) thermal brightness, where known.
    """

    person: Tensor
    others: Tensor
    visible: Tensor | None = None
    typical: Tensor | None = None
    warmth: Tensor | None = None


@dataclass(frozen=True)
class Batch:
    """One training batch: tokens, identities, and what is known of the patches."""

    tokens: Tokens
    pid: Tensor
    patches: Patches | None


class Source(Protocol):
    """Indexable training data; `world` groups people who share cameras."""

    pid: NDArray[np.int64]
    world: NDArray[np.int64] | None

    def batch(self, net: ReidModel, index: NDArray[np.int64], rng: np.random.Generator, device: torch.device) -> Batch:
        """The batch at these indices, augmented, through the backbone."""


class CachedTokens:
    """Cached stems; the trunk's trainable blocks, if it has some, run here.

    Args:
        tokens: the cache.
        blank: stem of a missing modality (zeros after normalisation).
        patches: how many patches of each picture a batch holds, drawn anew each time: larger batches at equal cost.
        channel_dropout: chance that a channel of a picture's features is left out.
        missing: chance that a modality is left out.
        dark: chance that an RGB picture is replaced by a black one of the cache, whoever is in it.
    """

    def __init__(
        self,
        tokens: TokenSet,
        blank: Stem,
        patches: int = 48,
        channel_dropout: float = 0.1,
        missing: float = 0.03,
        dark: float = 0.0,
    ) -> None:
        self.tokens = tokens
        self._patches = patches
        self.pid = tokens.pid
        self.world: NDArray[np.int64] | None = tokens.world
        self._blank = blank
        self._dropout = channel_dropout
        self._missing = missing
        self._around: NDArray[np.float16] | None = None
        self._dark = dark
        self._black = black_pictures(tokens) if dark else np.zeros(0, np.int64)

    def features(self, net: ReidModel, index: NDArray[np.int64], columns: NDArray[np.int64] | None = None) -> Tensor:
        """(M, b, n, D) features of some triplets, at (b, n) patches of each, or at all."""
        backbone = _hiera(net)
        if columns is None:
            columns = np.broadcast_to(np.arange(backbone.grid.patches), (len(index), backbone.grid.patches))
        if backbone.trainable_blocks:
            stem = self.tokens.stem(index)
            features = backbone.finish(stem).unflatten(0, (len(MODALITIES), len(index)))
            return features[:, torch.arange(len(index))[:, None], torch.from_numpy(columns.copy())]
        flat = self.tokens.tokens.reshape(*self.tokens.skips.shape[:3], -1)
        tokens = _at(flat, index, columns)
        if backbone.adapters is None:
            return tokens
        features = [tokens, _at(self.tokens.skips, index, columns)]
        if backbone.surround:
            if self._around is None:
                self._around = _surroundings(self.tokens, backbone.grid)
            features.append(_at(self._around, index, columns))
        return torch.cat(features, dim=-1)

    def batch(self, net: ReidModel, index: NDArray[np.int64], rng: np.random.Generator, device: torch.device) -> Batch:
        """See `Source.batch`."""
        backbone = _hiera(net)
        rows, cols = backbone.grid
        mirror = np.arange(rows * cols).reshape(rows, cols)[:, ::-1].ravel()
        chosen = rng.permutation(rows * cols)[: self._patches]
        flip = rng.random(len(index)) < 0.5
        columns = np.where(flip[:, None], mirror[chosen], chosen)  # (b, n): which patches, mirrored or not
        features = self.features(net, index, columns)
        if len(self._black) and len(night := np.flatnonzero(rng.random(len(index)) < self._dark)):
            black = rng.choice(self._black, len(night))
            features[0, night] = self.features(net, black, columns[night])[0]
        for m, b in np.argwhere(rng.random(features.shape[:2]) < self._missing):
            features[m, b] = backbone.finish(self._blank)[0, chosen]
        # Whole channels, not single values: a fraction of the random numbers, and neighbours agree.
        features = features * F.dropout(torch.ones_like(features[:, :, :1]), self._dropout, training=net.training)
        tokens = backbone.adapt(features.to(device), torch.from_numpy(chosen).to(device))
        return Batch(tokens, torch.from_numpy(self.pid[index]).to(device), self._known(index, columns, device))

    def _known(self, index: NDArray[np.int64], columns: NDArray[np.int64], device: torch.device) -> Patches:
        known = self.tokens
        person, others, warmth = (
            torch.from_numpy(a[index[:, None], columns]).float().to(device)
            for a in (known.person, known.others, known.warmth)
        )
        visible, typical = (
            torch.from_numpy(a[index[:, None], :, columns]).float().permute(2, 0, 1).to(device)
            for a in (known.visible, known.typical)
        )
        return Patches(person, others, visible, typical, warmth)


def black_pictures(tokens: TokenSet) -> NDArray[np.int64]:
    """Which sets have an RGB picture that shows next to nothing; known where colours were cached."""
    if tokens.skips.shape[-1] <= COLOURS:
        return np.zeros(0, np.int64)
    mean = tokens.skips[:, 0, :, -COLOURS : -COLOURS + 3].astype(np.float32).mean((1, 2))
    return np.flatnonzero(mean < BLACK)


def _surroundings(tokens: TokenSet, grid: Grid) -> NDArray[np.float16]:
    """(n, M, N, D) surroundings of all cached features, computed once: the patches of a batch do not touch."""
    count, modalities, patches = tokens.skips.shape[:3]
    flat = tokens.tokens.reshape(count, modalities, patches, -1)
    around = np.empty((count, modalities, patches, flat.shape[-1] + tokens.skips.shape[-1]), np.float16)
    for i in range(count):
        features = torch.from_numpy(np.concatenate([flat[i], tokens.skips[i]], axis=-1)).float()
        around[i] = surroundings(features, grid).numpy()
    return around


def _at(array: NDArray[np.float16], index: NDArray[np.int64], columns: NDArray[np.int64]) -> Tensor:
    """(k, M, N, D) array at (b,) samples and (b, n) patches: (M, b, n, D) in fp32."""
    return torch.from_numpy(array[index[:, None], :, columns]).float().permute(2, 0, 1, 3)


class FolderImages:
    """Pictures of a folder, augmented as the reference does: flip, pad and crop, random erasing, per modality.

    Args:
        records: the triplets.
        pad: pixels of padding before the random crop.
        erase: chance of random erasing.
    """

    def __init__(self, records: Sequence[Record], pad: int = 10, erase: float = 0.5) -> None:
        self.records = records
        self.pid = np.unique([r.pid for r in records], return_inverse=True)[1]
        self.world: NDArray[np.int64] | None = None
        self._pad, self._erase = pad, erase

    def batch(self, net: ReidModel, index: NDArray[np.int64], rng: np.random.Generator, device: torch.device) -> Batch:
        """See `Source.batch`."""
        backbone = net.backbone
        images, person = [], []
        for i in index:
            record = self.records[i]
            triplet = prepare(record.read(), backbone.input_size)
            stack = triplet.tensor(backbone.mean, backbone.std)
            # A mask ties the modalities together: they then share flip and crop, and the mask follows.
            share = None if record.mask is None else _mask(record, backbone.input_size)
            stack, share = self._augment(stack, share, rng)
            images.append(stack)
            person.append(None if share is None else torch.from_numpy(patch_share(share, backbone.grid)).float())
        tokens = backbone(torch.stack(images, dim=1).to(device))
        known = None if any(p is None for p in person) else torch.stack([p for p in person if p is not None]).to(device)
        patches = None if known is None else Patches(known, torch.zeros_like(known))
        return Batch(tokens, torch.from_numpy(self.pid[index]).to(device), patches)

    def _augment(
        self, stack: Tensor, mask: NDArray[np.bool_] | None, rng: np.random.Generator
    ) -> tuple[Tensor, NDArray[np.bool_] | None]:
        height, width = stack.shape[-2:]
        moves = [(rng.random() < 0.5, *rng.integers(0, 2 * self._pad + 1, 2)) for _ in MODALITIES]
        if mask is not None:
            moves = [moves[0]] * len(MODALITIES)
            flip, top, left = moves[0]
            padded = np.pad(mask[:, ::-1] if flip else mask, self._pad)
            mask = padded[top : top + height, left : left + width]
        out = []
        for image, (flip, top, left) in zip(stack, moves, strict=True):
            padded_image = F.pad(image.flip(-1) if flip else image, (self._pad,) * 4)
            crop = padded_image[:, top : top + height, left : left + width].clone()
            if rng.random() < self._erase:
                h, w = (int(side * rng.uniform(0.1, 0.4)) for side in (height, width))
                y, x = rng.integers(0, height - h), rng.integers(0, width - w)
                crop[:, y : y + h, x : x + w] = torch.from_numpy(rng.standard_normal((3, h, w)).astype(np.float32))
            out.append(crop)
        return torch.stack(out), mask


def _mask(record: Record, size: tuple[int, int]) -> NDArray[np.bool_]:
    assert record.mask is not None
    return fitted_mask(record.mask, size) > PERSON


def _hiera(net: ReidModel) -> HieraBackbone:
    if not isinstance(net.backbone, HieraBackbone):
        raise TypeError("Cached tokens need a Hiera backbone.")
    return net.backbone
