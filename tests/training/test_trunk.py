"""The conversion, on a random trunk taken apart the way the published file is."""

import struct
import sys
from types import ModuleType, SimpleNamespace

import pytest
import timm
import torch
import torch.nn.functional as F

from sdtps.cli.main import main
from sdtps.resources import PROJECT
from sdtps.training import trunk


def published(state: dict[str, torch.Tensor]) -> dict[str, object]:
    """timm's names back to the encoder file's: linear weights transposed under graph names, positions folded."""
    tensors = {}
    for key, value in state.items():
        if key.startswith(("head.", "pos_embed")):
            continue
        name = key.replace("mlp.fc1", "mlp.layers.0").replace("mlp.fc2", "mlp.layers.1")
        parts = key.split(".")
        if parts[0] == "blocks" and value.ndim == 2:
            layer = ".".join(name.split(".")[2:-1]).replace("attn.", "attn/").replace("mlp.", "mlp/")
            tensors[f"/image_encoder/trunk/blocks.{parts[1]}/{layer}/Transpose_output_0"] = value.t().numpy()
        else:
            tensors["model.image_encoder.trunk." + name] = value.numpy()
    folded = F.interpolate(state["pos_embed"], size=(256, 256), mode="bicubic") + state["pos_embed_window"].tile(32, 32)
    tensors["/image_encoder/trunk/Transpose_output_0"] = folded.numpy()
    return tensors


@pytest.fixture(scope="module")
def random_trunk():
    torch.manual_seed(0)
    model = timm.create_model("sam2_hiera_tiny", pretrained=False, num_classes=0).eval()
    torch.nn.init.normal_(model.pos_embed, std=0.1)
    torch.nn.init.normal_(model.pos_embed_window, std=0.1)
    return model


def test_every_tensor_comes_back(random_trunk):
    state = trunk.trunk_state(published(random_trunk.state_dict()))
    want = {k: v for k, v in random_trunk.state_dict().items() if not k.startswith("head.")}
    assert set(state) == set(want)
    for key in set(want) - {"pos_embed", "pos_embed_window"}:
        assert torch.equal(state[key], want[key]), key


def test_positions_add_up_at_the_size_in_use(random_trunk):
    state = trunk.trunk_state(published(random_trunk.state_dict()))
    images = torch.zeros(1, 64, 32, 96)
    want = random_trunk._pos_embed(images)
    random_trunk.load_state_dict(state, strict=False)
    torch.testing.assert_close(random_trunk._pos_embed(images), want, atol=2e-4, rtol=0)


def test_a_missing_trunk_says_how_to_get_it(tmp_path, monkeypatch, capsys):
    config = PROJECT / "configs" / "embedded.yaml"
    monkeypatch.chdir(tmp_path)  # the recipe names its trunk relative to where training starts
    assert main(["train", "--config", str(config)]) == 1
    sentence, *steps = capsys.readouterr().err.splitlines()
    assert sentence == "sdtps: There is no trunk at 'runs/trunk.safetensors'."
    assert "\n".join(steps) == trunk.HOW_TO_GET


def test_training_without_a_word_is_the_embedded_model_s(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train"]) == 1
    assert "configs/embedded.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("lacking", ["patch_embed.proj.bias", "Transpose_output_0"])
def test_another_encoder_is_refused_by_name(random_trunk, lacking):
    tensors = {name: t for name, t in published(random_trunk.state_dict()).items() if not name.endswith(lacking)}
    with pytest.raises(ValueError, match=f"{lacking}; it is not the SAM 2 Hiera-Tiny encoder"):
        trunk.trunk_state(tensors)


def test_a_file_that_leads_nowhere_is_one_sentence(tmp_path, monkeypatch):
    """onnxruntime is no requirement; what its reader does with a damaged file is raise struct.error."""

    class InferenceSession:
        @staticmethod
        def GetRootAsInferenceSession(content, offset):
            return struct.unpack_from("<I", content, len(content))

    name = "onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.InferenceSession"
    for i in range(1, name.count(".") + 1):
        monkeypatch.setitem(sys.modules, name.rsplit(".", i)[0], ModuleType("package"))
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(InferenceSession=InferenceSession))
    damaged = tmp_path / "encoder.ort"
    damaged.write_bytes(b"ORTM")
    with pytest.raises(ValueError, match="damaged, or no ONNX Runtime file; get it again"):
        trunk.convert(damaged, tmp_path / "trunk.safetensors")
    assert not (tmp_path / "trunk.safetensors").exists()
