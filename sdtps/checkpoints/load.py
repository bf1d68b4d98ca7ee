"""Find, hash and load weights; save our own. Nothing is unpickled, and nothing is half-loaded in silence."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import timm
import torch
from safetensors.torch import save_file
from torch import Tensor

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.checkpoints.about import read_about
from sdtps.checkpoints.families.demo_config import read_demo_config
from sdtps.checkpoints.families.plan import Hints, Plan
from sdtps.checkpoints.families.recognise import FORMAT, plan_for
from sdtps.checkpoints.readers.state_files import MAX_BYTES, SUFFIXES, StateFile, read_state_file
from sdtps.checkpoints.report import absent_parts, compare, facts_of, group_counts, group_of
from sdtps.checkpoints.salvage import salvage
from sdtps.models.reid import LoadedModel, ModelConfig, ReidModel, build_model, pick_device
from sdtps.resources import CHECKPOINTS, EMBEDDED
from sdtps.support.errors import CheckpointError
from sdtps.support.files import whole_file
from sdtps.support.messages import Message, plain
from sdtps.types import WeightsReport

TIMM = "timm:"
NAMED = 3  # mismatches that a refusal names
MAX_PATCHES = 4096
SPARE = 4 * 1024**2  # numbers that a model may have beyond its file before it is built at all


@dataclass(frozen=True)
class WeightsSource:
    """Weights that can be loaded, now or later.

    Attributes:
        path: see `load_model`; the embedded model by default.
        size, config, force: see `load_model`.
    """

    path: str | os.PathLike[str] = EMBEDDED
    size: tuple[int, int] | None = None
    config: str | os.PathLike[str] | None = None
    force: bool = False

    @property
    def name(self) -> str:
        """What to call it before it is loaded."""
        return plain(str(self.path) if str(self.path).startswith(TIMM) else Path(self.path).name)

    def but(self, **changes: Any) -> "WeightsSource":
        """The same with some changes."""
        return replace(self, **changes)

    def absolute(self) -> "WeightsSource":
        """The same for a process in another folder."""
        path = self.path if str(self.path).startswith(TIMM) else Path(self.path).resolve()
        return replace(self, path=path, config=self.config and Path(self.config).resolve())

    def load(self, device: str = "auto") -> LoadedModel:
        """Load it."""
        return load_model(self.path, device, size=self.size, config=self.config, force=self.force)


class MismatchError(CheckpointError):
    """Weights that fit only in part; `report` says in which."""

    def __init__(self, report: WeightsReport, mismatches: list[str]) -> None:
        self.report = report
        more = len(mismatches) - NAMED
        super().__init__(
            "weights.mismatch",
            "{name!r} fits only in part, so it was not loaded: {first}{more}. "
            'Press "Load it anyway" on the page, or use --force.',
            name=report.name,
            first="; ".join(mismatches[:NAMED]),
            more=Message("weights.more", " and {n} more", n=more) if more > 0 else "",
        )


def sha256_of(path: Path) -> str:
    """Hash of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_of_state(state: Mapping[str, Tensor]) -> str:
    """Hash of names and values, for weights that never were a file."""
    digest = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def find_checkpoints(folder: Path = CHECKPOINTS) -> list[Path]:
    """The checkpoint files of a folder, the embedded model first."""
    files = sorted(f for f in folder.iterdir() if f.suffix in SUFFIXES and f.is_file()) if folder.is_dir() else []
    return sorted(files, key=lambda f: f.name != EMBEDDED.name)


def save_checkpoint(net: ReidModel, path: str | os.PathLike[str], *, half: bool = True, **facts: str) -> None:
    """Write the model as safetensors, with its configuration and facts about its training inside.

    Args:
        net: the model.
        path: the file; it appears whole or not at all.
        half: store floating-point tensors as fp16.
        facts: plain strings for the file's metadata (data, command, seed).
    """
    state = {k: v.detach().cpu().contiguous() for k, v in net.state_dict().items()}
    if half:
        state = {k: v.half() if v.is_floating_point() else v for k, v in state.items()}
    metadata = {"format": FORMAT, "config": json.dumps(net.config.as_dict()), **facts}
    with whole_file(path) as partial:
        save_file(state, partial, metadata=metadata)
        partial.chmod(0o644)  # safetensors leaves it readable for its owner alone


def load_checkpoint(
    source: str | os.PathLike[str],
    *,
    size: tuple[int, int] | None = None,
    config: str | os.PathLike[str] | None = None,
    force: bool = False,
    limit: int = MAX_BYTES,
) -> tuple[ReidModel, WeightsReport]:
    """A model and the report on its weights; see `load_model`.

    Raises:
        CheckpointError: weights that cannot be used; `MismatchError` where they fit in part.
    """
    training = read_demo_config(config) if config is not None else None
    before = _stamp(source)
    path: Path | None = None
    if str(source).startswith(TIMM):
        name = str(source).removeprefix(TIMM)
        file = fetch_pretrained(name)
        folder, digest = "", sha256_of_state(file.tensors)
    else:
        path = Path(source)
        file = read_state_file(path, limit)
        folder, digest = "/".join(path.resolve().parent.parts[-2:]), sha256_of(path)
    try:
        plan = plan_for(file, Hints(size, training, folder, force))
        _check_values(file.name, plan)
        if training and not plan.settings:
            plan = replace(plan, settings=training.settings)
        net, report, mismatches = _build(file, plan, digest)
        if force and report.missing:
            lost = report.missing
            left = salvage(file.name, plan, _missing(net, plan))
            net, report, _ = _build(file, left, digest)
            report = replace(report, missing=lost)
    except (TypeError, IndexError, KeyError, AttributeError) as error:  # shapes that nobody foresaw
        raise CheckpointError(
            "weights.layout",
            "{name!r} is not a ViT that can be read here: {tensor} is absent or has an unknown shape.",
            name=file.name,
            tensor=f"a tensor ({type(error).__name__})",
        ) from None
    if _stamp(source) != before:
        text = "{name!r} was written while it was read; load it again when that is done."
        raise CheckpointError("weights.changed", text, name=file.name)
    if mismatches and not force:
        raise MismatchError(report, mismatches)
    report = replace(report, about=read_about(path, digest, file.metadata))
    return net, report


def _stamp(source: str | os.PathLike[str]) -> tuple[int, ...] | None:
    """What changes when a file is written or replaced."""
    try:
        found = os.stat(source)
    except (OSError, ValueError):  # the reader says it better
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def fetch_pretrained(name: str) -> StateFile:
    """The published weights of a timm model, from the hub or timm's own cache, and how its pictures are normalised."""
    if name.split(".")[0] not in timm.list_models():
        raise CheckpointError("weights.timm", "timm has no model {name!r}; see timm.list_models().", name=name)
    try:
        net = timm.create_model(name, pretrained=True)
    except Exception as error:  # the hub's client raises whatever its network raises
        raise CheckpointError(
            "weights.hub",
            "The weights of {name!r} could not be fetched ({why}); download them elsewhere and give the file.",
            name=name,
            why=type(error).__name__,
        ) from None
    numbers = {key: json.dumps(list(net.pretrained_cfg[key])) for key in ("mean", "std")}
    return StateFile(f"timm {name}", dict(net.state_dict()), numbers)


def _check_values(name: str, plan: Plan) -> None:
    """Weights must be finite floating-point numbers, and the model no larger than its file."""
    for ours, tensor in plan.tensors.items():
        if not tensor.is_floating_point() and not ours.endswith("num_batches_tracked"):
            raise CheckpointError(
                "weights.kind",
                "{name!r} stores {tensor} as {dtype}; save plain floating-point weights.",
                name=name,
                tensor=plan.theirs(ours),
                dtype=str(tensor.dtype).removeprefix("torch."),
            )
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise CheckpointError(
                "weights.nan",
                "{name!r} has NaN or infinite values in {tensor}; its training diverged or the file is damaged.",
                name=name,
                tensor=plan.theirs(ours),
            )
    with torch.device("meta"):
        net = _new(name, plan.config)
        needed = sum(t.numel() for t in net.state_dict().values())
    if net.backbone.grid.patches > MAX_PATCHES:
        raise CheckpointError(
            "weights.geometry",
            "{name!r} asks for {patches} patches a picture; at most {limit} can be shown.",
            name=name,
            patches=net.backbone.grid.patches,
            limit=MAX_PATCHES,
        )
    if needed > 2 * sum(t.numel() for t in plan.tensors.values()) + SPARE:
        raise CheckpointError(
            "weights.config", "{name!r} has no usable configuration in its metadata; save it again.", name=name
        )


def _new(name: str, config: ModelConfig) -> ReidModel:
    try:
        return build_model(config)
    except Exception as error:  # timm raises whatever a shape that nobody foresaw raises
        raise CheckpointError(
            "weights.build", "The model of {name!r} cannot be built: {why}.", name=name, why=str(error).rstrip(".")
        ) from None


def _build(file: StateFile, plan: Plan, digest: str) -> tuple[ReidModel, WeightsReport, list[str]]:
    """The model with every tensor that fits, the report, and what makes it one that fits only in part."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # what a file lacks is random, but the same each time
        net = _new(file.name, plan.config)
    state = {k: v.float() if v.is_floating_point() else v for k, v in plan.tensors.items()}
    if isinstance(net.sdtps, MultiModalSDTPS):
        net.sdtps._take_shape_of(net.sdtps, state, "sdtps.")
    wanted = net.state_dict()
    fitting = {k: v for k, v in state.items() if k in wanted and v.shape == wanted[k].shape}
    net.load_state_dict(fitting, strict=False)
    found = compare(plan, state, wanted, fitting)
    report = WeightsReport(
        name=file.name,
        sha256=digest,
        trained=_is_trained(file, plan),
        loaded=sum(g.loaded for g in found.groups),
        missing=found.missing,
        unexpected=found.unexpected,
        notes=plan.notes,
        family=plan.family,
        groups=found.groups,
        unused=tuple(plan.unused),
        absent=absent_parts(net),
        assumed=plan.assumed,
        facts=facts_of(net) | dict(plan.facts),
        settings=plan.settings,
    )
    return net, report, found.mismatches


def _missing(net: ReidModel, plan: Plan) -> list[str]:
    """Tensors of the model that the file lacks, or has in another shape."""
    wanted = net.state_dict()
    return [k for k, v in wanted.items() if k not in plan.tensors or plan.tensors[k].shape != v.shape]


def _is_trained(file: StateFile, plan: Plan) -> bool:
    """What the file says of itself; batch counters that all stand at 0 mean that no training step was made."""
    counters = [v for k, v in plan.tensors.items() if k.endswith("num_batches_tracked")]
    never = bool(counters) and not any(bool(c.any()) for c in counters)
    return file.metadata.get("trained", "no" if never and plan.family != "own" else "yes") == "yes"


def ready(net: ReidModel, report: WeightsReport, device: str = "auto") -> LoadedModel:
    """Put a model on its device, in evaluation mode and without gradients."""
    target = pick_device(device)
    return LoadedModel(net.to(target).eval().requires_grad_(False), report, target)


def load_model(
    path: str | os.PathLike[str] | None = None,
    device: str = "auto",
    *,
    size: tuple[int, int] | None = None,
    config: str | os.PathLike[str] | None = None,
    force: bool = False,
    insist: bool = False,
) -> LoadedModel:
    """Load weights for `analyse`: a DeMo, CLIP, timm ViT or own checkpoint, told apart by its content.

    Args:
        path: a checkpoint file, or `timm:NAME` for a timm model's published weights; the embedded model by default.
        device: `auto`, or a torch device name.
        size: (height, width) of the pictures, where a checkpoint leaves it open whether they are upright.
        config: the YAML file of a DeMo training, for its ratios and beta.
        force: load a file that fits only in part; what it lacks stays random, and the report says so.
        insist: another name of `force`.
    """
    source = EMBEDDED if path is None else path
    return ready(*load_checkpoint(source, size=size, config=config, force=force or insist), device)


def random_model(config: ModelConfig, seed: int = 0, device: str = "auto") -> LoadedModel:
    """A model with seeded random weights, for tests and benchmarks; its report says that it is not trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = build_model(config)
    state = net.state_dict()
    report = WeightsReport(
        f"random weights ({config.name}, seed {seed})",
        sha256_of_state(state),
        False,
        0,
        tuple(state),
        family="random",
        groups=group_counts(missing=[(group_of(k), k) for k in state]),
        absent=absent_parts(net),
        facts=facts_of(net),
    )
    return ready(net, report, device)
