"""Attacks by files: pictures that take long or much, bundles, checkpoints."""

import io
import pickle
import zipfile
from collections.abc import Iterator

import numpy as np
import torch
from PIL import Image

from tests.attack.target import FUNCTIONS, Target
from tests.visitor import Visitor

SCAN = b"\xff\xda"


def many_scans(side: int = 3000, scans: int = 600) -> bytes:
    """A progressive JPEG whose last pass over the picture comes again and again."""
    stream = io.BytesIO()
    Image.fromarray(np.zeros((side, side), np.uint8)).save(stream, "JPEG", progressive=True, quality=50)
    content = stream.getvalue().removesuffix(b"\xff\xd9")
    start = content.rindex(SCAN)
    return content[:start] + content[start:] * scans + b"\xff\xd9"


def large_picture(number: int = 0) -> bytes:
    """Forty megapixels in some hundred kilobytes."""
    stream = io.BytesIO()
    Image.new("RGB", (8000, 5000), (number % 256, 80, 90)).save(stream, "PNG")
    return stream.getvalue()


def slow_pictures(target: Target) -> str | None:
    """Two pictures that take a minute each, while somebody moves a slider."""
    content = many_scans(4000, 3000)
    with Visitor(target.url) as visitor:
        answer = visitor.stage("rgb", content)
    if answer.get("error", {}).get("code") not in ("input.slow", "input.damaged"):
        return str(answer)[:120]
    return target.still_serves()


def large_pictures(target: Target, count: int = 24) -> str | None:
    """Honest pictures of forty megapixels, one after the other."""
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
    stream = io.BytesIO()
    torch.save({"blocks.0.attn.qkv.weight": torch.zeros(1).expand(24_000, 24_000)}, stream)
    return stream.getvalue()


def growing_pickle() -> bytes:
    """Some bytes that ask for two billion."""
    return b"\x80\x02cbuiltins\nbytearray\nJ\x00\x00\x00\x7f\x85R."


def checkpoints() -> Iterator[tuple[str, bytes]]:
    """Files that no reader should fall for."""
    yield "module.pt", self_holding_module()
    yield "repeated.pth", repeated_tensors()
    yield "growing.pth", growing_pickle()


def hostile_checkpoints(target: Target) -> str | None:
    """Checkpoints that hold themselves, repeat or grow, where uploads are allowed."""
    before = target.memory()
    with Visitor(target.url) as visitor:
        for name, content in checkpoints():
            fields = {"force": "no", "component_id": str(visitor.component), "fn_name": "upload_weights"}
            form = {"data": fields | {"session_hash": visitor.session}, "files": {"file": (name, content)}}
            answer = visitor.http.post(FUNCTIONS, **form, timeout=180).json()
            if not str(answer.get("error", {}).get("code", "")).startswith("weights."):
                return f"{name}: {str(answer)[:120]}"
    grown = target.memory() - before
    return f"memory grew by {grown:.0f} MB" if grown > 200 else target.still_serves()
