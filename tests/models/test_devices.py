"""The path of another device, without one: fake tensors know where they are, so one that stays behind fails here."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import sdtps
from sdtps import pipeline
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import encoding
from sdtps.types import MODALITIES
from sdtps.variants import get_variant
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


def faked(mode: FakeTensorMode, value: Any) -> Any:
    """The same record with fake tensors that lie on the CPU."""
    if isinstance(value, torch.Tensor):
        return mode.from_tensor(value)
    if isinstance(value, dict):
        return {key: faked(mode, part) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: faked(mode, getattr(value, f.name)) for f in fields(value) if f.init})
    if isinstance(value, tuple):
        parts = [faked(mode, part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def test_nothing_is_left_on_the_cpu(model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backbone, evidence and fusion with weights on CUDA; choosing has no weights and stays on the CPU."""
    height, width = model.net.backbone.input_size
    camera = torch.zeros(1, dtype=torch.long) if model.weights.facts.get("cameras") else None
    real = pipeline.forward(model, torch.rand(len(MODALITIES), 1, 3, height, width), camera)
    variant = get_variant(model.settings.variant)
    own = encoding.evidence_of(model, pipeline.Encoding(None, real), variant)
    traces = pipeline.choose(model, real, own, model.settings)[0]

    for name in ("check_finite", "check_numbers"):  # they ask for values, which fakes do not have
        monkeypatch.setattr(encoding, name, lambda _: None)
    monkeypatch.setattr(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False)
    seen: list[tuple[str, torch.dtype]] = []
    with moved(model, "cuda") as (there, mode):
        watched = next(m for m in there.net.backbone.modules() if isinstance(m, torch.nn.Linear))
        handle = watched.register_forward_hook(lambda _m, _i, out: seen.append((out.device.type, out.dtype)))
        try:
            encoded = pipeline.forward(there, torch.empty(len(MODALITIES), 1, 3, height, width), faked(mode, camera))
        finally:
            handle.remove()
        evidence = encoding.evidence_of(there, pipeline.Encoding(None, encoded), variant)
        feature, numbers = pipeline.fused(there, faked(mode, real), faked(mode, traces), faked(mode, own))
    # The backbone runs there, in half precision; what comes back is on the CPU in single precision.
    assert set(seen) == {("cuda", torch.float16)}
    back = [feature, *numbers.values(), *encoded.patches.values(), *(e.patches for e in evidence.values())]
    assert {(t.device.type, t.dtype) for t in back} == {("cpu", torch.float32)}


def test_a_tensor_that_stays_behind_is_noticed(model: LoadedModel) -> None:
    """Otherwise the test above could not fail."""
    with moved(model, "cuda") as (there, _):
        weight = next(iter(there.net.parameters()))
        left = torch.ones(weight.shape)
        with pytest.raises(RuntimeError, match="device"):
            torch.add(weight, left)


def test_the_precision_is_chosen_by_device(model: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda.amp.common, "amp_definitely_not_available", lambda: False)
    for name, half in (("cuda", True), ("mps", False), ("cpu", False)):
        context = replace(model, device=torch.device(name)).autocast()
        assert context._enabled is half
        assert context.fast_dtype is torch.float16
