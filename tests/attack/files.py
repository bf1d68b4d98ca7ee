"""Attacks by files: pictures that take long or much, bundles, checkpoints."""

import functools
import io
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from sdtps.checkpoints.load import random_model, save_checkpoint
from sdtps.models.reid import ModelConfig
from tests.attack.target import FUNCTIONS, Target
from tests.hostile import bundles
from tests.hostile.checkpoints import demo
from tests.hostile.checkpoints import state as demo_state
from tests.hostile.rawfiles import striped_tiff
from tests.visitor import Visitor

SCAN = b"\xff\xda"


def many_scans(side: int = 3000, scans: int = 600) -> bytes:
    """A progressive JPEG whose last pass over the picture comes again and again."""
    stream = io.BytesIO()
    Image.fromarray(np.zeros((side, side), np.uint8)).save(stream, "JPEG", progressive=True, quality=50)
    content = stream.getvalue().removesuffix(b"\xff\xd9")
    start = content.rindex(SCAN)
    return content[:start] + content[start:] * scans + b"\xff\xd9"


@functools.cache
def _forty_megapixels() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (8000, 5000), (70, 80, 90)).save(stream, "PNG")
    return stream.getvalue()


def large_picture(number: int = 0) -> bytes:
    """Forty megapixels in some hundred kilobytes; each number is another file."""
    return _forty_megapixels() + number.to_bytes(4, "big")


def slow_pictures(target: Target) -> str | None:
    """Two pictures that take a minute each, while somebody moves a slider."""
    return _two_at_once(target, many_scans(4000, 3000), "input.slow", "input.damaged")


def striped_pictures(target: Target) -> str | None:
    """Pictures of two million strips, while somebody moves a slider."""
    return _two_at_once(target, striped_tiff(2_000_000), "input.pieces")


def _two_at_once(target: Target, content: bytes, *codes: str) -> str | None:
    """Send a picture twice, use the page meanwhile; both must end in one of these sentences."""
    with Visitor(target.url) as visitor, ThreadPoolExecutor(2) as senders:
        sent = [senders.submit(visitor.stage, "rgb", content) for _ in range(2)]
        if wrong := target.still_serves():
            return wrong
        ended = [answer.result().get("error", {}).get("code") or "a picture" for answer in sent]
    return None if set(ended) <= set(codes) else f"ended with {' and '.join(ended)}"


def large_bundles(target: Target, count: int = 8) -> str | None:
    """Bundles that hold pictures of forty megapixels, eight at once."""
    picture = large_picture()
    content = bundles.having(**{f"inputs/{m}.png": picture for m in ("rgb", "nir", "tir")})()
    before = target.peak()
    with Visitor(target.url) as visitor, ThreadPoolExecutor(count) as senders:
        answers = list(senders.map(lambda _: visitor.stage("bundle", content), range(count)))
    if wrong := next((a["error"] for a in answers if "error" in a), None):
        return str(wrong)[:120]
    grown = target.peak() - before
    return f"took {grown:.0f} MB" if grown > 500 else target.still_serves()


def large_pictures(target: Target, count: int = 10) -> str | None:
    """Ten honest pictures of forty megapixels, one after the other."""
    with Visitor(target.url) as visitor:
        visitor.stage("rgb", large_picture())
        before = target.memory()
        for i in range(count):
            answer = visitor.stage("rgb", large_picture(i))
            if "error" in answer:
                return str(answer["error"])
    grown = target.memory() - before
    return f"memory grew by {grown:.0f} MB" if grown > 200 else None


def self_holding_module() -> bytes:
    """A compiled module that is its own child."""
    inner = io.BytesIO()
    state = b"\x80\x02c__torch__\nM\n)\x81q\x00}q\x01X\x05\x00\x00\x00childq\x02h\x00sb."
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("m/data.pkl", state)
        archive.writestr("m/constants.pkl", pickle.dumps((), protocol=2))
        archive.writestr("m/version", "3\n")
    return inner.getvalue()


def repeated_tensors() -> bytes:
    """Numbers that repeat: a few bytes on disk, gigabytes when they are copied."""
    return demo(**{"classifier.weight": torch.zeros(1).expand(600_000, 1000)})()


def growing_pickle() -> bytes:
    """Some bytes that ask for two billion."""
    return b"\x80\x02cbuiltins\nbytearray\nJ\x00\x00\x00\x7f\x85R."


def vast_grid() -> bytes:
    """Whole weights of four megabytes that ask for 65,536 patches in 200 blocks."""
    options = {"timm_options": {"depth": 200, "embed_dim": 16, "num_heads": 1}}
    config = ModelConfig("vit", "vit_tiny_patch16_224", (4096, 4096), options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vast.safetensors"
        save_checkpoint(random_model(config, device="cpu").net, path, half=True)
        return path.read_bytes()


def overflowing() -> bytes:
    """Finite weights whose predictor overflows."""
    return demo(**{name: tensor * 0 + 3e38 for name, tensor in demo_state().items() if "_sparse." in name})()


CHECKPOINTS: dict[str, Callable[[], bytes]] = {
    "module.pt": self_holding_module,
    "repeated.pth": repeated_tensors,
    "growing.pth": growing_pickle,
    "vast.safetensors": vast_grid,
    "overflowing.pth": overflowing,
}


def checkpoints() -> Iterator[tuple[str, bytes]]:
    """Files that no reader should fall for."""
    for name, make in CHECKPOINTS.items():
        yield name, make()


def _checkpoint(target: Target, name: str) -> str | None:
    """Upload one; the end must be a sentence, and the server no larger than before."""
    before = target.peak()
    with Visitor(target.url) as visitor:
        fields = {"force": "yes", "component_id": str(visitor.component), "fn_name": "upload_weights"}
        form = {"data": fields | {"session_hash": visitor.session}, "files": {"file": (name, CHECKPOINTS[name]())}}
        answer = visitor.http.post(FUNCTIONS, **form, timeout=90).json()  # type: ignore[arg-type]
    if not str(answer.get("error", {}).get("code", "")).startswith(("weights.", "model.")):
        return f"taken: {str(answer)[:100]}"
    grown = target.peak() - before
    return f"took {grown:.0f} MB" if grown > 200 else target.still_serves()


def self_holding_checkpoint(target: Target) -> str | None:
    """A compiled module that holds itself, where uploads of weights are allowed."""
    return _checkpoint(target, "module.pt")


def repeated_checkpoint(target: Target) -> str | None:
    """Tensors that repeat one number."""
    return _checkpoint(target, "repeated.pth")


def growing_checkpoint(target: Target) -> str | None:
    """A pickle of some bytes that asks for two billion."""
    return _checkpoint(target, "growing.pth")


def vast_checkpoint(target: Target) -> str | None:
    """Weights of four megabytes that ask for 65,536 patches in 200 blocks."""
    return _checkpoint(target, "vast.safetensors")


def overflowing_checkpoint(target: Target) -> str | None:
    """Finite weights that overflow in the predictor."""
    return _checkpoint(target, "overflowing.pth")
