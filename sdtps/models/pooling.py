"""Attention pooling by learned questions: one token asks many, as the fusion heads of the DeMo family do.

The questions are the same for every sample, so the key and value projections move to their side: as exact as the usual
order, and as cheap as a mean, which keeps sliders fast.
"""

import torch
from torch import Tensor, nn


def ask(attention: nn.MultiheadAttention, question: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Multi-head attention of one learned question over the rows of each sample.

    Args:
        attention: the layer, as it was trained.
        question: (1, 1, C).
        rows: (B, T, C).

    Returns:
        (B, C) the answer, and (B, T) the attention, as the mean over the heads.
    """
    answer, weights = answers(attention, *projected(attention, question.reshape(1, -1)), rows.unsqueeze(1))
    return answer[:, 0], weights[:, 0].mean(-1)


def projected(attention: nn.MultiheadAttention, questions: Tensor) -> tuple[Tensor, Tensor]:
    """(M, C) questions to what meets the rows: (M, H, C) directions and (M, H) offsets; no setting changes them."""
    heads, dim = attention.num_heads, attention.embed_dim
    w_q, w_k, _ = attention.in_proj_weight.split(dim)
    b_q, b_k, _ = attention.in_proj_bias.split(dim)
    query = (questions @ w_q.T + b_q).unflatten(1, (heads, -1))  # (M, H, c)
    directions = torch.einsum("mhc,hcd->mhd", query, w_k.unflatten(0, (heads, -1)))
    return directions, (query * b_k.unflatten(0, (heads, -1))).sum(-1)


def answers(
    attention: nn.MultiheadAttention, directions: Tensor, offsets: Tensor, rows: Tensor
) -> tuple[Tensor, Tensor]:
    """Each question of `projected` over its own rows (B, M, T, C): (B, M, C) answers and (B, M, T, H) attention."""
    heads, dim = attention.num_heads, attention.embed_dim
    logits = rows @ directions.transpose(1, 2) + offsets.unsqueeze(1)  # (B, M, T, H)
    weights = (logits * (dim // heads) ** -0.5).softmax(dim=2)
    blended = weights.transpose(2, 3) @ rows  # (B, M, H, C)
    w_v, b_v = attention.in_proj_weight[2 * dim :], attention.in_proj_bias[2 * dim :]
    values = torch.einsum("bmhd,hcd->bmhc", blended, w_v.unflatten(0, (heads, -1))).flatten(2) + b_v
    answer: Tensor = attention.out_proj(values)
    return answer, weights
