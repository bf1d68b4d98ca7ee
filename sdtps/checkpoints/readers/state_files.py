"""Any checkpoint file → a flat dict of tensors, safely: nothing in the file is ever executed.

What a file is, is told by its first bytes, not by its name. Pickles are read by torch's `weights_only` reader, archives
of compiled models by `sdtps.formats.torchscript_files`, and every size is checked before memory is taken for it.
"""

import os
import pickle
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from sdtps.checkpoints.readers.torchscript import read_torchscript
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import plain

SUFFIXES = (".safetensors", ".pth", ".pt", ".bin")
MAX_BYTES = 8 * 1024**3
WRAPPERS = ("state_dict", "model_state_dict", "model", "net", "network", "module")
PREFIXES = ("module.", "_orig_mod.")  # left by data-parallel training and by torch.compile
DEEPEST = 4
# How torch's reader names what it refuses, the plainest first.
REFUSED_NAMES = (
    re.compile(r"GLOBAL [`'\"]?([A-Za-z_][\w.]*)"),
    re.compile(r"(?:global:?|instantiate|class) [`'\"]?([A-Za-z_]\w*(?:\.\w+)+)"),
)
MAX_ENTRIES, TAIL = 20_000, 16 * 1024**2  # entries of an archive, counted in its last bytes


@dataclass(frozen=True)
class StateFile:
    """What a checkpoint file holds.

    Attributes:
        name: the file's name, without its folder.
        tensors: every tensor by name, wrappers and common prefixes removed.
        metadata: strings stored beside the tensors (safetensors only).
        stripped: the prefix that was removed from every name.
    """

    name: str
    tensors: dict[str, Tensor]
    metadata: Mapping[str, str] = field(default_factory=dict)
    stripped: str = ""


def read_state_file(path: Path, limit: int = MAX_BYTES) -> StateFile:
    """Read a checkpoint, or say in one sentence why not.

    Args:
        path: the file.
        limit: bytes that the file, and the tensors in it, may have at most.
    """
    if not os.path.isfile(path):  # false for names that no file can have, where pathlib would raise
        raise CheckpointError("weights.not_found", "There is no checkpoint {name!r}; check the path.", name=path.name)
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            start = stream.read(64)
    except OSError:
        raise CheckpointError("weights.unreadable", "The file {name!r} cannot be read.", name=path.name) from None
    _check_size(path.name, size, limit)
    if not start:
        raise CheckpointError(
            "weights.empty", "{name!r} is empty (0 bytes); copy the checkpoint again.", name=path.name
        )
    if start.startswith(b"version https://git-lfs"):
        raise CheckpointError(
            "weights.pointer", "{name!r} is only a Git LFS pointer; run `git lfs pull` to get the file.", name=path.name
        )
    metadata: Mapping[str, str] = {}
    if start[8:9] == b"{":
        content, metadata = _read_safetensors(path)
    elif start.startswith(b"PK"):
        content = _read_archive(path, limit)
    elif start.startswith(b"\x80"):
        content = _read_pickle(path, mapped=False)
    else:
        raise CheckpointError(
            "weights.not_one",
            "{name!r} is not a checkpoint: it is neither a PyTorch file nor safetensors.",
            name=path.name,
        )
    tensors, stripped = _flatten(path.name, content)
    _check_size(path.name, sum(t.numel() * t.element_size() for t in tensors.values()), limit)
    for key, tensor in tensors.items():
        _check_tensor(path.name, key, tensor)
    return StateFile(plain(path.name), tensors, metadata, stripped)


def _check_size(name: str, size: int, limit: int) -> None:
    if size > limit:
        raise CheckpointError(
            "weights.too_big",
            "{name!r} holds {megabytes:.0f} MB; the limit is {limit:.0f} MB.",
            name=name,
            megabytes=size / 2**20,
            limit=limit / 2**20,
        )


def _damaged(name: str) -> CheckpointError:
    return CheckpointError("weights.damaged", "{name!r} is damaged or incomplete; copy it again.", name=name)


def _read_safetensors(path: Path) -> tuple[dict[str, Tensor], Mapping[str, str]]:
    try:
        with safe_open(path, framework="pt") as reader:
            return {name: reader.get_tensor(name) for name in reader.keys()}, reader.metadata() or {}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, KeyError, AttributeError):
        raise _damaged(path.name) from None


def _read_archive(path: Path, limit: int) -> Any:
    try:
        _check_entries(path)
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_size(path.name, sum(e.file_size for e in entries), limit)
            if any(e.filename.endswith("/constants.pkl") for e in entries):
                return read_torchscript(archive)
    except CheckpointError:
        raise
    except Exception:  # the zip reader and its unpackers raise whatever they meet first
        raise _damaged(path.name) from None
    return _read_pickle(path, mapped=True)


def _check_entries(path: Path) -> None:
    """The zip reader makes an object of every entry in the directory at the end, before it tells how many there are."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL))
        if stream.read(TAIL).count(b"PK\x01\x02") > MAX_ENTRIES:
            raise zipfile.BadZipFile("too many entries")


def _read_pickle(path: Path, *, mapped: bool) -> Any:
    """torch's own reader, which knows tensors and plain containers and refuses everything else."""
    try:
        if mapped and path.suffix != ".safetensors":  # by that name torch would expect another format
            return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        with path.open("rb") as stream:
            return torch.load(stream, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        found = next(filter(None, (pattern.search(str(error)) for pattern in REFUSED_NAMES)), None)
        if found is None:
            raise _damaged(path.name) from None
        raise CheckpointError(
            "weights.code",
            "{name!r} holds {what} besides tensors, which could run code, so nothing of it was loaded; "
            "save the state dict alone with torch.save(model.state_dict(), ...).",
            name=path.name,
            what=found.group(1),
        ) from None
    except Exception:  # a pickle that was tampered with makes its reader raise anything
        raise _damaged(path.name) from None


def _flatten(name: str, content: Any) -> tuple[dict[str, Tensor], str]:
    """The tensors inside any wrapper dicts, and the prefix that all of them had."""
    for _ in range(DEEPEST):
        inner = next((content[w] for w in WRAPPERS if isinstance(content, dict) and _holds_names(content.get(w))), None)
        if inner is None or any(isinstance(v, Tensor) and "." in str(k) for k, v in content.items()):
            break
        content = inner
    tensors = {str(k): v for k, v in content.items() if isinstance(v, Tensor)} if isinstance(content, dict) else {}
    if not tensors:
        raise CheckpointError(
            "weights.no_tensors",
            "{name!r} holds no tensors by name; save the state dict with torch.save(model.state_dict(), ...).",
            name=name,
        )
    stripped = ""
    while prefix := next((p for p in PREFIXES if all(k.startswith(p) for k in tensors)), None):
        tensors = {k.removeprefix(prefix): v for k, v in tensors.items()}
        stripped += prefix
    return tensors, stripped


def _holds_names(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(k, str) for k in value)


def _check_tensor(name: str, key: str, tensor: Tensor) -> None:
    """Only dense, real tensors with something in them."""
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_complex() or tensor.is_meta:
        raise CheckpointError(
            "weights.kind",
            "{name!r} stores {tensor} as {dtype}; save plain floating-point weights.",
            name=name,
            tensor=key,
            dtype=str(tensor.dtype).removeprefix("torch."),
        )
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise CheckpointError(
            "weights.repeated",
            "{name!r} stores {tensor} as few numbers that repeat; save it with .contiguous().",
            name=name,
            tensor=key,
        )
    if tensor.numel() == 0:
        raise CheckpointError("weights.hollow", "{name!r} has no values in {tensor}.", name=name, tensor=key)
