"""DeMo, its fork and Signal, on CLIP or on an ImageNet ViT: their parts, and what they give away."""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from sdtps.checkpoints.families.editions import Edition, read_edition, untouched_reduction
from sdtps.checkpoints.families.fusion_parts import Following, read_following
from sdtps.checkpoints.families.grid_guess import PERSON, VEHICLE
from sdtps.checkpoints.families.plan import Clue, Hints, Plan, choose_grid
from sdtps.checkpoints.families.ratios import trained_ratios
from sdtps.checkpoints.families.refusals import refuse_or_note
from sdtps.checkpoints.families.vit import Body, clip_body, vit_body
from sdtps.checkpoints.readers.state_files import StateFile
from sdtps.models.reid import ModelConfig
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

BASE = "BACKBONE.base."
DATA_SETS = {171: ("RGBNT201", PERSON), 50: ("RGBNT100", VEHICLE), 155: ("MSVR310", VEHICLE)}  # training identities
VEHICLE_EXPERTS = 8  # DeMo's HEAD for vehicles; 4 for people
TOPK = {171: 80, 50: 112, 155: 64}  # Signal's released configurations, by training identities
DEFAULT_TOPK = 64
SOFT_RATIO = 0.7  # of every configuration that the soft edition was published with
BOTTLENECK = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
# Parts that only the training needs, or that are not run here.
BESIDE = re.compile(r"^(generalFusion|dgaf|frca\w*|AlignM)\.|^BACKBONE\.(classifier|bottleneck)")


def demo_plan(file: StateFile, hints: Hints, family: str = "demo") -> Plan:
    """DeMo and its fork, with or without SDTPS, on CLIP or on an ImageNet ViT.

    Args:
        file: its tensors under DeMo's names.
        hints: what is known besides.
        family: what to call it where it has no SDTPS.
    """
    base = {k.removeprefix(BASE): v for k, v in file.tensors.items() if k.startswith(BASE)}
    rest = {k: v for k, v in file.tensors.items() if not k.startswith(BASE)}
    body = clip_body(file.name, base) if "class_embedding" in base else vit_body(file.name, base)
    edition = read_edition(file.name, rest)
    notes = refuse_or_note(file.name, rest, edition, hints.force)
    assumed = list(body.assumed)
    tensors = {f"backbone.vit.{k}": v for k, v in body.tensors.items()}
    options = dict(body.options) | _camera(rest, body, hints, tensors, assumed)

    reduced = _reduced(rest, hints, notes)
    following = read_following(rest, edition, hints.config, reduced)
    after = following.config.reduce_after or "fused" in following.config.parts
    known = dict.fromkeys(following.names)
    if edition.kind in ("sdtps", "soft", "sim"):
        known |= dict.fromkeys(k for k in rest if k.startswith("sdtps."))
    if reduced or after:
        known |= dict.fromkeys(k for k in rest if re.match(r"(rgb|nir|tir)_reduce\.", k))
    direct = "classifier_r.weight" not in rest
    heads, classes = _heads(rest, direct, edition.kind in ("sdtps", "soft"))
    tensors |= {k: rest[k] for k in [*known, *heads]}
    unused = _unused(rest, known, heads, reduced or after)
    unused |= {BASE + k: "head" for k in body.unused}
    experts = len({k.split(".")[3] for k in rest if k.startswith("generalFusion.moe.experts.")})
    cut = choose_grid(file.name, body, hints, assumed, _demo_clues(classes, direct, experts))
    if cut.stride != body.patch:
        options["stride"] = cut.stride
    settings, selector = _trained(file.name, edition, hints, classes, cut.grid.patches, assumed)
    if following.not_run:
        notes.append(_not_run(following))
    config = ModelConfig(
        body.kind,
        body.timm_name,
        cut.size,
        options,
        num_classes=classes if heads else 0,
        global_local=reduced and not after,
        direct=direct,
        variant=_variant(edition, hints, assumed),
        aggregation_rows=edition.rows,
        predictor=edition.predictor,
        aggregation=edition.aggregation,
        selector_options=selector,
        fusion=following.config,
        **settings,
    )
    return Plan(
        {"sdtps": f"{family}-sdtps", "soft": f"{family}-soft", "sim": f"{family}-sim"}.get(edition.kind, family),
        config,
        tensors,
        theirs=lambda name: _demo_name(name, body),
        made=frozenset(f"backbone.vit.{k}" for k in body.made),
        unused=unused,
        unexpected={k: _stranger(k) for k in rest if k not in tensors and k not in unused and k != "BACKBONE.cv_embed"}
        | {BASE + k: "backbone" for k in body.unexpected},
        assumed=(*assumed, *following.assumed),
        notes=tuple(notes),
        facts=_facts(body, experts, classes, following),
        settings=settings,
    )


def _camera(
    rest: Mapping[str, Tensor], body: Body, hints: Hints, tensors: dict[str, Tensor], assumed: list[Message]
) -> dict[str, Any]:
    """Options of the backbone that the camera embedding and the YAML file bring; the embedding joins the tensors."""
    options: dict[str, Any] = {}
    camera = rest.get("BACKBONE.cv_embed", body.camera)
    if camera is not None:
        tensors["backbone.cv_embed"] = camera.reshape(len(camera), 1, -1)
        coefficient = hints.config.sie_coefficient if hints.config else None
        options |= {"cameras": len(camera), "sie_coefficient": 1.0 if coefficient is None else coefficient}
        if camera is body.camera:
            options["sie_on_all"] = True
            text = "The camera embedding lies inside the ViT; it is added to every token, as in TransReID."
            assumed.append(Message("weights.assumed.sie_all", text))
        if coefficient is None:
            assumed.append(
                Message("weights.assumed.sie", "The camera embedding's factor (SIE_COE) is taken as 1, as released.")
            )
        assumed.append(Message("weights.assumed.camera", "Without a camera label no camera embedding is added."))
    if hints.config and hints.config.mean and hints.config.std:
        options |= {"mean": list(hints.config.mean), "std": list(hints.config.std)}
    return options


def _reduced(rest: Mapping[str, Tensor], hints: Hints, notes: list[Message]) -> bool:
    """Whether the GLOBAL_LOCAL reduction takes part: as the YAML file says, else by whether training ever moved it."""
    if not all(f"{m}_reduce.1.weight" in rest for m in MODALITIES):
        return any(f"{m}_reduce.1.weight" in rest for m in MODALITIES)
    told = hints.config.global_local if hints.config else None
    untouched = untouched_reduction(rest)
    if told is False or (told is None and untouched):
        why = (
            Message("weights.why.untouched", "its norms stand at 1 and 0, where training would have moved them")
            if told is None
            else Message("weights.why.yaml", "the YAML file says GLOBAL_LOCAL False")
        )
        text = "The reduction of global and local vectors was not used in training: {why}. Raw class tokens are used."
        notes.append(Message("weights.note.reduction", text, why=why))
        return False
    return True


def _trained(
    name: str, edition: Edition, hints: Hints, classes: int, patches: int, assumed: list[Message]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Settings of the training as far as they are known, and the options of a further selector."""
    told = dict(hints.config.settings) if hints.config else {}
    if edition.kind == "sdtps" and edition.rows:
        ratios, said = trained_ratios(name, patches, edition.rows, told, hints.force)
        assumed += said
        if "beta" not in told:
            assumed.append(Message("weights.assumed.beta", "Beta is not stored; the reference's 0.25 is taken."))
        return ratios | {k: v for k, v in told.items() if k == "beta"}, {}
    if edition.kind == "soft":
        if "sparse_ratio" not in told:
            text = "The soft mask's ratio is not stored; {ratio}, as published, is taken."
            assumed.append(Message("weights.assumed.soft_ratio", text, ratio=SOFT_RATIO))
        text = "Whether the mask was soft or a hard choice is not stored; soft, as published, is shown."
        assumed.append(Message("weights.assumed.soft", text))
        return {"sparse_ratio": told.get("sparse_ratio", SOFT_RATIO)}, dict(edition.options)
    if edition.kind == "sim":
        topk = hints.config.topk if hints.config else None
        if topk is None:
            topk = DEFAULT_TOPK if hints.config else TOPK.get(classes, DEFAULT_TOPK)
            text = "How many patches a global marks (TOPK) is not stored; {k}, as released, is taken."
            assumed.append(Message("weights.assumed.topk", text, k=topk))
        ratio = hints.config.keep_ratio if hints.config else None
        return {}, {"k": float(min(topk, patches)), "keep_ratio": ratio or 0.0}
    return told, {}


def _variant(edition: Edition, hints: Hints, assumed: list[Message]) -> str:
    if edition.kind in ("soft", "sim"):
        return edition.kind
    if edition.dual:
        return "paper"
    if edition.predictor != edition.aggregation:
        return "first" if edition.predictor else "open-source"
    if not edition.predictor:
        return "final"
    if hints.config and hints.config.variant:
        return hints.config.variant
    text = (
        "Whether kept scores enter the aggregation (importance) or not (final) is not stored; importance is shown, "
        "because every logged training of this edition had it. Choose the other with --variant."
    )
    assumed.append(Message("weights.assumed.importance", text))
    return "importance"


def _unused(rest: Mapping[str, Tensor], known: Mapping[str, None], heads: list[str], reduced: bool) -> dict[str, str]:
    """Tensors that are known and not needed, by the part they belong to."""
    taken = {*known, *heads}
    unused = {k: "fusion" for k in rest if BESIDE.match(k) and k not in taken}
    unused |= {k: "heads" for k in rest if re.match(r"classifier|bottleneck", k) and k not in {*taken, *unused}}
    if not reduced:
        unused |= {k: "reduction" for k in rest if re.match(r"(rgb|nir|tir)_reduce\.", k)}
    return unused


def _facts(body: Body, experts: int, classes: int, following: Following) -> dict[str, Any]:
    counts = {k: n for k, n in (("experts", experts), ("classes", classes)) if n}
    return body.facts | counts | ({"not_run": list(following.not_run)} if following.not_run else {})


def _stranger(name: str) -> str:
    """Where an unknown tensor lies: some parts change the patches before SDTPS sees them."""
    if name.startswith("BACKBONE."):
        return "backbone"
    if name.startswith("sdtps."):
        return "sdtps"
    return "before" if re.match(r"((multimodal_|rgb_|nir_|tir_)?sacr|lif(_loss)?)\.", name) else "other"


def _demo_name(name: str, body: Body) -> str:
    """A name of the model as DeMo writes it."""
    if name.startswith("backbone.vit."):
        return BASE + body.theirs(name.removeprefix("backbone.vit."))
    return name.replace("backbone.", "BACKBONE.", 1)


def _heads(rest: Mapping[str, Tensor], direct: bool, sdtps: bool) -> tuple[list[str], int]:
    """Names of the identity heads when all of them are there, and the number of identities.

    They play no part in what is shown, so a file without them is as good.
    """
    suffixes = ([""] if direct else [f"_{m[0]}" for m in MODALITIES]) + (["_sdtps"] if sdtps else [])
    wanted = [f"classifier{s}.weight" for s in suffixes]
    wanted += [f"bottleneck{s}.{part}" for s in suffixes for part in BOTTLENECK]
    first = rest.get(wanted[0])
    whole = first is not None and first.ndim == 2 and all(name in rest for name in wanted)
    others = (v for k, v in rest.items() if re.match(r"classifier\w*\.weight$", k) and v.ndim == 2)
    classes = len(first) if first is not None and first.ndim == 2 else max(map(len, others), default=0)
    return (wanted if whole else []), classes


def _not_run(following: Following) -> Message:
    text = "The author's test feature also has {parts}, which is in the file and not run here."
    return Message("weights.note.not_run", text, parts=", ".join(following.not_run))


def _demo_clues(classes: int, direct: bool, experts: int) -> list[Clue]:
    """What a DeMo checkpoint gives away about its data set, surest first."""
    clues = []
    if classes in DATA_SETS:
        name, grid = DATA_SETS[classes]
        clues.append((grid, Message("grid.why.classes", "{name} has {n} identities", n=classes, name=name)))
    if not direct:
        clues.append((VEHICLE, Message("grid.why.direct", "one head per modality (DIRECT 0) is the vehicles' setup")))
    if experts == VEHICLE_EXPERTS:
        clues.append((VEHICLE, Message("grid.why.experts", "{n} expert heads are the vehicles' setup", n=experts)))
    return clues
