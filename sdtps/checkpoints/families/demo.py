"""DeMo and DeMo+SDTPS checkpoints, on CLIP or on an ImageNet ViT: their parts, and what they give away."""

import re
from collections.abc import Mapping

from torch import Tensor

from sdtps.checkpoints.families.demo_config import DemoConfig
from sdtps.checkpoints.families.grid_guess import PERSON, VEHICLE
from sdtps.checkpoints.families.plan import Clue, Hints, Plan, choose_grid
from sdtps.checkpoints.families.vit import Body, clip_body, vit_body
from sdtps.checkpoints.readers.state_files import StateFile
from sdtps.models.reid import ModelConfig
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

BASE = "BACKBONE.base."
DATA_SETS = {171: ("RGBNT201", PERSON), 50: ("RGBNT100", VEHICLE), 155: ("MSVR310", VEHICLE)}  # training identities
VEHICLE_EXPERTS = 8  # DeMo's HEAD for vehicles; 4 for people
BOTTLENECK = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
# Parts that work beside or after the selection: known, and not needed for what is shown.
BESIDE = re.compile(r"^(generalFusion|dgaf)\.|^(classifier|bottleneck)_(moe|dgaf)\.|^BACKBONE\.(classifier|bottleneck)")


def demo_plan(file: StateFile, hints: Hints) -> Plan:
    """DeMo, with or without SDTPS, on CLIP or on an ImageNet ViT."""
    base = {k.removeprefix(BASE): v for k, v in file.tensors.items() if k.startswith(BASE)}
    rest = {k: v for k, v in file.tensors.items() if not k.startswith(BASE)}
    body = clip_body(file.name, base) if "class_embedding" in base else vit_body(file.name, base)
    tensors = {f"backbone.vit.{k}": v for k, v in body.tensors.items()}
    assumed = list(body.assumed)

    camera = rest.pop("BACKBONE.cv_embed", body.camera)
    options = dict(body.options)
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

    known = {k: v for k, v in rest.items() if re.match(r"(sdtps|(rgb|nir|tir)_reduce)\.", k)}
    sparse = any(re.match(r"sdtps\.\w+_sparse\.score_predictor\.", k) for k in known)
    aggregation = any(re.match(r"sdtps\.\w+_aggr\.", k) for k in known)
    direct = "classifier_r.weight" not in rest
    heads, classes = _heads(rest, direct, sparse or aggregation)
    tensors |= known | {k: rest[k] for k in heads}
    unused = {k: "fusion" for k in rest if BESIDE.match(k)}
    unused |= {k: "heads" for k in rest if re.match(r"classifier|bottleneck", k) and k not in {*heads, *unused}}
    unused |= {BASE + k: "head" for k in body.unused}
    experts = len({k.split(".")[3] for k in rest if k.startswith("generalFusion.moe.experts.")})
    grid = choose_grid(file.name, body, hints, assumed, _demo_clues(classes, direct, experts))
    if aggregation:
        assumed += _unstored(hints.config)
    config = ModelConfig(
        body.kind,
        body.timm_name,
        (grid.rows * body.patch, grid.cols * body.patch),
        options,
        num_classes=classes if heads else 0,
        global_local=any(f"{m}_reduce.1.weight" in rest for m in MODALITIES),
        direct=direct,
        variant=_variant(sparse, aggregation, known),
        aggregation_rows=_rows(known),
        predictor=sparse,
        aggregation=aggregation,
        **(hints.config.settings if hints.config else {}),
    )
    return Plan(
        "demo-sdtps" if sparse or aggregation else "demo",
        config,
        tensors,
        theirs=lambda name: _demo_name(name, body),
        made=frozenset(f"backbone.vit.{k}" for k in body.made),
        unused=unused,
        unexpected={k: _stranger(k) for k in rest if k not in tensors and k not in unused}
        | {BASE + k: "backbone" for k in body.unexpected},
        assumed=tuple(assumed),
        notes=_demo_notes(unused),
        facts=body.facts | {k: n for k, n in (("experts", experts), ("classes", classes)) if n},
    )


def _stranger(name: str) -> str:
    """Where an unknown tensor lies: some parts change the patches before SDTPS sees them."""
    if name.startswith("BACKBONE."):
        return "backbone"
    return "before" if re.match(r"(multimodal_)?sacr\.|lif\.", name) else "other"


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
    classes = 0 if first is None or first.ndim != 2 else len(first)
    return (wanted if classes and all(name in rest for name in wanted) else []), classes


def _rows(known: Mapping[str, Tensor]) -> int | None:
    """N_c, the rows of the last layer of the aggregation network."""
    return next((len(v) for k, v in known.items() if re.match(r"sdtps\.rgb_aggr\.weight.*\.3\.bias$", k)), None)


def _variant(sparse: bool, aggregation: bool, known: Mapping[str, Tensor]) -> str:
    if any("_sparse_dense." in k for k in known):
        return "paper"
    if sparse != aggregation:
        return "first" if sparse else "open-source"
    return "final"


def _unstored(config: DemoConfig | None) -> list[Message]:
    """What no DeMo checkpoint stores about its SDTPS."""
    said = [
        Message(
            "weights.assumed.importance",
            "Whether kept scores enter the aggregation (variant importance) is not stored; final is shown first.",
        )
    ]
    if config is None or not config.settings:
        said.append(
            Message(
                "weights.assumed.ratios",
                "Sparse ratio, aggregation ratio and beta are not stored; the sliders' values are used unless the "
                "training's YAML file is given.",
            )
        )
    return said


def _demo_notes(unused: Mapping[str, str]) -> tuple[Message, ...]:
    if "fusion" not in unused.values():
        return ()
    text = "DeMo's own fusion of the modalities is in the file and is not run here; it comes after the backbone."
    return (Message("weights.note.fusion", text),)


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
