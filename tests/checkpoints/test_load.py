import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import sdtps
from sdtps.checkpoints.load import find_checkpoints, load_checkpoint, random_model, save_checkpoint, sha256_of
from tests.conftest import tiny_vit_config


@pytest.fixture
def saved(tmp_path):
    model = random_model(tiny_vit_config(num_classes=5), device="cpu")
    path = tmp_path / "tiny.safetensors"
    save_checkpoint(model.net, path, half=False, command="test")
    return model, path


def test_a_saved_model_comes_back_with_the_same_numbers(saved, photos):
    model, path = saved
    again = sdtps.load_model(path, device="cpu")
    a, b = sdtps.analyse(model, *photos.values()), sdtps.analyse(again, *photos.values())
    assert all(np.array_equal(a[m].score, b[m].score) for m in ("rgb", "nir", "tir"))
    assert again.weights.sha256 == sha256_of(path)
    assert (again.weights.trained, again.weights.missing, again.weights.unexpected) == (True, (), ())
    assert again.weights.loaded == len(model.net.state_dict())
    assert again.weights.complete


def test_half_storage_is_half_the_size(saved, tmp_path):
    model, path = saved
    small = tmp_path / "half.safetensors"
    save_checkpoint(model.net, small)
    assert small.stat().st_size < 0.6 * path.stat().st_size
    net, _ = load_checkpoint(small)
    assert next(net.parameters()).dtype == torch.float32


def test_missing_and_unexpected_tensors_are_reported(saved, tmp_path):
    _, path = saved
    state = load_file(path)
    state["stranger"] = torch.zeros(1)
    del state["sdtps.rgb_sparse.score_predictor.0.bias"]
    other = tmp_path / "other.safetensors"
    from safetensors import safe_open

    with safe_open(path, framework="pt") as reader:
        save_file(state, other, metadata=reader.metadata())
    with pytest.raises(sdtps.CheckpointError, match=r"fits only in part.*score_predictor\.0\.bias is missing"):
        load_checkpoint(other)
    report = load_checkpoint(other, force=True)[1]
    assert report.missing == ("sdtps.rgb_sparse.score_predictor.0.bias",)
    assert report.unexpected == ("stranger",)
    assert not report.complete


def test_the_report_is_plain_values(saved):
    report = sdtps.load_model(saved[1], device="cpu").weights
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain["sha256"] == report.sha256
    assert plain["facts"]["grid"] == [16, 8]
    assert {g["name"]: g["loaded"] for g in plain["groups"]}.keys() == {"backbone", "predictor", "aggregation", "heads"}
    assert plain["complete"] is True


def test_a_safetensors_file_of_another_program_is_refused(tmp_path):
    path = tmp_path / "other.safetensors"
    save_file({"x": torch.zeros(1)}, path, metadata={"config": json.dumps({})})
    with pytest.raises(sdtps.CheckpointError, match="of no kind that is known here"):
        sdtps.load_model(path)


def test_the_embedded_model_is_listed_first(tmp_path):
    for name in ("b.pth", "a.safetensors", "notes.txt", "sdtps-lens-hiera-tiny.safetensors"):
        (tmp_path / name).touch()
    names = [path.name for path in find_checkpoints(tmp_path)]
    assert names == ["sdtps-lens-hiera-tiny.safetensors", "a.safetensors", "b.pth"]
    assert find_checkpoints(tmp_path / "nowhere") == []


def test_a_missing_file_is_named_without_its_folder(tmp_path):
    with pytest.raises(sdtps.CheckpointError, match=r"^There is no checkpoint 'gone.pth'; check the path\.$"):
        sdtps.load_model(tmp_path / "gone.pth")


def test_random_weights_say_so():
    a, b = (random_model(tiny_vit_config(), seed=s, device="cpu").weights for s in (0, 1))
    assert not a.trained
    assert not a.complete
    assert "random weights" in a.name
    assert a.sha256 != b.sha256
    assert random_model(tiny_vit_config(), seed=0, device="cpu").weights.sha256 == a.sha256
