"""What came of a checkpoint's tensors, part by part, and which of it makes a file one that fits only in part."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from torch import Tensor

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.checkpoints.families.plan import Plan
from sdtps.models.reid import ReidModel
from sdtps.types import WeightsGroup

GROUPS = (
    ("camera", r"backbone\.cv_embed"),
    ("backbone", r"backbone\."),
    ("reduction", r"\w+_reduce\."),
    ("predictor", r"sdtps\.\w+_sparse(_dense)?\.score_predictor"),
    ("aggregation", r"sdtps\.\w+_aggr"),
    ("sdtps", r"sdtps\."),
    ("fusion", r"generalFusion\.|dgaf\.|frca_"),
    ("heads", r"classifier|bottleneck"),
)
PARTS = (
    "backbone",
    *(group for group, _ in GROUPS if group != "backbone"),
    "before",
    "text",
    "head",
    "other",
)
DECISIVE = {"camera", "backbone", "reduction", "predictor", "aggregation", "sdtps", "before", "fusion"}
Entries = Iterable[tuple[str, str]]  # part and name


class Comparison(NamedTuple):
    """A file against its model, in the file's names."""

    groups: tuple[WeightsGroup, ...]
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    mismatches: list[str]  # in words; empty when the file is as good as whole


def group_of(name: str) -> str:
    """The part of a model that a tensor belongs to, by its name in the model."""
    return next((group for group, pattern in GROUPS if re.match(pattern, name)), "other")


def compare(
    plan: Plan, state: Mapping[str, Tensor], wanted: Mapping[str, Tensor], fitting: Mapping[str, Tensor]
) -> Comparison:
    """Sort tensors into loaded, missing, unexpected and unused.

    Args:
        plan: how the file was read.
        state: its tensors by the model's names.
        wanted: the model's tensors.
        fitting: those of `state` that the model has a place of that shape for.
    """
    missing = [(group_of(k), plan.theirs(k)) for k in wanted if k not in fitting]
    unexpected = [(group_of(k), plan.theirs(k)) for k in state if k not in wanted]
    unexpected += [(group, k) for k, group in plan.unexpected.items()]
    said = [
        f"{plan.theirs(k)} is {_by(state[k])}, not {_by(wanted[k])}" if k in state else f"{plan.theirs(k)} is missing"
        for k in wanted
        if k not in fitting
    ]
    said += [f"{name} is unknown" for group, name in unexpected if group in DECISIVE]
    groups = group_counts(
        loaded=[(group_of(k), k) for k in fitting if k not in plan.made],
        missing=missing,
        unexpected=unexpected,
        unused=[(group, k) for k, group in plan.unused.items()],
    )
    return Comparison(groups, tuple(k for _, k in missing), tuple(k for _, k in unexpected), said)


def group_counts(
    loaded: Entries = (), missing: Entries = (), unexpected: Entries = (), unused: Entries = ()
) -> tuple[WeightsGroup, ...]:
    """The same by part."""
    found: dict[str, dict[str, list[str]]] = {p: {"missing": [], "unexpected": [], "unused": []} for p in PARTS}
    counts = dict.fromkeys(PARTS, 0)
    for part, _ in loaded:
        counts[part] += 1
    for side, entries in (("missing", missing), ("unexpected", unexpected), ("unused", unused)):
        for part, name in entries:
            found[part][side].append(name)
    groups = [WeightsGroup(p, counts[p], **{side: tuple(names) for side, names in found[p].items()}) for p in PARTS]
    return tuple(g for g in groups if g.loaded or g.missing or g.unexpected or g.unused)


def absent_parts(net: ReidModel) -> tuple[str, ...]:
    """Parts of SDTPS that a model does not have at all."""
    if not isinstance(net.sdtps, MultiModalSDTPS):
        return ()
    parts = {"predictor": net.sdtps.rgb_sparse, "aggregation": net.sdtps.rgb_aggr}
    return tuple(name for name, part in parts.items() if part is None)


def facts_of(net: ReidModel) -> dict[str, Any]:
    """What the shapes say."""
    backbone, config = net.backbone, net.config
    return {
        "architecture": config.name,
        "input_size": list(backbone.input_size),
        "grid": list(backbone.grid),
        "channels": backbone.dim,
        "compared": backbone.dim - (config.fusion.left_out if config.fusion else 0),  # of them, in the test feature
        "classes": config.num_classes,
        "cameras": config.backbone_options.get("cameras", 0),
        "rows": net.sdtps.rows,
        "global_local": config.global_local,
        "direct": config.direct,
        "variant": config.variant,
        "feature": list(net.parts),
        "reading": config.reading[:16],
    }


def _by(tensor: Tensor) -> str:
    return "x".join(map(str, tensor.shape)) or "a number"
