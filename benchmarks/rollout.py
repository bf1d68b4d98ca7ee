"""Attention rollout on a timm ViT: the product over blocks of (mean attention + identity), from the class token."""

from typing import Any

import torch
from torch import Tensor


class Rollout:
    """(B, rows, cols) maps of a batch.

    Args:
        vit: a plain timm ViT with a class token.
        images: (B, 3, H, W), ready for it.
        grid: rows and columns of its patches.
    """

    def __init__(self, vit: Any, images: Tensor, grid: tuple[int, int]) -> None:
        self.vit, self.images, self.grid = vit, images, grid

    def __call__(self) -> Tensor:
        layers = [block.attn for block in self.vit.blocks]
        seen: list[Tensor] = []
        fused = [layer.fused_attn for layer in layers]
        # Only the unfused path holds the matrix; what enters its dropout is the attention after the softmax.
        hooks = [layer.attn_drop.register_forward_hook(lambda _, given, __: seen.append(given[0])) for layer in layers]
        try:
            for layer in layers:
                layer.fused_attn = False
            with torch.inference_mode():
                self.vit.forward_features(self.images)
                return self._product(seen)
        finally:
            for layer, was in zip(layers, fused, strict=True):
                layer.fused_attn = was
            for hook in hooks:
                hook.remove()

    def _product(self, attentions: list[Tensor]) -> Tensor:
        joint: Tensor | None = None
        for attention in attentions:  # (B, heads, 1 + N, 1 + N)
            mixed = attention.mean(1) + torch.eye(attention.shape[-1])
            mixed = mixed / mixed.sum(-1, keepdim=True)
            joint = mixed if joint is None else mixed @ joint
        assert joint is not None
        return joint[:, 0, self.vit.num_prefix_tokens :].unflatten(1, self.grid)
