"""Tensors out of a compiled (TorchScript) archive, without running what was compiled.

OpenAI publishes CLIP in this form, and torch's safe reader refuses it. The archive's `data.pkl` is a pickle of module
objects; here every class in it becomes an inert stand-in that only holds attributes, so there is nothing to run.
"""

import io
import pickle
import zipfile
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

STORAGES = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


class _Node:
    """Any object of the archive: a holder of attributes."""

    attributes: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, *_: Any) -> None:
        """Whatever the pickle passes is ignored."""

    def __setstate__(self, state: Any) -> None:
        self.attributes = state if isinstance(state, dict) else {}


def _rebuild_tensor(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> Tensor:
    if not isinstance(storage, Tensor):
        raise pickle.UnpicklingError("a tensor without a storage")
    return torch.as_strided(storage, size, stride, offset)  # checks that the view stays inside the storage


def _first_argument(value: Any, *_: Any) -> Any:
    return value


class _Reader(pickle._Unpickler):
    """Knows tensors; every other name becomes a `_Node`, whatever it claims to be.

    The reader written in Python: the one in C reserves memory for whatever number a memo in the file has.
    """

    def __init__(self, archive: zipfile.ZipFile, folder: str) -> None:
        super().__init__(io.BytesIO(archive.read(f"{folder}data.pkl")))
        self._archive, self._folder = archive, folder
        self._storages: dict[str, Tensor] = {}

    def find_class(self, module: str, name: str) -> Any:
        """The pickle's names: never looked up in Python."""
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if module == "torch" and name in STORAGES:
            return STORAGES[name]
        return _first_argument if module == "torch.jit._pickle" else _Node

    def persistent_load(self, reference: Any) -> Tensor:
        """The bytes of one storage."""
        kind, dtype, key, _, count = reference
        if kind != "storage" or not isinstance(dtype, torch.dtype) or not str(key).isalnum():
            raise pickle.UnpicklingError("an unknown reference")
        if key not in self._storages:
            content = bytearray(self._archive.read(f"{self._folder}data/{key}"))
            self._storages[key] = torch.frombuffer(content, dtype=dtype, count=count)
        return self._storages[key]


def read_torchscript(archive: zipfile.ZipFile) -> dict[str, Tensor]:
    """The parameters and buffers of a compiled model by name.

    Raises:
        pickle.UnpicklingError, RuntimeError: the archive is not in order.
    """
    name = next((n for n in archive.namelist() if n.endswith("/data.pkl")), None)
    if name is None:
        raise pickle.UnpicklingError("no data.pkl")
    try:
        root = _Reader(archive, name.removesuffix("data.pkl")).load()
    except Exception as error:  # a pickle that was tampered with makes its reader raise anything
        raise pickle.UnpicklingError(type(error).__name__) from None
    tensors: dict[str, Tensor] = {}
    waiting, seen = [("", root)], {id(root)}
    while waiting:
        prefix, node = waiting.pop()
        for key, value in node.attributes.items() if isinstance(node, _Node) else ():
            if isinstance(value, Tensor):
                tensors[f"{prefix}{key}"] = value
            elif isinstance(value, _Node) and id(value) not in seen:  # a module that holds itself has no end
                seen.add(id(value))
                waiting.append((f"{prefix}{key}.", value))
    return tensors
