"""Checkpoints of other programs, made from compact lists of names and shapes, and their forward pass written plainly.

At full size the lists have exactly the tensors of the published models; tests mostly use narrow and shallow ones.
"""

import numpy as np
import torch
import torch.nn.functional as F

from sdtps.images.read import prepare, read_triplet
from tests.algorithm import reference

MODALITIES = ("rgb", "nir", "tir")
NORM = ("weight", "bias")
BATCH_NORM = ("weight", "bias", "running_mean", "running_var")


def clip_shapes(width: int, dim: int, depth: int, patches: int) -> dict[str, tuple[int, ...]]:
    shapes = {
        "class_embedding": (width,),
        "positional_embedding": (patches + 1, width),
        "proj": (width, dim),
        "conv1.weight": (width, 3, 16, 16),
    }
    shapes |= {f"{ln}.{p}": (width,) for ln in ("ln_pre", "ln_post") for p in NORM}
    for i in range(depth):
        block = f"transformer.resblocks.{i}."
        shapes |= {block + "attn.in_proj_weight": (3 * width, width), block + "attn.in_proj_bias": (3 * width,)}
        shapes |= {f"{block}{ln}.{p}": (width,) for ln in ("ln_1", "ln_2") for p in NORM}
        layers = (("attn.out_proj", width, width), ("mlp.c_fc", 4 * width, width), ("mlp.c_proj", width, 4 * width))
        shapes |= _linears(block, layers)
    return shapes


def vit_shapes(width: int, depth: int, patches: int, classes: int = 0) -> dict[str, tuple[int, ...]]:
    shapes = {"cls_token": (1, 1, width), "pos_embed": (1, patches + 1, width)}
    shapes |= {"patch_embed.proj.weight": (width, 3, 16, 16), "patch_embed.proj.bias": (width,)}
    shapes |= {f"norm.{p}": (width,) for p in NORM}
    for i in range(depth):
        block = f"blocks.{i}."
        shapes |= {f"{block}{ln}.{p}": (width,) for ln in ("norm1", "norm2") for p in NORM}
        layers = (("attn.qkv", 3 * width, width), ("attn.proj", width, width), ("mlp.fc1", 4 * width, width),
                  ("mlp.fc2", width, 4 * width))  # fmt: skip
        shapes |= _linears(block, layers)
    return shapes | (_linears("", (("head", classes, width),)) if classes else {})


def demo_shapes(  # noqa: PLR0913 - each is an option of the files
    *,
    width: int = 64,
    dim: int = 32,
    depth: int = 2,
    patches: int = 128,
    classes: int = 171,
    cameras: int = 4,
    rows: int = 0,
    experts: int = 0,
    direct: bool = True,
    reduced: bool = True,
    imagenet: bool = False,
) -> dict[str, tuple[int, ...]]:
    """DeMo: `rows` adds SDTPS with that many aggregated tokens, `experts` its own fusion; an ImageNet ViT or CLIP."""
    dim = width if imagenet else dim
    body = vit_shapes(width, depth, patches) if imagenet else clip_shapes(width, dim, depth, patches)
    shapes = {f"BACKBONE.base.{k}": v for k, v in body.items()}
    if cameras:
        shapes["BACKBONE.cv_embed"] = (cameras, 1, width)
    for m in MODALITIES if reduced else ():
        shapes |= {f"{m}_reduce.0.{p}": (2 * dim,) for p in NORM} | _linears(f"{m}_reduce.", (("1", dim, 2 * dim),))
    heads = {"": 3 * dim} if direct else {f"_{m[0]}": dim for m in MODALITIES}
    if rows:
        heads["_sdtps"] = 3 * dim
        for m in MODALITIES:
            start, hidden = f"sdtps.{m}_", int(0.2 * dim)
            layers = (("sparse.score_predictor.0", dim // 4, dim), ("sparse.score_predictor.2", 1, dim // 4),
                      ("aggr.weight.1", hidden, dim), ("aggr.weight.3", rows, hidden))  # fmt: skip
            shapes |= _linears(start, layers) | {f"{start}aggr.weight.0.{p}": (dim,) for p in NORM}
            shapes[f"{start}aggr.scale"] = (1, 1, 1)
    if experts:
        heads["_moe"] = 7 * dim
        shapes |= _fusion_shapes(dim, experts)
    for suffix, size in heads.items():
        shapes[f"classifier{suffix}.weight"] = (classes, size)
        shapes |= _batch_norm(f"bottleneck{suffix}", size)
    return shapes


def _fusion_shapes(dim: int, experts: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for part in ("r", "n", "t", "rn", "rt", "nt", "rnt"):
        start = f"generalFusion.{part}"
        shapes |= {f"{start}_token": (1, 1, dim), f"{start}.in_proj_weight": (3 * dim, dim)}
        shapes |= {f"{start}.in_proj_bias": (3 * dim,)} | _linears(f"{start}.", (("out_proj", dim, dim),))
    for expert in range(experts):
        for head in range(7):
            mlp, size = f"generalFusion.moe.experts.{expert}.expertHead.{head}.mlp.", dim // experts
            shapes |= _linears(mlp, (("0", size, size),)) | _batch_norm(f"{mlp}2", size)
    gate = "generalFusion.moe.gating_network.gate."
    shapes |= {f"{gate}q_.weight": (dim, dim), f"{gate}k_.weight": (dim, dim)}
    return shapes | _linears(gate, (("linear_re.0", dim, 7 * dim),)) | _batch_norm(f"{gate}linear_re.2", dim)


def _linears(start: str, layers: tuple[tuple[str, int, int], ...]) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for name, out, inner in layers:
        shapes |= {f"{start}{name}.weight": (out, inner), f"{start}{name}.bias": (out,)}
    return shapes


def _batch_norm(start: str, size: int) -> dict[str, tuple[int, ...]]:
    return {f"{start}.{p}": (size,) for p in BATCH_NORM} | {f"{start}.num_batches_tracked": ()}


def random_state(shapes: dict[str, tuple[int, ...]], seed: int = 0) -> dict[str, torch.Tensor]:
    g = torch.Generator().manual_seed(seed)
    state = {k: torch.randn(shape, generator=g) * 0.2 for k, shape in shapes.items()}
    for key, value in state.items():
        if key.endswith("num_batches_tracked"):
            state[key] = torch.tensor(100)
        elif key.endswith(("conv1.weight", "patch_embed.proj.weight")):
            state[key] = value * 0.2
        elif key.endswith("running_var"):
            state[key] = value.abs()
    return state


def block_forward(
    x: torch.Tensor, w: dict[str, torch.Tensor], names: dict[str, str], eps: float, quick: bool, heads: int
):
    """One pre-norm transformer block, step by step."""

    def layer_norm(x, name):
        return F.layer_norm(x, x.shape[-1:], w[names[name] + ".weight"], w[names[name] + ".bias"], eps)

    def linear(x, name):
        weight = names[name]
        if weight.endswith("in_proj"):
            return F.linear(x, w[weight + "_weight"], w[weight + "_bias"])
        return F.linear(x, w[weight + ".weight"], w[weight + ".bias"])

    q, k, v = (t.unflatten(-1, (heads, -1)).transpose(1, 2) for t in linear(layer_norm(x, "ln1"), "qkv").chunk(3, -1))
    attention = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1)
    x = x + linear((attention @ v).transpose(1, 2).flatten(2), "out")
    y = linear(layer_norm(x, "ln2"), "fc1")
    y = y * torch.sigmoid(1.702 * y) if quick else F.gelu(y)
    return x + linear(y, "fc2")


def clip_forward(
    w: dict[str, torch.Tensor], images: torch.Tensor, heads: int, sie: torch.Tensor | None = None, stride: int = 16
):
    """CLIP's visual transformer with ln_post and proj on all tokens, (B, 1 + N, C)."""
    width = len(w["class_embedding"])
    patches = F.conv2d(images, w["conv1.weight"], stride=stride).flatten(2).transpose(1, 2)
    cls = w["class_embedding"].expand(len(images), 1, width)
    cls = cls if sie is None else cls + sie
    x = torch.cat([cls, patches], 1) + w["positional_embedding"]
    x = F.layer_norm(x, (width,), w["ln_pre.weight"], w["ln_pre.bias"], 1e-5)
    i = 0
    while f"transformer.resblocks.{i}.ln_1.weight" in w:
        block = f"transformer.resblocks.{i}."
        parts = {"ln1": "ln_1", "qkv": "attn.in_proj", "out": "attn.out_proj", "ln2": "ln_2", "fc1": "mlp.c_fc",
                 "fc2": "mlp.c_proj"}  # fmt: skip
        x = block_forward(x, w, {k: block + v for k, v in parts.items()}, 1e-5, True, heads)
        i += 1
    return F.layer_norm(x, (width,), w["ln_post.weight"], w["ln_post.bias"], 1e-5) @ w["proj"]


def vit_forward(w: dict[str, torch.Tensor], images: torch.Tensor, heads: int):
    """An ImageNet ViT up to its last norm, (B, 1 + N, W)."""
    width = w["cls_token"].shape[-1]
    patches = F.conv2d(images, w["patch_embed.proj.weight"], w["patch_embed.proj.bias"], stride=16)
    x = torch.cat([w["cls_token"].expand(len(images), -1, -1), patches.flatten(2).transpose(1, 2)], 1) + w["pos_embed"]
    i = 0
    while f"blocks.{i}.norm1.weight" in w:
        parts = {"ln1": "norm1", "qkv": "attn.qkv", "out": "attn.proj", "ln2": "norm2", "fc1": "mlp.fc1",
                 "fc2": "mlp.fc2"}  # fmt: skip
        x = block_forward(x, w, {k: f"blocks.{i}.{v}" for k, v in parts.items()}, 1e-6, False, heads)
        i += 1
    return F.layer_norm(x, (width,), w["norm.weight"], w["norm.bias"], 1e-6)


def reduced(w: dict[str, torch.Tensor], tokens: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """DeMo's GLOBAL_LOCAL: [class token, mean patch] to one vector per modality."""
    vectors = {}
    for m, t in tokens.items():
        both = torch.cat([t[:, 0], t[:, 1:].mean(1)], -1)
        both = F.layer_norm(both, both.shape[-1:], w[f"{m}_reduce.0.weight"], w[f"{m}_reduce.0.bias"], 1e-5)
        y = F.linear(both, w[f"{m}_reduce.1.weight"], w[f"{m}_reduce.1.bias"])
        vectors[m] = y * torch.sigmoid(1.702 * y)
    return vectors


def saved(tmp_path, state, name="DeMobest.pth"):
    path = tmp_path / name
    torch.save(state, path)
    return path


def normalised(photos, size, mean=0.5, std=0.5):
    """The photographs as the reference prepares them, (3, 1, 3, H, W)."""
    pixels = prepare(read_triplet(*photos.values()), size).pixels
    stack = np.stack([pixels[m] for m in ("rgb", "nir", "tir")]).astype(np.float32) / 255
    return ((torch.from_numpy(stack) - torch.tensor(mean)) / torch.tensor(std)).permute(0, 3, 1, 2).unsqueeze(1)


def direct_analysis(state, images, heads, settings, sie=None):
    """Tokens by the plain forward pass, selection by the NumPy reference."""
    base = {k.removeprefix("BACKBONE.base."): v for k, v in state.items() if k.startswith("BACKBONE.base.")}
    run = (
        (lambda x: vit_forward(base, x, heads)) if "cls_token" in base else lambda x: clip_forward(base, x, heads, sie)
    )
    tokens = {m: run(images[i]) for i, m in enumerate(("rgb", "nir", "tir"))}
    vectors = reduced(state, tokens) if "rgb_reduce.1.weight" in state else {m: t[:, 0] for m, t in tokens.items()}
    patches = {m: t[0, 1:].double().numpy() for m, t in tokens.items()}
    vectors = {m: v[0].double().numpy() for m, v in vectors.items()}
    weights = {k.removeprefix("sdtps."): v.double().numpy() for k, v in state.items() if k.startswith("sdtps.")}
    ratios = (settings.sparse_ratio, settings.aggr_ratio, settings.beta)
    return {m: reference.sample(patches, vectors, weights, m, "final", *ratios) for m in patches}, vectors
