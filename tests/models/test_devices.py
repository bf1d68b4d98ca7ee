"""The path of another device, without one: fake tensors know where they are, so one that stays behind fails here."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import sdtps
from sdtps import pipeline
from sdtps.models.reid import LoadedModel
from sdtps.types import MODALITIES, Settings
from tests.checkpoints.checkpoint_files import saved
from tests.checkpoints.family_files import family_state

KINDS = ("embedded", "sdtps", "soft dgaf", "frca dgaf", "parallel", "signal")


@pytest.fixture(scope="module", params=KINDS)
def model(request, tmp_path_factory) -> LoadedModel:
    if request.param == "embedded":
        return sdtps.load_model(device="cpu")
    return sdtps.load_model(saved(tmp_path_factory.mktemp("weights"), family_state(request.param)), "cpu")


@contextmanager
def moved(model: LoadedModel, name: str) -> Iterator[tuple[LoadedModel, FakeTensorMode]]:
    """The model as if its weights lay on another device; they come back at the end."""
    mode, device = FakeTensorMode(), torch.device(name)
    before = []
    for module in model.net.modules():
        for tensors in (module._parameters, module._buffers):
            for key, tensor in tensors.items():
                if tensor is not None:
                    before.append((tensors, key, tensor))
                    tensors[key] = FakeTensor(mode, torch.empty_like(tensor, device="meta"), device)
    try:
        with mode:
            yield replace(model, device=device), mode
    finally:
        for tensors, key, tensor in before:
            tensors[key] = tensor


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_nothing_is_left_on_the_cpu(model: LoadedModel, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole analysis up to the arrays: backbone, evidence, choice, feature."""
    monkeypatch.setattr(pipeline, "check_finite", lambda _: None)  # asks for values, which fakes do not have
    monkeypatch.setattr(pipeline, "settle", lambda: None)
    seen: list[tuple[str, torch.dtype]] = []
    height, width = model.net.backbone.input_size
    with moved(model, device) as (there, _):
        watched = next(m for m in there.net.backbone.modules() if isinstance(m, torch.nn.Linear))
        handle = watched.register_forward_hook(lambda _m, _i, out: seen.append((out.device.type, out.dtype)))
        try:
            camera = torch.tensor([1]) if model.weights.facts.get("cameras") else None
            encoded = pipeline.forward(there, torch.empty(len(MODALITIES), 1, 3, height, width), camera)
        finally:
            handle.remove()
        evidence = pipeline._evidence_of(
            there, pipeline.Encoding(None, encoded), sdtps.VARIANTS[settings(model).variant]
        )
        traces, feature, numbers = pipeline.choose(there, encoded, evidence, settings(model))
    # The backbone runs there, in half precision on CUDA alone; the rest comes back in single precision.
    assert set(seen) == {(device, torch.float16 if device == "cuda" else torch.float32)}
    back = [feature, *numbers.values(), *encoded.patches.values(), *(t.score for t in traces.values())]
    assert {(t.device.type, t.dtype) for t in back if t.is_floating_point()} == {("cpu", torch.float32)}
    assert feature.shape[0] == 1


def settings(model: LoadedModel) -> Settings:
    return model.settings


def test_a_tensor_that_stays_behind_is_noticed(model: LoadedModel) -> None:
    """Otherwise the test above could not fail."""
    with moved(model, "cuda") as (there, _):
        weight = next(iter(there.net.parameters()))
        left = torch.ones(weight.shape)
        with pytest.raises(RuntimeError, match="device"):
            torch.add(weight, left)


def test_the_precision_is_chosen_by_device(model: LoadedModel) -> None:
    for name, half in (("cuda", True), ("mps", False), ("cpu", False)):
        context = replace(model, device=torch.device(name)).autocast()
        assert (context._enabled, context.fast_dtype) == (half, torch.float16)
    assert isinstance(next(model.net.parameters()), Tensor)
