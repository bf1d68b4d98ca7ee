"""Which edition of SDTPS a checkpoint holds, told by the names below `sdtps.`; those that are not run are named.

The public fork changed its SDTPS within days. Two editions are run here: the one with predictor and aggregation
(until 8 December 2025) and the soft one (since 10 December). What lies between them has other equations under nearly
the same names, and reading it as either would show maps that its training never had.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from sdtps.support.messages import Message
from sdtps.types import MODALITIES

PREFIX = "sdtps."
CLASSICAL = re.compile(r"(rgb|nir|tir)_(sparse|sparse_dense)\.score_predictor\.[02]\.(weight|bias)$"
                       r"|(rgb|nir|tir)_aggr\.(scale$|weight(_sparse|_dense)?\.[013]\.(weight|bias)$)")  # fmt: skip
SOFT_MIXING = re.compile(r"(rgb|nir|tir)_sparse\.modal_weight_mlp\.[0146]\.(weight|bias)$")
SOFT_ATTENTION = re.compile(r"(rgb|nir|tir)_(self_attn|shared_attn|cross_(rgb|nir|tir))\.[qk]_proj\.(weight|bias)$")
SIM = re.compile(r"token_selection\.W_[qkv]\.|modal_interactive\.(cross_attn|ffn|norm[12])\.")
BETWEEN = (
    (r"\.score_proj\.", "attention with several heads (8 December 2025)"),
    (r"\.gate_\w+", "attention behind a gate (9 December 2025)"),
    (r"\.modal_weights$", "one set of mixing weights for all pictures (9 December 2025)"),
    (r"\.(alpha|temperature)$", "a learned temperature (9 to 10 December 2025)"),
    (r"\.modal_weight_mlp\.2\.", "a mask around the mean score (10 December 2025)"),
)


@dataclass(frozen=True)
class Edition:
    """What lies below `sdtps.`.

    Attributes:
        kind: `sdtps`, `soft`, `sim`, `unknown`, or `none` where there is nothing.
        predictor, aggregation: which parts a `sdtps` has.
        dual: it has the second branch of the paper.
        rows: N_c of the aggregation.
        options: of a further selector.
        refusal: why it cannot be run, in one sentence.
    """

    kind: str
    predictor: bool = False
    aggregation: bool = False
    dual: bool = False
    rows: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    refusal: Message | None = None


def read_edition(name: str, tensors: Mapping[str, Tensor]) -> Edition:
    """The edition of a checkpoint called `name`.

    Args:
        name: of the file.
        tensors: all of its tensors under DeMo's names.
    """
    below = {k.removeprefix(PREFIX): v for k, v in tensors.items() if k.startswith(PREFIX)}
    if not below:
        return Edition("none", refusal=_weightless(name) if any(map(_is_sdtps_head, tensors)) else None)
    if all(CLASSICAL.match(k) for k in below):
        return Edition(
            "sdtps",
            predictor=any("score_predictor" in k for k in below),
            aggregation=any("_aggr." in k for k in below),
            dual=any("_sparse_dense." in k for k in below),
            rows=next((len(v) for k, v in below.items() if re.match(r"rgb_aggr\.weight.*\.3\.bias$", k)), None),
        )
    if all(SIM.match(k) for k in below):
        return Edition("sim")
    mixing = [k for k in below if SOFT_MIXING.match(k)]
    attention = [k for k in below if SOFT_ATTENTION.match(k)]
    if len(mixing) + len(attention) == len(below) and any(".modal_weight_mlp.6." in k for k in mixing):
        shared = any("_shared_attn." in k for k in attention)
        return Edition("soft", options={"attention": bool(attention), "shared": shared})
    return Edition("unknown", refusal=_unknown(name, below))


def _is_sdtps_head(name: str) -> bool:
    return re.match(r"(classifier|bottleneck)_sdtps(_(rgb|nir|tir))?\.", name) is not None


def _weightless(name: str) -> Message:
    text = (
        "{name!r} has heads of an SDTPS but no weights below {prefix}: an edition of 9 December 2025 that had none, or "
        "a cut file. How it weighed patches is not known here."
    )
    return Message("weights.edition.weightless", text, name=name, prefix=PREFIX + "*")


def _unknown(name: str, below: Mapping[str, Tensor]) -> Message:
    for pattern, what in BETWEEN:
        found = next((k for k in below if re.search(pattern, k)), None)
        if found is not None:
            text = "{name!r} holds an edition of SDTPS that is not run here, with {what}; it has {tensor}."
            return Message("weights.edition.between", text, name=name, what=what, tensor=PREFIX + found)
    known = (CLASSICAL, SOFT_MIXING, SOFT_ATTENTION)
    stranger = next((k for k in below if not any(p.match(k) for p in known)), next(iter(below)))
    text = "{name!r} holds a newer or unknown SDTPS that is not run here; it has {tensor}."
    return Message("weights.edition.unknown", text, name=name, tensor=PREFIX + stranger)


def untouched_reduction(tensors: Mapping[str, Tensor]) -> bool:
    """Whether the norms of all three reductions stand exactly at 1 and 0, where training would have moved them."""
    norms = [(tensors.get(f"{m}_reduce.0.weight"), tensors.get(f"{m}_reduce.0.bias")) for m in MODALITIES]
    return all(w is not None and b is not None and bool((w == 1).all()) and not bool(b.any()) for w, b in norms)
