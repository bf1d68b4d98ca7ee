"""Where batches come from: cached tokens of a frozen trunk, or pictures of a folder."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from sdtps.datasets import Record
from sdtps.images.masks import PERSON, fitted_mask, patch_share
from sdtps.images.read import prepare
from sdtps.models.adapters import COLOURS
from sdtps.models.backbone import Backbone, HieraBackbone, Stem, Tokens
from sdtps.models.reid import ReidModel
from sdtps.training.tokens import TokenSet
from sdtps.types import MODALITIES, Grid

BLACK = 10 / 255  # mean of a picture, 0 to 1


@dataclass(frozen=True)
class Patches:
    """What the generator or a mask knows of each patch.

    Attributes:
        person, others: (B, N) share that the person, and that other people, cover.
        dark: (B,) whether the RGB picture is a black one.
    """

    person: Tensor
    others: Tensor
    dark: Tensor | None = None


@dataclass(frozen=True)
class Batch:
    """One training batch: tokens, identities, what is known of the patches, and which pictures show anything."""

    tokens: Tokens
    pid: Tensor
    patches: Patches | None
    shown: Tensor | None = None  # (M, B)


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
        self._dark = dark
        self._black = black_pictures(tokens) if dark else np.zeros(0, np.int64)

    def features(self, net: ReidModel, index: NDArray[np.int64], columns: NDArray[np.int64] | None = None) -> Tensor:
        """(M, b, n, D) features of some triplets, at (b, n) patches of each, or at all."""
        features = _hiera(net).finish(self.tokens.stem(index)).unflatten(0, (len(MODALITIES), len(index)))
        return features if columns is None else features[:, np.arange(len(index))[:, None], columns]

    def batch(self, net: ReidModel, index: NDArray[np.int64], rng: np.random.Generator, device: torch.device) -> Batch:
        """See `Source.batch`."""
        backbone = _hiera(net)
        rows, cols = backbone.grid
        mirror = np.arange(rows * cols).reshape(rows, cols)[:, ::-1].ravel()
        chosen = rng.permutation(rows * cols)[: self._patches]
        flip = rng.random(len(index)) < 0.5
        columns = np.where(flip[:, None], mirror[chosen], chosen)  # (b, n): which patches, mirrored or not
        features = self.features(net, index, columns)
        dark = np.isin(index, self._black)
        if len(self._black) and len(night := np.flatnonzero(rng.random(len(index)) < self._dark)):
            dark[night] = True
            black = rng.choice(self._black, len(night))
            features[0, night] = self.features(net, black, columns[night])[0]
        missing = rng.random(features.shape[:2]) < self._missing
        for m, b in np.argwhere(missing):
            features[m, b] = backbone.finish(self._blank)[0, chosen]
        shown = ~missing
        shown[0] &= ~dark
        # Whole channels, not single values: a fraction of the random numbers, and neighbours agree.
        features = features * F.dropout(torch.ones_like(features[:, :, :1]), self._dropout, training=net.training)
        tokens = backbone.adapt(features.to(device), torch.from_numpy(chosen).to(device))
        pid, seen = (torch.from_numpy(values).to(device) for values in (self.pid[index], shown))
        return Batch(tokens, pid, self._known(index, columns, dark, device), seen)

    def _known(
        self, index: NDArray[np.int64], columns: NDArray[np.int64], dark: NDArray[np.bool_], device: torch.device
    ) -> Patches:
        known = self.tokens
        person, others = (
            torch.from_numpy(a[index[:, None], columns]).float().to(device) for a in (known.person, known.others)
        )
        return Patches(person, others, torch.from_numpy(dark).to(device))


def black_pictures(tokens: TokenSet) -> NDArray[np.int64]:
    """Which sets have an RGB picture that shows next to nothing; known where colours were cached."""
    if tokens.skips.shape[-1] <= COLOURS:
        return np.zeros(0, np.int64)
    mean = tokens.skips[:, 0, :, -COLOURS : -COLOURS + 3].astype(np.float32).mean((1, 2))
    return np.flatnonzero(mean < BLACK)


class Pictures(NamedTuple):
    """A batch of augmented pictures, before any network."""

    images: Tensor  # (M, B, 3, H, W)
    person: Tensor | None  # (B, N) shares of the person, where every picture has a mask
    at: Tensor  # (B,) places in the data


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
        self.cam = np.array([r.cam for r in records], np.int64)
        self.world: NDArray[np.int64] | None = None
        self._pad, self._erase = pad, erase

    def check_cameras(self, backbone: Backbone) -> None:
        """Refuse data whose cameras the backbone's embedding does not have: they would be left out in silence."""
        embedding = getattr(backbone, "cv_embed", None)
        if embedding is None:
            return
        if self.cam.min() < 0 or self.cam.max() >= len(embedding):
            found = "unknown cameras" if self.cam.min() < 0 else f"cameras 0 to {self.cam.max()}"
            raise ValueError(
                f"The model has an embedding for cameras 0 to {len(embedding) - 1}, and the data has {found}; set "
                "cameras in backbone_options to fit, or to 0."
            )

    def batch(self, net: ReidModel, index: NDArray[np.int64], rng: np.random.Generator, device: torch.device) -> Batch:
        """See `Source.batch`."""
        return self.through(net, self.pictures(net.backbone, index, rng), device)

    def pictures(self, backbone: Backbone, index: NDArray[np.int64], rng: np.random.Generator) -> Pictures:
        """Read and augment; may run in another process."""
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
        known = None if any(p is None for p in person) else torch.stack([p for p in person if p is not None])
        return Pictures(torch.stack(images, dim=1), known, torch.from_numpy(index))

    def through(self, net: ReidModel, pictures: Pictures, device: torch.device) -> Batch:
        """Pictures through the backbone, with their cameras where it knows some."""
        camera = None
        if getattr(net.backbone, "cv_embed", None) is not None:
            camera = torch.from_numpy(self.cam[pictures.at.numpy()]).to(device)
        tokens = net.backbone(pictures.images.to(device), camera)
        person = None if pictures.person is None else pictures.person.to(device)
        patches = None if person is None else Patches(person, torch.zeros_like(person))
        return Batch(tokens, torch.from_numpy(self.pid[pictures.at.numpy()]).to(device), patches)

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


Order = Iterable[tuple[Sequence[int], NDArray[np.int64]]]  # a seed for the augmentation, and the batch's indices


def batches(source: Source, net: ReidModel, order: Order, device: torch.device, workers: int = 0) -> Iterator[Batch]:
    """The batches in an order; each has random numbers of its own, so that none depends on those before it.

    Args:
        source: the data.
        net: its backbone runs here.
        order: what to read.
        device: where to.
        workers: processes that read pictures ahead; the batches are the same with any number.
    """
    if not isinstance(source, FolderImages):
        for seed, index in order:
            yield source.batch(net, index, np.random.default_rng(seed), device)
        return
    reader = _Reader(source, _Shape.of(net.backbone))
    loader: DataLoader[Pictures] = (
        DataLoader(  # its own generator: making one must not move the training's random numbers
            reader,
            batch_size=None,
            sampler=order,  # type: ignore[arg-type]
            num_workers=workers,
            generator=torch.Generator(),
        )
    )
    for pictures in loader:
        yield source.through(net, Pictures(*pictures), device)


class _Shape(NamedTuple):
    """What reading needs to know of a backbone, without its weights."""

    input_size: tuple[int, int]
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    grid: Grid

    @classmethod
    def of(cls, backbone: Backbone) -> "_Shape":
        return cls(backbone.input_size, backbone.mean, backbone.std, backbone.grid)


@dataclass(frozen=True)
class _Reader(Dataset[Pictures]):
    source: FolderImages
    shape: _Shape

    def __getitem__(self, item: tuple[Sequence[int], NDArray[np.int64]]) -> Pictures:
        seed, index = item
        return self.source.pictures(self.shape, index, np.random.default_rng(seed))  # type: ignore[arg-type]
