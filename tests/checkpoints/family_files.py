"""Checkpoints of the later editions of the family, as names and shapes; see `checkpoint_files` for DeMo itself."""

import torch

from tests.checkpoints.checkpoint_files import MODALITIES, NORM, _batch_norm, _linears, demo_shapes, random_state

OTHERS = {"rgb": ("nir", "tir"), "nir": ("rgb", "tir"), "tir": ("rgb", "nir")}


def soft_shapes(
    *, dim: int = 32, attention: bool = True, shared: bool = False, **options
) -> dict[str, tuple[int, ...]]:
    """The fork's soft edition."""
    shapes = demo_shapes(dim=dim, **options)
    for m in MODALITIES:
        mlp = f"sdtps.{m}_sparse.modal_weight_mlp."
        shapes |= _linears(mlp, (("0", 256, 3 * dim), ("4", 64, 256), ("6", 3, 64)))
        shapes |= {f"{mlp}1.{p}": (256,) for p in NORM}
        names = [f"{m}_self_attn", *(f"{m}_cross_{o}" for o in OTHERS[m])] + ([f"{m}_shared_attn"] if shared else [])
        for name in names if attention else ():
            shapes |= _linears(f"sdtps.{name}.", (("q_proj", dim, dim), ("k_proj", dim, dim)))
    return shapes | _head("_sdtps", 3 * dim, options.get("classes", 171))


def signal_shapes(*, dim: int = 32, sim: bool = True, **options) -> dict[str, tuple[int, ...]]:
    """Signal, with its alignment losses' tensors beside it."""
    shapes = {
        k.replace("BACKBONE.", "clip_vision_encoder."): v
        for k, v in demo_shapes(dim=dim, reduced=False, **options).items()
    }
    if sim:
        shapes |= _linears("SIM.token_selection.", tuple((f"W_{x}", dim, dim) for x in "qkv"))
        part = "SIM.modal_interactive."
        shapes |= {part + "cross_attn.in_proj_weight": (3 * dim, dim), part + "cross_attn.in_proj_bias": (3 * dim,)}
        shapes |= _linears(part, (("cross_attn.out_proj", dim, dim), ("ffn.0", 2 * dim, dim), ("ffn.2", dim, 2 * dim)))
        shapes |= {f"{part}norm{i}.{p}": (dim,) for i in (1, 2) for p in NORM}
        shapes |= _head("_var", 3 * dim, options.get("classes", 171))
    return shapes | {"AlignM.contra_temp": (), "AlignM.DAS_r.proj_q.weight": (dim, dim, 1, 1)}


def dgaf_shapes(*, dim: int = 32, version: int = 3, inputs: int = 3) -> dict[str, tuple[int, ...]]:
    """DGAF alone, to be added to others."""
    shapes: dict[str, tuple[int, ...]] = {"dgaf._alpha": ()}
    shapes |= _linears("dgaf.", (("entropy_proj", dim, dim), ("gate_net.0", dim, inputs * dim)))
    shapes |= _linears("dgaf.", (("gate_net.3", inputs, dim), ("modal_enhance.0", dim, dim)))
    shapes |= {f"dgaf.{layer}.{p}": (dim,) for layer in ("gate_net.1", "modal_enhance.1") for p in NORM}
    if version == 3:
        names = [f"{m}_query" for m in MODALITIES] if inputs == 3 else [f"queries.{i}" for i in range(inputs)]
        shapes |= {f"dgaf.{name}": (1, 1, dim) for name in names}
        shapes |= {"dgaf.attn_pool.in_proj_weight": (3 * dim, dim), "dgaf.attn_pool.in_proj_bias": (3 * dim,)}
        shapes |= _linears("dgaf.attn_pool.", (("out_proj", dim, dim),)) | {f"dgaf.attn_norm.{p}": (dim,) for p in NORM}
    return shapes


def frca_shapes(*, dim: int = 32, cross: bool = False) -> dict[str, tuple[int, ...]]:
    """FRCA alone, to be added to others."""
    shapes: dict[str, tuple[int, ...]] = {}
    for m in MODALITIES:
        start = f"frca_{m}."
        shapes |= {f"{start}clc3.net.{i}.weight": (dim, dim, 3, 3) for i in (0, 2)}
        shapes |= {f"{start}clc1_{x}.{i}.weight": (1, 1, 1, 1) for x in ("amp", "pha") for i in (0, 2)}
        shapes |= {f"{start}dnru.dwconv.weight": (dim, 1, 3, 3)} | {f"{start}dnru.gn.{p}": (dim,) for p in NORM}
    if cross:
        shapes |= {"frca_cross_attn.in_proj_weight": (3 * dim, dim), "frca_cross_attn.in_proj_bias": (3 * dim,)}
        shapes |= _linears("frca_cross_attn.", (("out_proj", dim, dim),)) | {
            f"frca_cross_norm.{p}": (dim,) for p in NORM
        }
    return shapes


def parallel_shapes(dim: int = 32) -> dict[str, tuple[int, ...]]:
    """The fork's model with nine heads."""
    shapes = {k: v for k, v in soft_shapes(dim=dim).items() if not k.startswith(("classifier", "bottleneck"))}
    for branch in ("sdtps", "dgaf", "fused"):
        for m in MODALITIES:
            shapes |= _head(f"_{branch}_{m}", dim)
    return shapes | dgaf_shapes(dim=dim)


def family_state(name: str) -> dict[str, torch.Tensor]:
    """A small random checkpoint of each family, by its name in `FAMILIES`."""
    state = random_state(FAMILIES[name]())
    return untouched(state) if name in ("soft", "unused reduction", "cosine", "dgaf only") else state


def untouched(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """As a training leaves a reduction that it never used."""
    ends = {"_reduce.0.weight": torch.ones_like, "_reduce.0.bias": torch.zeros_like}
    changed = {k: make(v) for k, v in state.items() for end, make in ends.items() if k.endswith(end)}
    return state | changed


def _head(suffix: str, size: int, classes: int = 171) -> dict[str, tuple[int, ...]]:
    return {f"classifier{suffix}.weight": (classes, size)} | _batch_norm(f"bottleneck{suffix}", size)


FAMILIES = {
    "sdtps": lambda: demo_shapes(rows=44),
    "demo": lambda: demo_shapes(experts=4),
    "unused reduction": demo_shapes,
    "soft": soft_shapes,
    "soft reduced": lambda: soft_shapes(shared=True),
    "cosine": lambda: soft_shapes(attention=False),
    "soft dgaf": lambda: soft_shapes() | dgaf_shapes() | _head("_dgaf", 96),
    "sdtps dgaf": lambda: demo_shapes(rows=25) | dgaf_shapes(),
    "sdtps dgaf 1": lambda: demo_shapes(rows=25) | dgaf_shapes(version=1),
    "dgaf only": lambda: demo_shapes() | dgaf_shapes() | _head("_dgaf", 96),
    "frca": lambda: demo_shapes() | frca_shapes() | _head("_frca", 96),
    "frca dgaf": lambda: demo_shapes() | frca_shapes(cross=True) | dgaf_shapes(inputs=6) | _head("_dgaf", 192),
    "parallel": parallel_shapes,
    "signal": signal_shapes,
    "signal vehicles": lambda: signal_shapes(direct=False, classes=50, cameras=8),
    "signal baseline": lambda: signal_shapes(sim=False),
}
# Family, variant, parts of the feature, and its length with 32 channels.
READ_AS = {
    "sdtps": ("demo-sdtps", "importance", ["ori", "sdtps"], 192),
    "demo": ("demo", "final", ["ori", "moe"], 96 + 224),
    "unused reduction": ("demo", "final", ["ori"], 96),
    "soft": ("demo-soft", "soft", ["sdtps"], 96),
    "soft reduced": ("demo-soft", "soft", ["sdtps"], 96),
    "cosine": ("demo-soft", "soft", ["sdtps"], 96),
    "soft dgaf": ("demo-soft", "soft", ["dgaf"], 96),
    "sdtps dgaf": ("demo-sdtps", "importance", ["ori", "dgaf"], 192),
    "sdtps dgaf 1": ("demo-sdtps", "importance", ["ori", "dgaf"], 192),
    "dgaf only": ("demo", "final", ["ori", "dgaf"], 192),
    "frca": ("demo", "final", ["frca"], 96),
    "frca dgaf": ("demo", "final", ["dgaf"], 192),
    "parallel": ("demo-soft", "soft", ["sdtps", "dgaf", "fused"], 288),
    "signal": ("signal-sim", "sim", ["ori", "sdtps"], 192),
    "signal vehicles": ("signal-sim", "sim", ["ori", "sdtps"], 192),
    "signal baseline": ("signal", "final", ["ori"], 96),
}
