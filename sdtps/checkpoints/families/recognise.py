"""Whose checkpoint is this? A family is recognised by its names, and its architecture read from its shapes.

Nothing is guessed in silence: what the file does not say is decided by a rule and written down in `Plan.assumed`.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from timm.data.constants import OPENAI_CLIP_MEAN, OPENAI_CLIP_STD

from sdtps.checkpoints.families.demo import BASE, demo_plan
from sdtps.checkpoints.families.grid_guess import PERSON
from sdtps.checkpoints.families.plan import Geometry, Hints, Plan, choose_grid
from sdtps.checkpoints.families.signal import SIGNAL_BASE, signal_plan
from sdtps.checkpoints.families.vit import MAX_DEPTH, Body, clip_body, vit_body
from sdtps.checkpoints.readers.state_files import StateFile
from sdtps.models.reid import ModelConfig
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import Message
from sdtps.types import Grid, Settings

FORMAT = "sdtps-lens/1"
LARGEST = 65536  # of any number in a configuration that came with a file
TIMM_OPTIONS = {"embed_dim", "depth", "num_heads", "patch_size", "mlp_ratio", "qkv_bias", "class_token", "reg_tokens",
                "pre_norm", "no_embed_class", "init_values", "global_pool", "stages", "global_att_blocks"}  # fmt: skip
CLIP_TEXT = re.compile(
    r"^(transformer|token_embedding|ln_final)\.|^(positional_embedding|text_projection|logit_scale|logit_bias)$"
    r"|^(input_resolution|context_length|vocab_size)$"
)


def plan_for(file: StateFile, hints: Hints) -> Plan:
    """Recognise a checkpoint, or say in one sentence that it is of no known kind."""
    names = file.tensors
    if file.metadata.get("format") == FORMAT:
        return _own(file)
    if any(name.startswith(BASE) for name in names):
        return demo_plan(file, hints)
    if any(name.startswith(SIGNAL_BASE) for name in names):
        return signal_plan(file, hints)
    if "visual.class_embedding" in names or "class_embedding" in names:
        return _clip(file, hints)
    if "patch_embed.proj.weight" in names:
        return _vit(file, hints)
    raise CheckpointError(
        "weights.family",
        "{name!r} is of no kind that is known here (DeMo and its forks, Signal, CLIP, timm ViT, this program's own); "
        "it begins with {first}.",
        name=file.name,
        first=", ".join(list(names)[:3]),
    )


def _own(file: StateFile) -> Plan:
    try:
        config = ModelConfig.from_dict(json.loads(file.metadata["config"]))
        _check(config)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise _unusable(file.name) from None
    return Plan("own", config, dict(file.tensors), settings=_trained_at(file.metadata))


def _trained_at(metadata: Mapping[str, str]) -> dict[str, float]:
    """Ratios, beta and tau of the training where each was one number; of a range that was drawn from, none is the one.

    A file names tau only where its training had one: otherwise the what-if maps begin at the default.
    """
    try:
        told = json.loads(metadata.get("trained_settings", "{}"))
        names = [k for k in ("sparse_ratio", "aggr_ratio", "beta", "tau") if isinstance(told.get(k), int | float)]
        known: dict[str, Any] = {k: float(told[k]) for k in names}
        Settings(**known)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {}
    return known


def _unusable(name: str) -> CheckpointError:
    return CheckpointError(
        "weights.config", "{name!r} has no usable configuration in its metadata; save it again.", name=name
    )


def _check(config: ModelConfig) -> None:
    """Raise a ValueError for what a file must not ask for: other files, downloads, vast sizes."""
    timm_options = config.backbone_options.get("timm_options", {})
    leaves = _leaves([config.input_size, config.num_classes, config.aggregation_rows, config.backbone_options])
    numbers = [v for v in leaves if not isinstance(v, str) and v is not None]
    safe = (
        re.fullmatch(r"[a-z0-9_.]+", config.name)
        and set(timm_options) <= TIMM_OPTIONS
        and all(isinstance(v, int | float) and 0 <= v <= LARGEST for v in numbers)
        and all(v in ("avg", "token") for v in _leaves(timm_options) if isinstance(v, str))
        and sum(_leaves([timm_options.get("depth", 0), timm_options.get("stages", 0)])) <= MAX_DEPTH
    )
    if not safe:
        raise ValueError("An architecture that a file may not ask for.")
    Settings(config.sparse_ratio, config.aggr_ratio, config.beta, variant=config.variant)


def _three_numbers(file: StateFile, key: str) -> list[float]:
    """Mean or spread of the pictures, as the metadata gives them."""
    try:
        numbers = [float(v) for v in json.loads(file.metadata[key])]
        if len(numbers) != 3 or not all(math.isfinite(n) and (n > 0 or key == "mean") for n in numbers):
            raise ValueError
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
        raise _unusable(file.name) from None
    return numbers


def _leaves(value: Any) -> list[Any]:
    """Every value inside nested lists and mappings."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return [leaf for inner in value for leaf in _leaves(inner)] if isinstance(value, list | tuple) else [value]


def _clip(file: StateFile, hints: Hints) -> Plan:
    """OpenAI's CLIP: the visual half, whatever else the file holds."""
    prefix = "visual." if "visual.class_embedding" in file.tensors else ""
    visual = {k.removeprefix(prefix): v for k, v in file.tensors.items() if k.startswith(prefix)}
    body = clip_body(file.name, visual)
    rest = [k for k in file.tensors if not k.startswith(prefix)]
    text = {k: "text" for k in rest if CLIP_TEXT.match(k)}
    unexpected = {k: "other" for k in rest if k not in text} | {prefix + k: "backbone" for k in body.unexpected}
    return _plain("clip", file, body, hints, lambda name: prefix + body.theirs(name), text, unexpected)


def _vit(file: StateFile, hints: Hints) -> Plan:
    """A plain ViT under timm's names."""
    body = vit_body(file.name, dict(file.tensors))
    return _plain("vit", file, body, hints, body.theirs, dict.fromkeys(body.unused, "head"), {})


def _plain(
    family: str,
    file: StateFile,
    body: Body,
    hints: Hints,
    theirs: Callable[[str], str],
    unused: Mapping[str, str],
    unexpected: Mapping[str, str],
) -> Plan:
    """A backbone alone: its square position table is resized to the person's grid, or to the size asked for."""
    assumed = list(body.assumed)
    side = round(body.patches**0.5)
    if side * side == body.patches:
        size = hints.size or (PERSON.rows * body.patch, PERSON.cols * body.patch)
        grid = Grid(max(1, size[0] // body.patch), max(1, size[1] // body.patch))
        if size[0] % body.patch or size[1] % body.patch:
            raise CheckpointError(
                "weights.multiple",
                "Pictures of {height}x{width} cannot be cut into patches of {patch} pixels; choose multiples of it.",
                height=size[0],
                width=size[1],
                patch=body.patch,
            )
        cut = Geometry(grid, size, body.patch)
        body = body.resized(grid, Grid(side, side))
        if grid != Grid(side, side):
            text = "The position table was resized from {side}x{side} to {rows}x{cols} bilinearly, as DeMo does."
            assumed.append(Message("weights.assumed.resized", text, side=side, rows=grid.rows, cols=grid.cols))
    else:
        cut = choose_grid(file.name, body, hints, assumed, [])
    options = dict(body.options)
    if cut.stride != body.patch:
        options["stride"] = cut.stride
    if "mean" in file.metadata:
        options |= {key: _three_numbers(file, key) for key in ("mean", "std")}
    elif body.kind == "clip":
        options |= {"mean": list(OPENAI_CLIP_MEAN), "std": list(OPENAI_CLIP_STD)}
        assumed.append(Message("weights.assumed.clip_mean", "Pictures are normalised with CLIP's own mean and spread."))
    else:
        text = "Pictures are normalised with mean and spread 0.5, as for ViTs of the first papers."
        assumed.append(Message("weights.assumed.half_mean", text))
    config = ModelConfig(
        body.kind,
        body.timm_name,
        cut.size,
        options,
        predictor=False,
        aggregation=False,
    )
    tensors = {f"backbone.vit.{k}": v for k, v in body.tensors.items()}
    return Plan(
        family,
        config,
        tensors,
        lambda ours: theirs(ours.removeprefix("backbone.vit.")),
        frozenset(f"backbone.vit.{k}" for k in body.made),
        unused,
        unexpected,
        tuple(assumed),
        facts=body.facts,
    )
