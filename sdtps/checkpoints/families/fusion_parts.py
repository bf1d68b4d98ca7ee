"""What follows the selection in a checkpoint, and what the author's own test compared."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from sdtps.checkpoints.families.demo_config import DemoConfig
from sdtps.checkpoints.families.editions import Edition
from sdtps.models.feature import FusionConfig
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

DGAF_COMMON = {"_alpha", *(f"{layer}.{kind}" for layer in ("entropy_proj", "gate_net.0", "gate_net.1", "gate_net.3",
               "modal_enhance.0", "modal_enhance.1") for kind in ("weight", "bias"))}  # fmt: skip
DGAF_POOL = {"attn_pool.in_proj_weight", "attn_pool.in_proj_bias", "attn_pool.out_proj.weight",
             "attn_pool.out_proj.bias", "attn_norm.weight", "attn_norm.bias"}  # fmt: skip
RUN = re.compile(r"(generalFusion|dgaf|frca_(rgb|nir|tir)|frca_cross_attn|frca_cross_norm)\.")


@dataclass(frozen=True)
class Following:
    """What follows the selection.

    Attributes:
        config: how it is run.
        names: tensors of the file that it takes.
        assumed: what the file does not say.
        not_run: parts of the author's feature that are in the file and not run here.
    """

    config: FusionConfig
    names: frozenset[str] = frozenset()
    assumed: tuple[Message, ...] = ()
    not_run: tuple[str, ...] = ()


def read_following(
    rest: Mapping[str, Tensor], edition: Edition, training: DemoConfig | None, reduced: bool
) -> Following:
    """Recognise the fusion of a checkpoint.

    Args:
        rest: its tensors under DeMo's names, without the backbone.
        edition: of its selector.
        training: the YAML file, where it is given.
        reduced: its GLOBAL_LOCAL reduction was trained.
    """
    selected = edition.kind in ("sdtps", "soft", "sim")
    parallel = "classifier_fused_rgb.weight" in rest
    frca = all(f"frca_{m}.clc3.net.0.weight" in rest for m in MODALITIES)
    dgaf = _dgaf(rest, training)
    moe = None if selected else _moe(rest)
    cross = "frca_cross_attn.in_proj_weight" in rest
    after = reduced and (edition.kind == "soft" or frca) and not parallel
    config = FusionConfig(
        _parts(rest, edition, parallel, frca, dgaf is not None, moe is not None),
        reduce_after=after,
        moe=moe,
        dgaf=dgaf,
        dgaf_selected=selected and not parallel,
        frca={"slope": training.frca_slope if training and training.frca_slope is not None else 0.1} if frca else None,
        frca_cross=(training.frca_heads if training and training.frca_heads else 8) if frca and cross else 0,
    )
    taken = {"generalFusion": moe is not None, "dgaf": dgaf is not None, "frca": frca}
    names = [k for k in rest if RUN.match(k) and taken[re.split(r"[._]", k)[0]]]
    not_run = tuple(
        part
        for part, start in (("moe", "generalFusion."), ("dgaf", "dgaf."), ("frca", "frca_"))
        if any(k.startswith(start) for k in rest) and not any(k.startswith(start) for k in names)
        and not (part == "moe" and selected)  # the fork's test leaves it out beside SDTPS
    )  # fmt: skip
    return Following(config, frozenset(names), tuple(_assumed(config, training)), not_run)


def _parts(
    rest: Mapping[str, Tensor], edition: Edition, parallel: bool, frca: bool, dgaf: bool, moe: bool
) -> tuple[str, ...]:
    """Parts of the feature that the author's own test compared, by edition."""
    if parallel:
        return ("sdtps", *(("dgaf",) if dgaf else ()), "fused")
    if edition.kind == "soft":
        return ("dgaf",) if dgaf else ("sdtps",)
    if frca:
        return ("dgaf",) if dgaf else ("frca",)
    if edition.kind in ("sdtps", "sim"):
        return ("ori", "dgaf") if dgaf else ("ori", "sdtps")
    if dgaf:
        # The later editions left `ori` out of loss and test; its head then never saw a batch.
        counter = rest.get("bottleneck.num_batches_tracked")
        return ("dgaf",) if counter is not None and not bool(counter.any()) else ("ori", "dgaf")
    return ("ori", "moe") if moe else ("ori",)


def _moe(rest: Mapping[str, Tensor]) -> dict[str, int] | None:
    if "generalFusion.rnt_token" not in rest:
        return None
    return {"heads": len({k.split(".")[3] for k in rest if k.startswith("generalFusion.moe.experts.")})}


def _dgaf(rest: Mapping[str, Tensor], training: DemoConfig | None) -> dict[str, float | int | bool] | None:
    """Options of DGAF where it is version 1 or 3; None for others."""
    names = {k.removeprefix("dgaf.") for k in rest if k.startswith("dgaf.")}
    questions = {k for k in names if re.fullmatch(r"(rgb|nir|tir)_query|queries\.\d+", k)}
    if not names or names - questions not in (DGAF_COMMON, DGAF_COMMON | DGAF_POOL):
        return None
    tokens = bool(questions)
    options: dict[str, float | int | bool] = {"inputs": len(questions) or len(MODALITIES), "tokens": tokens}
    if training and training.dgaf_tau is not None:
        options["tau"] = training.dgaf_tau
    if training and training.dgaf_heads is not None:
        options["heads"] = training.dgaf_heads
    return options


def _assumed(config: FusionConfig, training: DemoConfig | None) -> list[Message]:
    if config.dgaf is None or (training and training.dgaf_tau is not None):
        return []
    text = "DGAF's temperature and number of heads are not stored; the reference's 1 and 8 are taken."
    return [Message("weights.assumed.dgaf", text)]
