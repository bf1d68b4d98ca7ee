"""Find, hash and load weights; save our own. Nothing is unpickled, and nothing is half-loaded in silence."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sdtps.messages import Message
from sdtps.model import LoadedModel, ModelConfig, ReidModel, build_model, pick_device
from sdtps.types import WeightsReport

FORMAT = "sdtps-lens/1"
CHECKPOINT_DIR = Path(__file__).resolve().parent.parent / "checkpoints"
EMBEDDED = CHECKPOINT_DIR / "sdtps-lens-hiera-tiny.safetensors"


class CheckpointError(ValueError):
    """Weights that cannot be used: one sentence on what was wrong and what to do."""

    def __init__(self, code: str, template: str, **values: object) -> None:
        self.message = Message(code, template, **values)
        super().__init__(self.message)


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
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    metadata = {"format": FORMAT, "config": json.dumps(net.config.as_dict()), **facts}
    save_file(state, partial, metadata=metadata)
    partial.chmod(0o644)  # safetensors leaves it readable for its owner alone
    partial.replace(target)


def load_checkpoint(path: str | os.PathLike[str]) -> tuple[ReidModel, WeightsReport]:
    """A model and the report on its weights from a file of our own format."""
    file = Path(path)
    if not file.is_file():
        raise CheckpointError("weights.not_found", "There is no checkpoint {name!r}; check the path.", name=file.name)
    try:
        with safe_open(file, framework="pt") as reader:
            metadata = reader.metadata() or {}
            state = {name: reader.get_tensor(name) for name in reader.keys()}  # noqa: SIM118 - not a dict
    except (SafetensorError, OSError):
        raise CheckpointError(
            "weights.unreadable", "{name!r} is not a checkpoint that can be read.", name=file.name
        ) from None
    if metadata.get("format") != FORMAT:
        raise CheckpointError(
            "weights.format",
            "{name!r} is not a checkpoint of this program ({format} was expected).",
            name=file.name,
            format=FORMAT,
        )
    net = build_model(ModelConfig.from_dict(json.loads(metadata["config"])))
    result = net.load_state_dict({k: v.float() if v.is_floating_point() else v for k, v in state.items()}, strict=False)
    report = WeightsReport(
        name=file.name,
        sha256=sha256_of(file),
        trained=metadata.get("trained", "yes") == "yes",
        loaded=len(state) - len(result.unexpected_keys),
        missing=tuple(result.missing_keys),
        unexpected=tuple(result.unexpected_keys),
    )
    return net, report


def ready(net: ReidModel, report: WeightsReport, device: str = "auto") -> LoadedModel:
    """Put a model on its device, in evaluation mode and without gradients."""
    target = pick_device(device)
    return LoadedModel(net.to(target).eval().requires_grad_(False), report, target)


def load_model(path: str | os.PathLike[str] | None = None, device: str = "auto") -> LoadedModel:
    """Load weights for `analyse`.

    Args:
        path: a checkpoint; the embedded model by default.
        device: `auto`, or a torch device name.
    """
    return ready(*load_checkpoint(EMBEDDED if path is None else path), device)


def random_model(config: ModelConfig, seed: int = 0, device: str = "auto") -> LoadedModel:
    """A model with seeded random weights, for tests and benchmarks; its report says that it is not trained."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = build_model(config)
    state = net.state_dict()
    report = WeightsReport(
        f"random weights ({config.name}, seed {seed})", sha256_of_state(state), False, 0, tuple(state)
    )
    return ready(net, report, device)
