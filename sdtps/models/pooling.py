"""Attention pooling by learned questions: one token asks many, as the fusion heads of the DeMo family do."""

import torch
from torch import Tensor, nn


def ask(attention: nn.MultiheadAttention, question: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Multi-head attention of one learned question over the rows of each sample.

    The question is the same for every sample, so the key and value projections move to its side: as exact as the
    usual order, and as cheap as a mean, which keeps sliders fast.

    Args:
        attention: the layer, as it was trained.
        question: (1, 1, C).
        rows: (B, T, C).

    Returns:
        (B, C) the answer, and (B, T) the attention, as the mean over the heads.
    """
    heads, dim = attention.num_heads, attention.embed_dim
    per_head = dim // heads
    w_q, w_k, w_v = attention.in_proj_weight.split(dim)
    b_q, b_k, b_v = attention.in_proj_bias.split(dim)
    query = (question.reshape(dim) @ w_q.T + b_q).unflatten(0, (heads, per_head))  # (H, c)
    asked = torch.einsum("hc,hcd->hd", query, w_k.unflatten(0, (heads, per_head)))  # (H, C)
    bias = (query * b_k.unflatten(0, (heads, per_head))).sum(-1)  # (H,)
    weights = ((rows @ asked.T + bias) * per_head**-0.5).softmax(dim=1)  # (B, T, H)
    blended = weights.transpose(1, 2) @ rows  # (B, H, C)
    values = torch.einsum("bhd,hcd->bhc", blended, w_v.unflatten(0, (heads, per_head))).flatten(1) + b_v
    answer: Tensor = attention.out_proj(values)
    return answer, weights.mean(-1)
