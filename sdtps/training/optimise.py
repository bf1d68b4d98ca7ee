"""What is trained, at which rate: freezing, parameter groups, optimisers and schedules."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch import nn

from sdtps.models.backbone import HieraBackbone, VitBackbone
from sdtps.models.reid import ReidModel
from sdtps.training.initial import trunk_prefix
from sdtps.training.recipe import Phase, Recipe

WARM_FROM = 0.01  # of the peak rate, as DeMo's warm-up begins


@dataclass(frozen=True)
class Layer:
    """Some of the backbone's parameters, `depth` layers below its end."""

    depth: int
    parameters: list[nn.Parameter]


def backbone_layers(net: ReidModel) -> Iterator[Layer]:
    """The trainable part of the backbone from its end to its beginning: norm and projection, blocks, embeddings."""
    backbone = net.backbone
    if isinstance(backbone, HieraBackbone):
        blocks = list(islice(backbone.trunk.blocks, backbone.frozen_blocks, None))
        yield from (Layer(depth, list(block.parameters())) for depth, block in enumerate(reversed(blocks)))
        return
    assert isinstance(backbone, VitBackbone)
    blocks = list(backbone.vit.blocks)
    in_blocks = {id(p) for block in blocks for p in block.parameters()}
    after = [*backbone.vit.norm.parameters(), *(backbone.vit.head.parameters() if backbone.project else ())]
    in_after = {id(p) for p in after}
    before = [p for p in backbone.vit.parameters() if id(p) not in in_blocks | in_after]
    yield Layer(0, after)
    yield from (Layer(depth, list(block.parameters())) for depth, block in enumerate(reversed(blocks)))
    yield Layer(len(blocks), before)


def freeze(net: ReidModel, phase: Phase) -> None:
    """Leave exactly those parameters with a gradient that the phase trains."""
    prefix = trunk_prefix(net)
    for name, parameter in net.named_parameters():
        if name.startswith(prefix):
            parameter.requires_grad_(False)
    if not phase.backbone_lr:
        return
    layers = [p for layer in backbone_layers(net) for p in layer.parameters]
    if not layers:
        raise ValueError(
            "backbone_lr is above 0, but no block of this backbone may be trained; set trainable_blocks in "
            "backbone_options, or backbone_lr to 0."
        )
    for parameter in layers:
        parameter.requires_grad_(True)


def parameter_groups(
    net: ReidModel, calibration: nn.Module, phase: Phase, bias_lr: float = 1.0
) -> list[dict[str, Any]]:
    """Learning rate by layer: heads at the full rate, the backbone's layers at a rate that falls with depth below."""
    prefix = trunk_prefix(net)
    own = [p for n, p in net.named_parameters() if not n.startswith(prefix) and p.requires_grad]
    rated = [(phase.lr, [*own, *calibration.parameters()])]
    if phase.backbone_lr:
        rated += [(phase.backbone_lr * phase.layer_decay**x.depth, x.parameters) for x in backbone_layers(net)]
    biases = {id(p) for m in (net, calibration) for n, p in m.named_parameters() if n.endswith("bias")}
    groups = []
    for rate, parameters in rated:
        for factor, chosen in (
            (1.0, [p for p in parameters if bias_lr == 1.0 or id(p) not in biases]),
            (bias_lr, [p for p in parameters if bias_lr != 1.0 and id(p) in biases]),
        ):
            if chosen:
                groups.append({"params": chosen, "lr": rate * factor})
    return groups


def new_optimiser(recipe: Recipe, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """The recipe's optimiser."""
    chosen = recipe.optimiser
    if chosen.name == "sgd":
        return torch.optim.SGD(groups, momentum=chosen.momentum, weight_decay=recipe.weight_decay)
    kind = torch.optim.Adam if chosen.name == "adam" else torch.optim.AdamW
    return kind(groups, weight_decay=recipe.weight_decay)


def rate_at(step: int, steps: int, phase: Phase, epoch_steps: int) -> float:
    """Share of the peak learning rate at a step of a phase: warm-up, then the phase's schedule."""
    warm = round(phase.warm_up * steps)
    if step < warm:
        return max(WARM_FROM, (step + 1) / warm)
    if phase.schedule == "constant":
        return 1.0
    if phase.schedule == "steps":
        return float(phase.gamma ** sum(step >= m * epoch_steps for m in phase.milestones))
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))
