"""An independent SDTPS in float64 NumPy, written from the equations alone: explicit loops, no torch.

It shares no code with the package, so that an error there cannot hide here.
"""

import math

import numpy as np

MODALITIES = ("rgb", "nir", "tir")
OTHERS = {"rgb": ("nir", "tir"), "nir": ("rgb", "tir"), "tir": ("rgb", "nir")}
_erf = np.vectorize(math.erf)


def gelu(x):
    return 0.5 * x * (1.0 + _erf(x / math.sqrt(2.0)))


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def softmax(x, axis=-1):
    if x.shape[axis] == 0:
        return x
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def cosine(patches, vector):
    """(N, C) and (C,) to (N,)."""
    return np.array(
        [p @ vector / (max(np.linalg.norm(p), 1e-12) * max(np.linalg.norm(vector), 1e-12)) for p in patches]
    )


def norm(s):
    return (s - s.min()) / (s.max() - s.min() + 1e-8)


def predictor(patches, w, prefix):
    hidden = gelu(patches @ w[prefix + "0.weight"].T + w[prefix + "0.bias"])
    return sigmoid(hidden @ w[prefix + "2.weight"].T + w[prefix + "2.bias"])[:, 0]


def weight_network(tokens, w, prefix):
    """(K, C) to (K, N_c) logits before transpose and scale."""
    mean = tokens.mean(-1, keepdims=True)
    var = tokens.var(-1, keepdims=True)
    x = (tokens - mean) / np.sqrt(var + 1e-5) * w[prefix + "0.weight"] + w[prefix + "0.bias"]
    x = gelu(x @ w[prefix + "1.weight"].T + w[prefix + "1.bias"])
    return x @ w[prefix + "3.weight"].T + w[prefix + "3.bias"]


def select(patches, score, k):
    order = sorted(range(len(score)), key=lambda i: (-score[i], i))
    keep, drop = np.array(order[:k]), np.array(order[k:], dtype=int)
    extra_weights = softmax(score[drop])
    extra = extra_weights @ patches[drop] if len(drop) else np.zeros(patches.shape[1])
    return keep, drop, extra_weights, extra


def sample(patches, global_vectors, w, m, variant, sparse_ratio, aggr_ratio, beta):
    """One sample of one modality; dicts of (N, C) and (C,) arrays. Returns a dict of named arrays."""
    p = patches[m]
    n = len(p)
    k = max(1, math.ceil(n * sparse_ratio))
    own = p.mean(0) if variant in ("open-source", "paper") else global_vectors[m]
    raw_self = cosine(p, own)
    raw_cross = [cosine(p, global_vectors[o]) for o in OTHERS[m]]
    out = {"raw_self": raw_self, "raw_cross": raw_cross, "self": norm(raw_self), "cross": [norm(c) for c in raw_cross]}
    rows = int(n * aggr_ratio * sparse_ratio)

    def fused(part):
        out.setdefault("predictor", predictor(p, w, f"{m}_{part}.score_predictor."))
        s_p = predictor(p, w, f"{m}_{part}.score_predictor.")
        return (1 - 2 * beta) * s_p + beta * (out["cross"][0] + out["cross"][1] + 2 * out["self"])

    score = raw_self + raw_cross[0] + raw_cross[1] if variant == "open-source" else fused("sparse")
    keep, drop, extra_weights, extra = select(p, score, k)
    out.update(score=score, keep=keep, drop=drop, extra_weights=extra_weights)

    if variant == "first":
        weights = np.eye(k)
        aggregated = p[keep]
    else:
        net = "weight_sparse." if variant == "paper" else "weight."
        scale = w[f"{m}_aggr.scale"].item()
        logits = weight_network(p[keep], w, f"{m}_aggr.{net}").T[:rows] * scale
        if variant == "importance":
            logits = logits + np.log(softmax(score[keep]) + 1e-8)[None]
        weights = softmax(logits)
        aggregated = weights @ p[keep]
        if variant == "paper":
            dense_keep, _, _, dense_extra = select(p, fused("sparse_dense"), k)
            dense_weights = softmax(weight_network(p[dense_keep], w, f"{m}_aggr.weight_dense.").T[:rows] * scale)
            aggregated = aggregated + dense_weights @ p[dense_keep]
            extra = (extra + dense_extra) / 2
            out.update(dense_keep=dense_keep, dense_weights=dense_weights)
    tokens = np.concatenate([aggregated, extra[None]])
    if variant == "open-source":
        tokens = np.concatenate([global_vectors[m][None], tokens])
        tokens = tokens / np.maximum(np.linalg.norm(tokens, axis=-1, keepdims=True), 1e-12)
    out.update(extra=extra, weights=weights, aggregated=aggregated, tokens=tokens, pooled=tokens.mean(0))
    return out
