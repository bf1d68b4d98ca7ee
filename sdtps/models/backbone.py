"""Images → patch tokens and one global vector per modality. The only place that knows about prefix tokens.

Every backbone is shared by the three modalities and runs them as one batch of 3B. Images come modality first,
(M, B, 3, H, W); tokens leave the same way. The grid is a property of the backbone and travels with its tokens.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import timm
import torch
import torch.nn.functional as F
from timm.models.hieradet_sam2 import HieraDet
from timm.models.vision_transformer import VisionTransformer
from torch import Tensor, nn

from sdtps.models.adapters import (
    COLOURS,
    Adapter,
    AttentionPool,
    own_places,
    patch_colours,
    smooth_places,
    surroundings,
)
from sdtps.types import MODALITIES, Grid

HALF = (0.5, 0.5, 0.5)


class Tokens(NamedTuple):
    """Backbone output. M modalities, B samples, N patches, C channels."""

    patches: Tensor  # (M, B, N, C)
    global_vectors: Tensor  # (M, B, C)


class Pool(StrEnum):
    """Where a modality's global vector comes from."""

    CLASS = "class"  # the class token
    MEAN = "mean"  # the mean patch
    ATTENTION = "attention"  # a learned weighting of the patches, one per modality


class Backbone(nn.Module, ABC):
    """What the rest of the program needs to know about a backbone.

    Attributes:
        input_size: (height, width) of the images it takes.
        grid: rows and columns of its patches.
        dim: C, channels of a token.
        mean, std: normalisation of its images.
    """

    input_size: tuple[int, int]
    grid: Grid
    dim: int
    mean: tuple[float, float, float]
    std: tuple[float, float, float]

    @abstractmethod
    def forward(self, images: Tensor, camera: Tensor | None = None) -> Tokens:
        """(M, B, 3, H, W) images and optional (B,) camera labels to tokens."""


class VitBackbone(Backbone):
    """Any plain timm ViT, at any grid.

    Args:
        vit: the timm model.
        project: apply the model's head to every token, as CLIP's projection is used in the DeMo layout.
        pool: class token or mean patch as the global vector.
        cameras: number of cameras of the SIE embedding; 0 for none.
        sie_coefficient: factor of the SIE embedding.
        sie_on_all: add the SIE embedding to every token, as TransReID does, instead of the class token alone.
        mean, std: normalisation of the images.
    """

    def __init__(
        self,
        vit: VisionTransformer,
        *,
        project: bool = False,
        pool: Pool = Pool.CLASS,
        cameras: int = 0,
        sie_coefficient: float = 1.0,
        sie_on_all: bool = False,
        mean: Sequence[float] = HALF,
        std: Sequence[float] = HALF,
    ) -> None:
        super().__init__()
        if pool is Pool.ATTENTION:
            raise ValueError("A ViT backbone pools by its class token or by the mean patch.")
        if pool is Pool.CLASS and vit.cls_token is None:
            raise ValueError("This ViT has no class token; use the mean patch as its global vector.")
        self.vit = vit
        self.project = project
        self.pool = pool
        self.sie_coefficient = sie_coefficient
        self.sie_on_all = sie_on_all
        self.cv_embed = nn.Parameter(torch.zeros(cameras, 1, vit.embed_dim)) if cameras else None
        if self.cv_embed is not None:
            nn.init.trunc_normal_(self.cv_embed, std=0.02)
        self.input_size = vit.patch_embed.img_size
        self.grid = Grid(*vit.patch_embed.grid_size)
        self.dim = vit.head.out_features if project else vit.embed_dim
        self.mean, self.std = _three(mean), _three(std)

    def _embed(self, images: Tensor, camera: Tensor | None) -> Tensor:
        tokens: Tensor = self.vit._pos_embed(self.vit.patch_embed(images))  # (B, prefix + N, W)
        if self.cv_embed is None or camera is None:
            return tokens
        sie = self.sie_coefficient * self.cv_embed[camera]  # (B, 1, W)
        if self.sie_on_all:
            return tokens + sie
        # SIE belongs to the class token alone; adding it before or after the position table is the same sum.
        return torch.cat([tokens[:, :1] + sie, tokens[:, 1:]], dim=1)

    def forward(self, images: Tensor, camera: Tensor | None = None) -> Tokens:
        """See `Backbone.forward`."""
        m, b = images.shape[:2]
        tokens = self._embed(images.flatten(0, 1), None if camera is None else camera.repeat(m))
        tokens = self.vit.norm(self.vit.blocks(self.vit.norm_pre(tokens)))
        if self.project:
            tokens = self.vit.head(tokens)
        tokens = tokens.unflatten(0, (m, b))
        patches = tokens[:, :, self.vit.num_prefix_tokens :]
        return Tokens(patches, patches.mean(2) if self.pool is Pool.MEAN else tokens[:, :, 0])


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    red, green, blue = (float(v) for v in values)
    return red, green, blue


class Stem(NamedTuple):
    """What the first blocks of a Hiera trunk leave behind; training caches it while they are frozen."""

    tokens: Tensor  # (B, rows, cols, D3) before the trainable blocks
    skips: Tensor  # (B, N, D1 + D2 [+ 15]) stages 1 and 2, averaged over each patch, and its colours if asked for


class HieraBackbone(Backbone):
    """Stages 1 to 3 of timm's SAM 2 Hiera, an adapter per modality, and a pool in place of a class token.

    Stage 3 has one token per 16x16 pixels; stages 1 and 2 are averaged onto the same grid and join it, for they know
    colour and texture that the deep stage has forgotten. The trunk is made for photographs: each modality's adapter
    brings its tokens into a space that the three share.

    Args:
        trunk: the timm model; its last stage is dropped.
        input_size: (height, width) of the images.
        pool: learned attention or mean patch.
        adapter_dim: width of the tokens that leave; 0 leaves stage 3 as it is.
        pool_heads: heads of the attention pool.
        trainable_blocks: how many blocks at the end of stage 3 training on cached tokens may change.
        colours: let the adapters also read each patch's colours, which the trunk, made to find outlines, gives up.
        surround: let them also read the mean of each patch's neighbourhood: a person goes on beside a patch.
        adapter_heads: of an attention inside the adapters; 0 for none.
        places: length of a learned code of its place that is added to each token, the same for all modalities; 0 for
            none. A pool's mean of it says where that modality looked, which a patch of another can be compared with.
        place_channels: how many of a token's channels that code has to itself, so that what a patch looks like does
            not drown it; 0 adds it to all of them.
        gate: let the adapters weigh what a patch looks like against its place.
        mirror: average the tokens of a picture with those of its mirror image: steadier, at twice the cost.
    """

    def __init__(  # noqa: PLR0913 - each is an option of a file
        self,
        trunk: HieraDet,
        *,
        input_size: tuple[int, int] = (256, 128),
        pool: Pool = Pool.ATTENTION,
        adapter_dim: int = 0,
        pool_heads: int = 8,
        trainable_blocks: int = 0,
        colours: bool = False,
        surround: bool = False,
        adapter_heads: int = 0,
        places: float = 0.0,
        place_channels: int = 0,
        gate: bool = False,
        mirror: bool = False,
    ) -> None:
        super().__init__()
        if pool is Pool.CLASS:
            raise ValueError("Hiera has no class token; pool by attention or by the mean patch.")
        self.early_ends = trunk.stage_ends[:2]
        last = trunk.stage_ends[2]
        widths = [trunk.blocks[i].dim_out for i in (*self.early_ends, last)]
        trunk.blocks = trunk.blocks[: last + 1]
        trunk.head = nn.Identity()
        self.trunk = trunk
        self.trainable_blocks = min(trainable_blocks, last - self.early_ends[1])
        self.frozen_blocks = last + 1 - self.trainable_blocks
        self.input_size = input_size
        self.grid = Grid(input_size[0] // 16, input_size[1] // 16)
        self.dim = adapter_dim or widths[2]
        self.mean, self.std = trunk.pretrained_cfg["mean"], trunk.pretrained_cfg["std"]
        self.colours = COLOURS if colours else 0
        if place_channels and not (adapter_dim and places):
            raise ValueError("A place can only have channels of its own where adapters leave them and it has a code.")
        shape = (sum(widths), adapter_dim, self.colours, surround, adapter_heads, place_channels, gate)
        self.adapters = nn.ModuleDict({m: Adapter(*shape) for m in MODALITIES}) if adapter_dim else None
        self.surround = surround
        self.mirror = mirror
        self.place_channels = place_channels
        code = own_places(self.grid, place_channels) if place_channels else smooth_places(self.grid, self.dim)
        self.places = nn.Parameter(places * code) if places else None
        learned = pool is Pool.ATTENTION
        self.pools = nn.ModuleDict({m: AttentionPool(self.dim, pool_heads) for m in MODALITIES}) if learned else None

    def stem(self, images: Tensor) -> Stem:
        """(B, 3, H, W) images through the blocks that stay frozen."""
        x = self.trunk._pos_embed(self.trunk.patch_embed(images))  # (B, H/4, W/4, D1)
        skips = []
        for i, block in enumerate(self.trunk.blocks[: self.frozen_blocks]):
            x = block(x)
            if i in self.early_ends:
                onto_grid = F.adaptive_avg_pool2d(x.permute(0, 3, 1, 2), (self.grid.rows, self.grid.cols))
                skips.append(onto_grid.flatten(2).transpose(1, 2))  # (B, N, D1 or D2)
        if self.colours:
            mean, std = (images.new_tensor(v)[:, None, None] for v in (self.mean, self.std))
            skips.append(patch_colours(images * std + mean, self.grid))
        return Stem(x, torch.cat(skips, dim=-1))

    def finish(self, stem: Stem) -> Tensor:
        """The remaining blocks: (B, N, D3), or (B, N, D3 + D1 + D2 [+ 15]) where adapters read the early stages."""
        tokens = self.trunk.blocks[self.frozen_blocks :](stem.tokens).flatten(1, 2)
        if self.adapters is None:
            return tokens
        features = torch.cat([tokens, stem.skips], dim=-1)
        return torch.cat([features, surroundings(features, self.grid)], dim=-1) if self.surround else features

    def adapt(self, features: Tensor, at: Tensor | None = None) -> Tokens:
        """Adapters and pools: (M, B, N, D) features to tokens; `at` (N,) says which patches, if not all."""
        return self._pooled(self._adapted(features), at)

    def _adapted(self, features: Tensor) -> Tensor:
        if self.adapters is None:
            return features
        return torch.stack([self.adapters[m](features[i]) for i, m in enumerate(MODALITIES)])

    def _pooled(self, patches: Tensor, at: Tensor | None = None) -> Tokens:
        if self.places is not None:
            places = self.places if at is None else self.places[at]
            own = self.place_channels
            patches = torch.cat([patches, places.expand(*patches.shape[:-1], -1)], -1) if own else patches + places
        if self.pools is None:
            return Tokens(patches, patches.mean(2))
        return Tokens(patches, torch.stack([self.pools[m](patches[i]) for i, m in enumerate(MODALITIES)]))

    def forward(self, images: Tensor, camera: Tensor | None = None) -> Tokens:  # noqa: ARG002 - it has no cameras
        """See `Backbone.forward`."""
        patches = self._seen(images)
        if self.mirror:
            turned = self._seen(images.flip(-1)).unflatten(2, tuple(self.grid)).flip(3).flatten(2, 3)
            patches = (patches + turned) / 2
        return self._pooled(patches)

    def _seen(self, images: Tensor) -> Tensor:
        """(M, B, 3, H, W) images to (M, B, N, C) tokens that do not know their place yet."""
        features = self.finish(self.stem(images.flatten(0, 1)))
        return self._adapted(features.unflatten(0, images.shape[:2]))


def _overlapping_size(size: tuple[int, int], stride: int, patch: int) -> tuple[int, int]:
    """The size of a picture with as many patches side by side as overlap in one of the given size."""
    rows, cols = ((side - patch) // stride + 1 for side in size)
    return rows * patch, cols * patch


def create_backbone(kind: str, name: str, input_size: tuple[int, int] = (256, 128), **options: Any) -> Backbone:
    """A backbone with random weights.

    Args:
        kind: `clip` (projected tokens, DeMo layout), `vit` (any plain timm ViT) or `hiera`.
        name: timm model name, such as `vit_base_patch16_clip_quickgelu_224` or `sam2_hiera_tiny`.
        input_size: (height, width).
        options: of the backbone class; `timm_options` go to timm (tests make tiny models with them), and `stride` is
            the step in pixels where the patches of a ViT overlap.
    """
    timm_options = options.pop("timm_options", {})
    if "pool" in options:
        options["pool"] = Pool(options["pool"])
    if kind == "hiera":
        trunk = timm.create_model(name, pretrained=False, num_classes=0, **timm_options)
        return HieraBackbone(trunk, input_size=input_size, **options)
    if kind not in ("vit", "clip"):
        raise ValueError(f"There is no backbone of kind {kind!r}; choose clip, vit or hiera.")
    classes = options.pop("projection", 512) if kind == "clip" else 0
    stride = options.pop("stride", 0)
    cut = _overlapping_size(input_size, stride, timm_options.get("patch_size", 16)) if stride else input_size
    vit = timm.create_model(name, pretrained=False, img_size=cut, num_classes=classes, **timm_options)
    if not isinstance(vit, VisionTransformer):
        raise ValueError(f"{name!r} is not a plain ViT.")
    if stride:
        vit.patch_embed.proj.stride = (stride, stride)
        vit.patch_embed.img_size = tuple(input_size)
    return VitBackbone(vit, project=kind == "clip", **options)
