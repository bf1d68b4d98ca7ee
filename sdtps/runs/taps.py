"""Hooks on a selector, ours or the reference's: what goes in, and what comes back to it in the backward pass."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from sdtps.algorithm.selector import Selector
from sdtps.runs.schema import GRADIENT, HEAD
from sdtps.support.errors import LensError
from sdtps.types import MODALITIES

SATURATED = 0.01  # closer to 0 or 1 than this, a sigmoid has nearly no slope left
HEADS = re.compile(r"(?:^|\.)classifier_?([a-z0-9_]*)\.")
NECKS = re.compile(r"(?:^|\.)(?:classifier|bottleneck)[a-z0-9_]*\.")


def find_module(model: nn.Module) -> tuple[str, nn.Module]:
    """The selector inside a model: ours by its class, the reference's by the names of its parts."""
    for name, module in model.named_modules():
        if kind_of(module) is not None:
            return name, module
    text = (
        "The model has no selector: no part of it has rgb_sparse, nir_sparse and tir_sparse with a predictor (SDTPS) "
        "or with mixing weights (soft SDTPS), or token_selection and modal_interactive (SIM)."
    )
    raise LensError("recorder.no_module", text)


def kind_of(module: nn.Module) -> str | None:
    """The selector that a module is, by name; None for everything else."""
    sparse = [getattr(module, f"{m}_sparse", None) for m in MODALITIES]
    if all(isinstance(getattr(part, "score_predictor", None), nn.Module) for part in sparse):
        return "sdtps"
    if isinstance(module, Selector) and module.variant.selector != "sdtps":
        return module.variant.selector
    if all(isinstance(getattr(part, "modal_weight_mlp", None), nn.Module) for part in sparse):
        return "soft"
    parts = (getattr(module, name, None) for name in ("token_selection", "modal_interactive"))
    return "sim" if all(isinstance(part, nn.Module) for part in parts) else None


class Tap:
    """Listens at a model's selector until it is removed.

    Gradients are those that pass the module's own door: tokens that also feed another head are counted without it. The
    sums behind them are taken in another order than without a tap, so the last bits of a gradient may differ.

    Args:
        model: any model that holds a selector.

    Attributes:
        module: the selector.
        kind: which one, by name: sdtps, soft, sim, or one of a user's own.
        tokens: patches and global vectors of the last forward pass without gradient: six tensors, RGB, NIR, TIR.
    """

    def __init__(self, model: nn.Module) -> None:
        self.name, self.module = find_module(model)
        self.tokens: tuple[list[Tensor], list[Tensor]] | None = None
        self._squares: dict[str, Tensor] = {}
        self._facts: dict[str, Tensor] = {}
        self.kind = kind_of(self.module) or "sdtps"
        self._parameters = parameter_groups(model, self.name, self.kind)
        self._hooks = [self.module.register_forward_pre_hook(self._enter, with_kwargs=True)]
        for m in MODALITIES if self.kind == "sdtps" else ():  # other selectors have no score that one part makes
            predictor = getattr(self.module, f"{m}_sparse").score_predictor
            self._hooks.append(predictor.register_forward_hook(self._predicted))

    def remove(self) -> None:
        """Stop listening."""
        for hook in self._hooks:
            hook.remove()

    def read(self, scale: float = 1.0) -> dict[str, Tensor]:
        """Gradient norms by route and by head since the last reading; call it between backward and the next step.

        Args:
            scale: by which the loss was multiplied (a GradScaler's scale).
        """
        found = {GRADIENT + name: square.sqrt() / scale for name, square in self._squares.items()}
        if (score := found.get(GRADIENT + "scores")) is not None:
            share = 1.0 - 2.0 * float(attribute(self.module, "beta", 0.25))  # of the predictor in the score
            found[GRADIENT + "scores"] = score / share if share > 0 else score * torch.nan
        for name, parameters in self._parameters.items():
            gradients = [p.grad for p in parameters if p.grad is not None]
            if gradients:
                found[GRADIENT + name] = nn.utils.get_total_norm(gradients) / scale
            elif name.startswith("head/") and parameters:
                found[GRADIENT + name] = torch.zeros(())
        self._squares = {}
        return found

    def facts(self) -> dict[str, Tensor]:
        """Statistics of the last batch: sizes of tokens and global vectors, extremes of the predictor."""
        return dict(self._facts)

    def _enter(self, _module: nn.Module, args: Any, kwargs: Any) -> tuple[Any, Any]:
        patches: list[Tensor] = []
        vectors: list[Tensor] = []

        def sort(tensor: Tensor) -> Tensor:
            if not tensor.is_floating_point() or tensor.ndim not in (2, 3):
                return tensor
            kind = "patches" if tensor.ndim == 3 and tensor.shape[1] > 1 else "globals"
            if torch.is_grad_enabled() and tensor.requires_grad:
                tensor = tensor.view_as(tensor)  # what comes back to the view came through this module
                tensor.register_hook(lambda gradient: self._add(kind, gradient))
            (patches if kind == "patches" else vectors).append(tensor)
            return tensor

        args, kwargs = _each_tensor(args, sort), _each_tensor(kwargs, sort)
        if torch.is_grad_enabled():
            self._facts = self._batch_facts(patches, vectors)
        else:
            self.tokens = patches[:3], [v.flatten(1) for v in vectors[:3]]
        return args, kwargs

    def _predicted(self, _module: nn.Module, _args: Any, output: Tensor) -> None:
        if not torch.is_grad_enabled():
            return
        values = output.detach()
        low, high = values.aminmax()
        near = ((values < SATURATED) | (values > 1 - SATURATED)).float().mean()
        for name, value, join in (
            ("predictor/min", low, torch.minimum),
            ("predictor/max", high, torch.maximum),
        ):
            self._facts[name] = join(self._facts[name], value) if name in self._facts else value
        self._facts["predictor/saturated"] = self._facts.get("predictor/saturated", 0.0) + near / len(MODALITIES)
        if output.requires_grad:
            output.register_hook(lambda gradient: self._add("scores", gradient))

    def _add(self, kind: str, gradient: Tensor) -> None:
        square = gradient.detach().float().norm().square()
        self._squares[kind] = self._squares[kind] + square if kind in self._squares else square

    @staticmethod
    def _batch_facts(patches: list[Tensor], vectors: list[Tensor]) -> dict[str, Tensor]:
        facts: dict[str, Tensor] = {}
        for kind, tensors in (("patches", patches), ("globals", vectors)):
            for m, tensor in zip(MODALITIES, tensors, strict=False):
                values = tensor.detach()
                facts[f"{kind}/{m}/rms"] = values.float().norm() / values.numel() ** 0.5
                facts[f"{kind}/{m}/largest"] = values.abs().max()
        if patches:
            facts["batch"] = torch.tensor(float(len(patches[0])))
        return facts


def parameter_groups(model: nn.Module, module_name: str, kind: str = "sdtps") -> dict[str, list[nn.Parameter]]:
    """Parameters by route and by head, from their names; of another selector, `predictor` is all that scores."""
    groups: dict[str, list[nn.Parameter]] = {"predictor": [], "aggregation": [], "backbone": []}
    rest: list[tuple[str, nn.Parameter]] = []
    inside = f"{module_name}." if module_name else ""
    for name, parameter in model.named_parameters():
        within = name.removeprefix(inside) if name.startswith(inside) else ""
        if "_aggr" in within or within.startswith("modal_interactive"):
            groups["aggregation"].append(parameter)
        elif "_sparse" in within or (within and kind != "sdtps"):
            groups["predictor"].append(parameter)
        elif head := HEADS.search(name):
            groups.setdefault(HEAD.removeprefix(GRADIENT) + (head[1] or "ori"), []).append(parameter)
        elif not NECKS.search(name):
            rest.append((name, parameter))
    named = [p for name, p in rest if "backbone" in name.lower()]
    groups["backbone"] = named or [p for _, p in rest]
    return groups


def attribute(module: nn.Module, name: str, default: float) -> float:
    """A setting of the module, or of its first part that has it."""
    for owner in (module, *(getattr(module, f"{m}_sparse", None) for m in MODALITIES)):
        value = getattr(owner, name, None)
        if isinstance(value, int | float):
            return float(value)
    return default


def _each_tensor(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The same arguments with every tensor changed; modalities in a mapping come in their order."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, Mapping):
        names = sorted(value, key=lambda k: list(MODALITIES).index(k) if k in list(MODALITIES) else len(MODALITIES))
        changed = {k: _each_tensor(value[k], change) for k in names}
        return {k: changed[k] for k in value}
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(_each_tensor(v, change) for v in value)
    return value
