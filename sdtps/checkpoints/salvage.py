"""What can be shown of a file that fits only in part, when the user insists: parts that are not whole are absent.

Nothing is left at random values. Without a whole backbone there is nothing to show, and the file is refused for good.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sdtps.checkpoints.families.plan import Plan
from sdtps.checkpoints.report import group_of
from sdtps.models.feature import FusionConfig
from sdtps.models.reid import ModelConfig
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import Message
from sdtps.variants import DEFAULT_VARIANT, get_variant

OF_FUSION = ("moe", "dgaf", "frca")


def salvage(name: str, plan: Plan, missing: Iterable[str]) -> Plan:
    """The same plan without the parts that are not whole.

    Args:
        name: of the file.
        plan: how it was read.
        missing: tensors of the model that the file lacks, or has in another shape, in the model's names.
    """
    lost = {group_of(k): k for k in reversed(list(missing))}
    if "backbone" in lost or "other" in lost:
        tensor = plan.theirs(lost.get("backbone", lost.get("other", "")))
        text = (
            "{name!r} lacks a part of its backbone ({tensor}), without which nothing can be shown; give the whole file."
        )
        raise CheckpointError("weights.backbone", text, name=name, tensor=tensor)
    config = _without(plan.config, set(lost))
    parts = {*lost, *(() if config.num_classes else ("heads",))}
    gone = [k for k in plan.tensors if group_of(k) in parts]
    text = "{part} is not whole in the file and is shown as absent."
    return replace(
        plan,
        config=config,
        tensors={k: v for k, v in plan.tensors.items() if k not in gone},
        unused={**plan.unused, **{plan.theirs(k): group_of(k) for k in gone}},
        notes=(*plan.notes, *(Message("weights.note.absent", text, part=part) for part in sorted(lost))),
    )


def _without(config: ModelConfig, lost: set[str]) -> ModelConfig:
    options = dict(config.backbone_options)
    if "camera" in lost:
        options = {k: v for k, v in options.items() if k not in ("cameras", "sie_coefficient", "sie_on_all")}
    selector = get_variant(config.variant).selector
    predictor = config.predictor and not lost & {"predictor", "sdtps"}
    aggregation = config.aggregation and not lost & {"aggregation", "sdtps"}
    variant, selects = config.variant, True
    if selector != "sdtps" and "sdtps" in lost:
        variant, predictor, aggregation, selects = DEFAULT_VARIANT, False, False, False
    elif selector == "sdtps":
        selects = predictor or aggregation
        if (predictor, aggregation) != (config.predictor, config.aggregation):
            variant = {(True, False): "first", (False, True): "open-source"}.get(
                (predictor, aggregation), DEFAULT_VARIANT
            )
    return replace(
        config,
        backbone_options=options,
        num_classes=0 if "heads" in lost or not selects else config.num_classes,
        global_local=config.global_local and "reduction" not in lost,
        variant=variant,
        predictor=predictor,
        aggregation=aggregation,
        aggregation_rows=config.aggregation_rows if aggregation else None,
        selector_options=config.selector_options if variant == config.variant else {},
        fusion=_fusion(config.fusion, lost, selects),
    )


def _fusion(fusion: FusionConfig | None, lost: set[str], selects: bool) -> FusionConfig | None:
    if fusion is None:
        return None
    unreachable = set(OF_FUSION) if "fusion" in lost else set()
    unreachable |= set() if selects else {"sdtps"} | ({"dgaf"} if fusion.dgaf_selected and fusion.dgaf else set())
    unreachable |= {"fused"} if "reduction" in lost else set()
    parts = tuple(p for p in fusion.parts if p not in unreachable) or ("ori",)
    kept: dict[str, Any] = {name: None if name in unreachable else getattr(fusion, name) for name in OF_FUSION}
    reduce_after = fusion.reduce_after and "reduction" not in lost and selects
    return replace(
        fusion, parts=parts, reduce_after=reduce_after, frca_cross=fusion.frca_cross if kept["frca"] else 0, **kept
    )
