"""OpenAI CLIP visual names → timm names, exactly; and the position table resized the reference way."""

import re
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from sdtps.types import Grid

OPENAI_GRID = Grid(14, 14)  # 224x224 pixels in patches of 16

_WHOLE = {
    "class_embedding": "cls_token",
    "positional_embedding": "pos_embed",
    "conv1.weight": "patch_embed.proj.weight",
    "proj": "head.weight",
}
_PARTS = (
    (r"^ln_pre\.", "norm_pre."),
    (r"^ln_post\.", "norm."),
    (r"^transformer\.resblocks\.(\d+)\.", r"blocks.\1."),
    (r"\.ln_1\.", ".norm1."),
    (r"\.ln_2\.", ".norm2."),
    (r"\.attn\.in_proj_(weight|bias)$", r".attn.qkv.\1"),
    (r"\.attn\.out_proj\.", ".attn.proj."),
    (r"\.mlp\.c_fc\.", ".mlp.fc1."),
    (r"\.mlp\.c_proj\.", ".mlp.fc2."),
)


def timm_name(name: str) -> str:
    """The timm name of a CLIP visual tensor (without `visual.`); unknown names come back as they are."""
    if name in _WHOLE:
        return _WHOLE[name]
    for pattern, replacement in _PARTS:
        name = re.sub(pattern, replacement, name)
    return name


_BACK = (
    (r"^norm_pre\.", "ln_pre."),
    (r"^norm\.", "ln_post."),
    (r"\.norm([12])\.", r".ln_\1."),
    (r"\.attn\.qkv\.(weight|bias)$", r".attn.in_proj_\1"),
    (r"\.attn\.proj\.", ".attn.out_proj."),
    (r"\.mlp\.fc1\.", ".mlp.c_fc."),
    (r"\.mlp\.fc2\.", ".mlp.c_proj."),
    (r"^blocks\.(\d+)\.", r"transformer.resblocks.\1."),
)


def clip_name(name: str) -> str:
    """The inverse of `timm_name`, to speak to people in the names of their file."""
    for theirs, ours in _WHOLE.items():
        if name == ours:
            return theirs
    for pattern, replacement in _BACK:
        name = re.sub(pattern, replacement, name)
    return name


def clip_to_timm(state: Mapping[str, Tensor], grid: Grid | None = None) -> dict[str, Tensor]:
    """A CLIP visual state dict in the names and shapes of timm's `vit_*_clip_quickgelu_*`, in fp32.

    Args:
        state: CLIP tensors, with or without the `visual.` prefix.
        grid: resize the position table to this grid; as it is by default.
    """
    mapped: dict[str, Tensor] = {}
    for key, value in state.items():
        name = key.removeprefix("visual.")
        tensor = value.float() if value.is_floating_point() else value  # integers are the caller's to refuse
        if name == "class_embedding":
            tensor = tensor.reshape(1, 1, -1)
        elif name == "positional_embedding":
            tensor = (tensor if grid is None else resize_position_table(tensor, grid)).unsqueeze(0)
        elif name == "proj":
            tensor = tensor.t().contiguous()
            mapped["head.bias"] = torch.zeros(len(tensor), device=tensor.device)
        mapped[timm_name(name)] = tensor
    return mapped


def resize_position_table(table: Tensor, grid: Grid, source: Grid = OPENAI_GRID, prefix: int = 1) -> Tensor:
    """(1 + n, W) position table to (1 + N, W): row 0 kept, the rest resized bilinearly without antialiasing.

    timm's own resampler is bicubic with antialiasing and gives another table; this one is what re-id training used.

    Args:
        table: the table, class token first.
        grid: the new grid.
        source: the table's own grid, unless it already has the new one's number of patches.
        prefix: rows before the patches: 1 for a class token.
    """
    patches = len(table) - prefix
    if patches == grid.patches and source.patches != patches:
        return table
    if source.patches != patches:
        raise ValueError(f"A position table of {patches} patches is not a {source.rows}x{source.cols} grid.")
    image = table[prefix:].reshape(1, source.rows, source.cols, -1).permute(0, 3, 1, 2)  # (1, W, rows, cols)
    image = F.interpolate(image.float(), size=tuple(grid), mode="bilinear", align_corners=False)
    rows = image.permute(0, 2, 3, 1).reshape(grid.patches, -1).to(table.dtype)
    return torch.cat([table[:prefix], rows])
