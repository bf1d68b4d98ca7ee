"""A ViT's architecture read from the shapes of its tensors, and its tensors in timm's names.

Width, depth, patch, projection, registers and layer scale are all in the shapes. Only the number of attention heads is
not; every published ViT of this layout has heads of 64 channels.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from sdtps.checkpoints.families.clip import clip_name, clip_to_timm, resize_position_table, timm_name
from sdtps.checkpoints.families.grid_guess import possible_grids
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import Message
from sdtps.types import Grid

CLIP_TIMM, VIT_TIMM = "vit_base_patch16_clip_quickgelu_224", "vit_base_patch16_224"
CLIP_GELU_TIMM = "vit_base_patch16_clip_224"  # the same names, another activation
HEAD_CHANNELS = 64
MAX_DEPTH = 256  # blocks; the deepest published ViTs have 64


@dataclass(frozen=True)
class Body:
    """A ViT found in a checkpoint.

    Attributes:
        kind, timm_name, options: for `create_backbone`.
        tensors: by timm's names.
        patch: side of a patch in pixels.
        prefix: rows of the position table before the patches.
        theirs: timm's name → the name in the file.
        camera: (cameras, 1, W) embedding stored inside the ViT, if any.
        made: timm's names of tensors that the file does not have and that follow from it (a bias of zeros).
        unused, unexpected: names in the file, without the prefix of the ViT.
        assumed: what the shapes do not say.
        facts: numbers for the report.
    """

    kind: str
    timm_name: str
    options: Mapping[str, Any]
    tensors: dict[str, Tensor]
    patch: int
    prefix: int = 1
    theirs: Callable[[str], str] = str
    camera: Tensor | None = None
    made: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    assumed: tuple[Message, ...] = ()
    facts: dict[str, int] = field(default_factory=dict)

    @property
    def table(self) -> Tensor:
        """(prefix + N, W) position table."""
        return self.tensors["pos_embed"][0]

    @property
    def patches(self) -> int:
        """N, the patches that the position table was made for."""
        return len(self.table) - self.prefix

    def resized(self, grid: Grid, source: Grid) -> "Body":
        """The same with a position table for another grid, resized the reference way."""
        if grid == source:
            return self
        table = resize_position_table(self.table.float(), grid, source, self.prefix)
        return replace(self, tensors=self.tensors | {"pos_embed": table.unsqueeze(0)})


def clip_body(file: str, state: Mapping[str, Tensor]) -> Body:
    """A CLIP visual transformer under OpenAI's names, without any prefix."""
    width, channels, patch, _ = _shape(file, state, "conv1.weight", 4)
    _, projection = _shape(file, state, "proj", 2)
    _shape(file, state, "positional_embedding", 2)
    hidden, _ = _shape(file, state, "transformer.resblocks.0.mlp.c_fc.weight", 2)
    depth = _depth(state, "transformer.resblocks.")
    known = {k: v for k, v in state.items() if timm_name(k) != k}
    timm_options = _sizes(file, width, depth, patch, channels, hidden / width)
    return Body(
        "clip",
        CLIP_TIMM,
        {"projection": projection, "timm_options": timm_options},
        clip_to_timm(known),
        patch,
        theirs=clip_name,
        made=("head.bias",),
        unexpected=tuple(k for k in state if k not in known),
        facts={"width": width, "depth": depth, "heads": timm_options["num_heads"], "patch": patch},
    )


def vit_body(file: str, state: Mapping[str, Tensor]) -> Body:
    """A plain ViT under timm's names: ImageNet, CLIP as timm stores it, DINOv2 and their like."""
    width, channels, patch, _ = _shape(file, state, "patch_embed.proj.weight", 4)
    hidden, _ = _shape(file, state, "blocks.0.mlp.fc1.weight", 2)
    _, rows, _ = _shape(file, state, "pos_embed", 3)
    depth = _depth(state, "blocks.")
    clip = "norm_pre.weight" in state and "head.weight" in state
    registers = _shape(file, state, "reg_token", 3)[1] if "reg_token" in state else 0
    tokens = int("cls_token" in state) + registers
    # Whether the table has rows for the prefix shows in what remains: it must be a grid.
    prefix = tokens if possible_grids(rows - tokens) or not possible_grids(rows) else 0
    timm_options = _sizes(file, width, depth, patch, channels, hidden / width)
    timm_options |= {"qkv_bias": "blocks.0.attn.qkv.bias" in state, "class_token": "cls_token" in state}
    timm_options |= {"reg_tokens": registers, "pre_norm": "norm_pre.weight" in state, "no_embed_class": not prefix}
    if "blocks.0.ls1.gamma" in state:
        timm_options["init_values"] = 1.0
    if "cls_token" not in state:
        timm_options["global_pool"] = "avg"
    dropped = ("fc.", "pre_logits.", "head_dist.") + (() if clip else ("head.",))
    unused = tuple(k for k in state if k.startswith(dropped))
    camera = state.get("sie_embed")
    tensors = {k: v.float() if v.is_floating_point() else v for k, v in state.items() if k not in unused}
    tensors.pop("sie_embed", None)
    options: dict[str, Any] = {"timm_options": timm_options}
    assumed: tuple[Message, ...] = ()
    quick = False
    if clip:
        projection, _ = _shape(file, state, "head.weight", 2)
        options["projection"] = projection
        tensors = {"head.bias": torch.zeros(projection)} | tensors
        quick = "quickgelu" in file.lower() or not re.search(r"^timm |laion|datacomp", file.lower())
        activation = "QuickGELU" if quick else "GELU"
        text = "The activation is not stored; by its name, {activation} is assumed."
        assumed = (Message("weights.assumed.activation", text, activation=activation),)
    if "cls_token" not in state:
        options["pool"] = "mean"
    return Body(
        "clip" if clip else "vit",
        (CLIP_TIMM if quick else CLIP_GELU_TIMM) if clip else VIT_TIMM,
        options,
        tensors,
        patch,
        prefix,
        camera=camera,
        made=tuple(k for k in tensors if k not in state),
        unused=unused,
        assumed=assumed,
        facts={"width": width, "depth": depth, "heads": timm_options["num_heads"], "patch": patch},
    )


def _sizes(file: str, width: int, depth: int, patch: int, channels: int, mlp_ratio: float) -> dict[str, Any]:
    if width % HEAD_CHANNELS or channels != 3 or not depth:
        raise _unknown_layout(file, "the patch embedding or a block")
    heads = width // HEAD_CHANNELS
    return {"embed_dim": width, "depth": depth, "num_heads": heads, "patch_size": patch, "mlp_ratio": mlp_ratio}


def _depth(state: Mapping[str, Tensor], start: str) -> int:
    """Blocks from 0 on, one after the other; 0 where one is left out or there are too many."""
    numbers = {k.removeprefix(start).split(".")[0] for k in state if k.startswith(start)}
    depth = len(numbers)
    return depth if depth <= MAX_DEPTH and numbers == set(map(str, range(depth))) else 0


def _shape(file: str, state: Mapping[str, Tensor], name: str, axes: int) -> tuple[int, ...]:
    tensor = state.get(name)
    if tensor is None or tensor.ndim != axes:
        raise _unknown_layout(file, name)
    return tuple(tensor.shape)


def _unknown_layout(file: str, name: str) -> CheckpointError:
    return CheckpointError(
        "weights.layout",
        "{name!r} is not a ViT that can be read here: {tensor} is absent or has an unknown shape.",
        name=file,
        tensor=name,
    )
