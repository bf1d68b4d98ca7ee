"""Files that are not what they claim to be: one sentence each, and nothing in them ever runs."""

import io
import json
import os
import pickle
import zipfile

import pytest
import torch
from safetensors.torch import save_file

import sdtps
from sdtps.checkpoints.families.recognise import FORMAT
from sdtps.checkpoints.load import load_checkpoint
from sdtps.checkpoints.readers.state_files import read_state_file
from tests.checkpoints.checkpoint_files import demo_shapes, random_state
from tests.conftest import tiny_vit_config


class Payload:
    """Unpickling this runs a command that leaves a file behind."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


def archive_with(content: bytes, *, compiled: bool, compression: int = zipfile.ZIP_STORED) -> bytes:
    """A PyTorch archive whose pickle is `content`."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr("archive/data.pkl", content)
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/byteorder", "little")
        if compiled:
            archive.writestr("archive/constants.pkl", pickle.dumps(()))
    return stream.getvalue()


def test_the_payload_is_real(tmp_path):
    mark = tmp_path / "ran"
    pickle.loads(pickle.dumps(Payload(mark)))
    assert mark.exists()


@pytest.mark.parametrize("form", ["pickle", "legacy", "zip", "inside", "compiled", "safetensors name"])
def test_code_in_a_checkpoint_never_runs(form, tmp_path):
    mark = tmp_path / "ran"
    path = tmp_path / ("weights.safetensors" if form == "safetensors name" else "weights.pth")
    payload = Payload(mark)
    state = random_state(demo_shapes(depth=1))
    if form in ("pickle", "safetensors name"):
        path.write_bytes(pickle.dumps(payload))
    elif form == "legacy":
        torch.save({"state_dict": state, "extra": payload}, path, _use_new_zipfile_serialization=False)
    elif form == "zip":
        torch.save(payload, path)
    elif form == "inside":
        torch.save({"state_dict": state, "extra": payload}, path)
    else:
        path.write_bytes(archive_with(pickle.dumps(payload, protocol=2), compiled=True))
    with pytest.raises(sdtps.CheckpointError) as refused:
        load_checkpoint(path)
    assert not mark.exists()
    assert str(refused.value).startswith(f"{path.name!r} ")
    if form in ("zip", "inside", "legacy"):
        assert "which could run code, so nothing of it was loaded" in str(refused.value)


def write(path, content):
    path.write_bytes(content)
    return path


def contents(kind, folder):
    """The bytes of good files of each form."""
    path = folder / "good"
    if kind == "safetensors":
        save_file({"x": torch.ones(64)}, path)
    else:
        state = random_state(demo_shapes(depth=1))
        torch.save(state, path, _use_new_zipfile_serialization=kind == "zip")
    return path.read_bytes()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda _: b"", "is empty"),
        (lambda _: b"hello", "is not a checkpoint"),
        (lambda _: b"<!DOCTYPE html><html>Sign in</html>", "is not a checkpoint"),
        (lambda _: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "is only a Git LFS pointer"),
        (lambda folder: contents("zip", folder)[:100_000], "is damaged or incomplete"),
        (lambda folder: contents("zip", folder)[:-40], "is damaged or incomplete"),
        (lambda folder: contents("legacy", folder)[:900], "is damaged or incomplete"),
        (lambda folder: contents("legacy", folder)[:-900], "is damaged or incomplete"),
        (lambda folder: contents("safetensors", folder)[:100], "is damaged or incomplete"),
        (lambda _: archive_with(b"", compiled=False), "is damaged or incomplete"),
        (lambda _: archive_with(b"\x80\x02", compiled=True), "is damaged or incomplete"),
    ],
)
def test_a_broken_file_is_one_sentence(make, sentence, tmp_path):
    with pytest.raises(sdtps.CheckpointError, match=rf"^'bad.pth' {sentence}.*\.$"):
        load_checkpoint(write(tmp_path / "bad.pth", make(tmp_path)))


def changed(tensor_name, value):
    state = random_state(demo_shapes(depth=1, rows=25))
    return state | {tensor_name: value}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (changed("BACKBONE.base.proj", torch.full((64, 32), torch.nan)), "has NaN or infinite values in BACKBONE."),
        (changed("rgb_reduce.0.bias", torch.full((64,), torch.inf)), "has NaN or infinite values in rgb_reduce.0.bias"),
        (changed("BACKBONE.base.proj", torch.ones(64, 32, dtype=torch.int8)), "stores BACKBONE.base.proj as int8"),
        (changed("BACKBONE.base.proj", torch.ones(64, 32, dtype=torch.complex64)), "as complex64"),
        (changed("BACKBONE.base.proj", torch.zeros(0, 32)), "has no values in BACKBONE.base.proj"),
        (changed("BACKBONE.base.proj", torch.ones(64, 32).to_sparse()), "stores BACKBONE.base.proj as float32"),
        (changed("BACKBONE.base.conv1.weight", torch.ones(64, 3)), "not a ViT that can be read here: conv1.weight"),
        (changed("BACKBONE.base.conv1.weight", torch.ones(60, 3, 16, 16)), "not a ViT that can be read here"),
        ({"epoch": 3}, "holds no tensors by name"),
        ([torch.ones(3)], "holds no tensors by name"),
        (torch.ones(3), "holds no tensors by name"),
        ({"a": {"b": {"c": torch.ones(1)}}}, "holds no tensors by name"),
    ],
)  # fmt: skip
def test_tensors_that_cannot_be_weights_are_one_sentence(content, sentence, tmp_path):
    path = tmp_path / "bad.pth"
    torch.save(content, path)
    with pytest.raises(sdtps.CheckpointError) as refused:
        load_checkpoint(path)
    assert sentence in str(refused.value)
    assert str(refused.value).count("\n") == 0


def test_sizes_are_checked_before_memory_is_taken(tmp_path):
    path = tmp_path / "big.pth"
    torch.save({"x": torch.ones(1000)}, path)
    with pytest.raises(sdtps.CheckpointError, match=r"^'big.pth' holds 0 MB; the limit is 0 MB\.$"):
        read_state_file(path, limit=500)
    # One number behind a terabyte of tensor.
    torch.save({"x": torch.ones(1).expand(1 << 20, 1 << 18)}, path)
    assert path.stat().st_size < 10_000
    with pytest.raises(sdtps.CheckpointError, match="holds 1048576 MB; the limit is 8192 MB"):
        load_checkpoint(path)
    # Zeros that unpack to more than the limit.
    bomb = write(tmp_path / "bomb.pth", archive_with(bytes(4_000_000), compiled=True, compression=zipfile.ZIP_DEFLATED))
    assert bomb.stat().st_size < 10_000
    with pytest.raises(sdtps.CheckpointError, match="holds 4 MB"):
        read_state_file(bomb, limit=1_000_000)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "hf-hub:someone/something"},
        {"name": "../x"},
        {"backbone_options": {"timm_options": {"checkpoint_path": "/etc/passwd"}}},
        {"backbone_options": {"timm_options": {"pretrained_cfg": {"url": "http://example.com"}}}},
        {"backbone_options": {"timm_options": {"embed_dim": 60_000, "num_heads": 1}}},
        {"backbone_options": {"timm_options": {"depth": 10**12}}},
        {"num_classes": 10**9},
        {"input_size": [256]},
        {"sparse_ratio": 7},
        {"stranger": 1},
        {"fusion": {"left_out": 10**9}},
        {"fusion": {"left_out": -1}},
        {"fusion": {"left_out": "all"}},
    ],
)
def test_a_file_cannot_ask_for_other_files_or_vast_models(change, tmp_path):
    path = tmp_path / "own.safetensors"
    config = tiny_vit_config().as_dict() | change
    save_file({"x": torch.ones(3)}, path, metadata={"format": FORMAT, "config": json.dumps(config)})
    with pytest.raises(sdtps.CheckpointError, match=r"no usable configuration|cannot be built"):
        load_checkpoint(path)
