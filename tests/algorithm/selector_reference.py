"""Soft SDTPS and Signal's selective interaction in float64 NumPy, written from their equations."""

import math

import numpy as np

MODALITIES = ("rgb", "nir", "tir")
OTHERS = {"rgb": ("nir", "tir"), "nir": ("rgb", "tir"), "tir": ("rgb", "nir")}
erf = np.vectorize(math.erf)


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def layer_norm(x, w, b):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w + b


def linear(x, w, name):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def cosine(patches, vector):
    return (patches @ vector) / (np.linalg.norm(patches, axis=-1) * np.linalg.norm(vector))


def soft_sdtps(w, patches, vectors, rho, *, tau=0.3, attention=True, hard=False):
    """One sample: (N, C) patches and (C,) vectors per modality to score, mask, mixing weights and pooled tokens."""
    side_by_side = np.concatenate([vectors[m] for m in MODALITIES])
    found = {}
    for m in MODALITIES:
        p, maps = patches[m], []
        for o, name in ((m, f"{m}_self_attn"), *((o, f"{m}_cross_{o}") for o in OTHERS[m])):
            a = cosine(p, vectors[o])
            if attention:
                query, keys = linear(vectors[o], w, f"{name}.q_proj"), linear(p, w, f"{name}.k_proj")
                a = softmax(keys @ query / math.sqrt(p.shape[1]) + a / 0.3)
            maps.append(sigmoid((a - a.mean()) / (a.std(ddof=1) + 1e-5)))
        mlp = f"{m}_sparse.modal_weight_mlp."
        x = layer_norm(linear(side_by_side, w, mlp + "0"), w[mlp + "1.weight"], w[mlp + "1.bias"])
        mixing = softmax(linear(gelu(linear(gelu(x), w, mlp + "4")), w, mlp + "6"))
        score = sum(c * s for c, s in zip(mixing, maps, strict=True))
        mask = sigmoid((score - np.quantile(score, 1 - rho)) / tau)
        if hard:
            mask = np.zeros(len(p))
            mask[np.argsort(-score, kind="stable")[: max(1, math.ceil(len(p) * rho))]] = 1
        found[m] = {"maps": maps, "score": score, "mask": mask, "mixing": mixing, "pooled": (p * mask[:, None]).mean(0)}
    return found


def selective_interaction(w, patches, vectors, k, *, keep_ratio=None, heads=8):
    """One sample: intra and inter marks, mask, results and the share of attention that dropped rows take."""
    n, dim = patches["rgb"].shape
    rows = np.concatenate([patches[m] for m in MODALITIES])
    queries = np.stack([vectors[m] for m in MODALITIES])
    q, keys = linear(queries, w, "token_selection.W_q"), linear(rows, w, "token_selection.W_k")
    seen = softmax(q @ keys.T / math.sqrt(dim)).reshape(3, 3, n)
    intra, inter = {}, {m: np.zeros(n, bool) for m in MODALITIES}
    for i, m in enumerate(MODALITIES):
        intra[m] = np.zeros(n, bool)
        intra[m][np.argsort(-(patches[m] @ vectors[m]), kind="stable")[:k]] = True
        abroad = np.concatenate([seen[i, MODALITIES.index(o)] for o in OTHERS[m]])
        for place in np.argsort(-abroad, kind="stable")[: min(2 * k, 2 * n)]:
            inter[OTHERS[m][place // n]][place % n] = True
    mask = {m: intra[m] | inter[m] for m in MODALITIES}
    if keep_ratio is not None:
        for m in MODALITIES:
            order = np.argsort(-(patches[m] @ vectors[m]), kind="stable")
            order = [i for i in order if mask[m][i]] + [i for i in order if not mask[m][i]]
            mask[m] = np.zeros(n, bool)
            mask[m][order[: int(n * keep_ratio)]] = True
    left = np.concatenate([patches[m] * mask[m][:, None] for m in MODALITIES])
    part = "modal_interactive."
    weight, bias = w[part + "cross_attn.in_proj_weight"], w[part + "cross_attn.in_proj_bias"]
    q, key, value = (
        (x @ weight[i * dim : (i + 1) * dim].T + bias[i * dim : (i + 1) * dim]).reshape(len(x), heads, -1)
        for i, x in enumerate((queries, left, left))
    )
    attention = softmax(np.einsum("qhc,khc->hqk", q, key) / math.sqrt(dim // heads))
    out = np.einsum("hqk,khc->qhc", attention, value).reshape(3, dim)
    x = queries + linear(out, w, part + "cross_attn.out_proj")
    x = layer_norm(x, w[part + "norm1.weight"], w[part + "norm1.bias"])
    x2 = x + linear(gelu(linear(x, w, part + "ffn.0")), w, part + "ffn.2")
    result = layer_norm(x2, w[part + "norm2.weight"], w[part + "norm2.bias"])
    dropped = ~np.concatenate([mask[m] for m in MODALITIES])
    leak = attention.mean(0)[:, dropped].sum(-1)
    return {
        "intra": intra,
        "inter": inter,
        "mask": mask,
        "result": result,
        "leak": leak,
        "attention": attention.mean((0, 1)),
    }
