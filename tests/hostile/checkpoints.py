"""Checkpoints: not one, damaged, with code inside, of wrong kinds and shapes, asking for too much."""

import functools
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import torch
from safetensors.torch import save

from sdtps.checkpoints.families.recognise import FORMAT
from tests.checkpoints.checkpoint_files import demo_shapes, random_state, vit_shapes
from tests.conftest import tiny_vit_config
from tests.hostile import rawfiles as raw
from tests.hostile.cases import Case, constant, refused

DAMAGED, KIND, NAN, LAYOUT, CONFIG = (
    "weights.damaged", "weights.kind", "weights.nan", "weights.layout", "weights.config")  # fmt: skip
PROJ = "BACKBONE.base.proj"


@functools.cache
def state() -> dict[str, Any]:
    return random_state(demo_shapes(depth=1, rows=25, classes=9))


@functools.cache
def _vit() -> dict[str, Any]:
    return random_state(vit_shapes(64, 1, 196))


def saved(content: Any, *, legacy: bool = False) -> bytes:
    stream = io.BytesIO()
    torch.save(content, stream, _use_new_zipfile_serialization=not legacy)
    return stream.getvalue()


def demo(**changes: Any) -> Callable[[], bytes]:
    """A small DeMo checkpoint with some tensors changed, or (None) left out."""
    return lambda: saved({k: v for k, v in (state() | changes).items() if v is not None})


def vit(**changes: Any) -> Callable[[], bytes]:
    return lambda: saved(_vit() | changes)


def own(**changes: Any) -> Callable[[], bytes]:
    """A safetensors file in this program's own format that asks for another architecture."""
    config = tiny_vit_config().as_dict() | changes
    return lambda: save({"x": torch.ones(3)}, metadata={"format": FORMAT, "config": json.dumps(config)})


def timm_options(**options: Any) -> dict[str, Any]:
    return {"backbone_options": {"timm_options": options}}


class Payload:
    """Unpickling this would end the program."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('code of a checkpoint ran')",)


def compiled(content: bytes) -> Callable[[], bytes]:
    """An archive of a compiled model whose pickle is `content`."""

    def make() -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", content)
            archive.writestr("archive/constants.pkl", pickle.dumps(()))
        return stream.getvalue()

    return make


def _corrupt_archive() -> bytes:
    content = bytearray(compiled(b"x" * 5000)())
    at = content.index(b"data.pkl") + 8
    content[at : at + 6] = b"\xff" * 6
    return bytes(content)


def header(fields: Any, rest: bytes = b"") -> bytes:
    """A safetensors file with any header."""
    text = json.dumps(fields).encode()
    return struct.pack("<Q", len(text)) + text + rest


def _tensor(dtype: str, shape: list[int], end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}


# A module whose attribute `child` is the module itself.
ITSELF = b"\x80\x02c__torch__\nM\n)\x81q\x00}q\x01X\x05\x00\x00\x00childq\x02h\x00sb."
FLOAT8 = torch.ones(64, 32).to(torch.float8_e4m3fn)
CHECKPOINTS: tuple[Case, ...] = (
    Case("good.pth", demo()),
    Case("wrapped.pth", lambda: saved({"state_dict": {f"module.{k}": v for k, v in state().items()}, "epoch": 3})),
    Case("half.pth", demo(**{PROJ: torch.ones(64, 32, dtype=torch.float16)})),
    Case("named <img src=x onerror=alert(1)>.pth", demo()),
    refused("empty.pth", constant(b""), "weights.empty"),
    refused("text.pth", constant(b"hello"), "weights.not_one"),
    refused("page.pth", constant(b"<!DOCTYPE html><script>alert(1)</script>"), "weights.not_one"),
    refused("pointer.pth", constant(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"), "weights.pointer"),
    refused("picture.pth", lambda: raw.zeros_png(8, 8), "weights.not_one"),
    refused("cut.pth", lambda: demo()()[:-300], DAMAGED),
    refused("cut-legacy.pth", lambda: saved(state(), legacy=True)[:-900], DAMAGED),
    refused("cut.safetensors", lambda: save({"x": torch.ones(64)})[:100], DAMAGED),
    refused("code.pth", lambda: saved({"state_dict": state(), "x": Payload()}), "weights.code"),
    refused("code-legacy.pth", lambda: saved({"x": Payload()}, legacy=True), "weights.code"),
    refused("code-alone.pth", lambda: pickle.dumps(Payload()), "weights.code", DAMAGED),
    refused("code-compiled.pt", compiled(pickle.dumps(Payload())), "weights.no_tensors"),
    refused("corrupt-compiled.pt", _corrupt_archive, DAMAGED),
    refused("far-memo.pt", compiled(b"\x80\x02Nr\xff\xff\xff\x7f."), "weights.no_tensors", DAMAGED),
    refused("deep-compiled.pt", compiled(b"\x80\x02" + b"(" * 100_000 + b"."), DAMAGED),
    refused("nothing-compiled.pt", compiled(b"\x80\x02N."), "weights.no_tensors"),
    refused("itself-compiled.pt", compiled(ITSELF), "weights.no_tensors"),
    refused("repeated.pth", demo(**{PROJ: torch.ones(1).expand(64, 32)}), "weights.repeated"),
    refused("vast-grid.safetensors", own(input_size=[4096, 4096], **timm_options(depth=3, embed_dim=4, num_heads=1)),
            "weights.geometry"),
    refused("many-members.pth", lambda: raw.zip_of_many(300_000), DAMAGED),
    refused("nested-header.safetensors", lambda: struct.pack("<Q", 99_999) + b'{"a":' + b"[" * 99_994, DAMAGED),
    refused("promise.safetensors", lambda: header({"x": _tensor("F32", [10**12], 4 * 10**12)}), DAMAGED),
    refused("far.safetensors", lambda: header({"x": _tensor("F32", [1], 2**60)}, b"\0" * 4), DAMAGED),
    refused("negative.safetensors", lambda: header({"x": _tensor("F32", [-1], 4)}, b"\0" * 4), DAMAGED),
    refused("expanded.pth", lambda: saved({"x": torch.ones(1).expand(1 << 20, 1 << 18)}), "weights.too_big"),
    refused("epoch-alone.pth", lambda: saved({"epoch": 3}), "weights.no_tensors"),
    refused("one-tensor.pth", lambda: saved(torch.ones(3)), "weights.no_tensors"),
    refused("strangers.pth", lambda: saved({"fc.weight": torch.ones(3, 3), "\x1b[2J\n<b>": FLOAT8}), "weights.family"),
    refused("nan.pth", demo(**{PROJ: torch.full((64, 32), torch.nan)}), NAN),
    refused("infinite.pth", demo(**{"rgb_reduce.0.bias": torch.full((64,), torch.inf)}), NAN),
    refused("integer.pth", demo(**{PROJ: torch.ones(64, 32, dtype=torch.int8)}), KIND),
    refused("complex.pth", demo(**{PROJ: torch.ones(64, 32, dtype=torch.complex64)}), KIND),
    refused("sparse.pth", demo(**{PROJ: torch.ones(64, 32).to_sparse()}), KIND),
    refused("boolean.pth", demo(**{PROJ: torch.ones(64, 32, dtype=torch.bool)}), KIND),
    Case("float8.pth", demo(**{PROJ: FLOAT8})),
    refused("hollow.pth", demo(**{PROJ: torch.zeros(0, 32)}), "weights.hollow"),
    refused("flat-camera.pth", demo(**{"BACKBONE.cv_embed": torch.ones(())}), LAYOUT),
    refused("flat-rows.pth", demo(**{"sdtps.rgb_aggr.weight.3.bias": torch.ones(())}), LAYOUT, "weights.mismatch"),
    refused("flat-conv.pth", demo(**{"BACKBONE.base.conv1.weight": torch.ones(64, 3)}), LAYOUT),
    refused("odd-width.pth", demo(**{"BACKBONE.base.conv1.weight": torch.ones(60, 3, 16, 16)}), LAYOUT),
    Case("flat-classes.pth", demo(**{"classifier.weight": torch.ones(())})),
    refused("far-block.pth", demo(**{"BACKBONE.base.transformer.resblocks.99999999999.ln_1.bias": torch.ones(64)}),
            LAYOUT),
    refused("long-block.pth", vit(**{f"blocks.{'9' * 5000}.norm1.bias": torch.ones(64)}), LAYOUT),
    refused("flat-registers.pth", vit(reg_token=torch.ones(64)), LAYOUT),
    refused("many-registers.pth", vit(reg_token=torch.ones(1, 500, 64)), LAYOUT, "weights.mismatch", "weights.build"),
    Case("one-patch.pth", vit(pos_embed=torch.ones(1, 1, 64))),
    refused("other-patch.pth", vit(**{"patch_embed.proj.weight": torch.ones(64, 3, 16, 2)}), "weights.mismatch"),
    refused("mean-nonsense.safetensors", lambda: save(_vit(), metadata={"mean": "{"}), CONFIG),
    refused("mean-words.safetensors", lambda: save(_vit(), metadata={"mean": '["a"]', "std": "[0, 0, 0]"}), CONFIG),
    refused("own-nested.safetensors", lambda: save({"x": torch.ones(1)}, metadata={
        "format": FORMAT, "config": "[" * 50_000}), CONFIG),
    refused("own-hub.safetensors", own(name="hf-hub:someone/something"), CONFIG),
    refused("own-path.safetensors", own(**timm_options(checkpoint_path="/etc/passwd")), CONFIG),
    refused("own-wide.safetensors", own(**timm_options(embed_dim=60_000, num_heads=1)), CONFIG),
    refused("own-deep.safetensors", own(**timm_options(depth=60_000, embed_dim=4, num_heads=1)), CONFIG),
    refused("own-number.safetensors", own(input_size=[float("nan"), 128]), CONFIG),
    refused("own-kind.safetensors", own(kind="<script>"), "weights.build", CONFIG),
)  # fmt: skip
