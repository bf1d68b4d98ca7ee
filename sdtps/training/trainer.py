"""Training: a recipe's phases on PK batches, with averaged weights, validation, a record and an exact resume."""

import json
import math
import time
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm import tqdm

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.checkpoints.load import save_checkpoint
from sdtps.models.reid import ReidModel, pick_device
from sdtps.runs.recorder import Recorder
from sdtps.runs.schema import ABOUT, EPOCHS, FIRST_BAD, MAPS, STEPS
from sdtps.support.files import whole_file
from sdtps.training.initial import new_model
from sdtps.training.logs import Logs
from sdtps.training.maps import CosineCalibration
from sdtps.training.objective import Outcome, outcome_of
from sdtps.training.optimise import freeze, new_optimiser, parameter_groups, rate_at
from sdtps.training.recipe import Phase, Recipe
from sdtps.training.recipe_data import open_source, open_tokens
from sdtps.training.sampling import PkSampler
from sdtps.training.sources import Batch, FolderImages, batches
from sdtps.training.validate import TokenValidation, Validate, folder_validation, scores
from sdtps.variants import get_variant

RESULT = "model.safetensors"
PHASE_SEED = 1000  # between the seeds of two phases


class DivergedError(RuntimeError):
    """The loss is no number any more."""


class Trainer:
    """One run of a recipe: the model, its average, its data, and where it stands.

    Args:
        recipe: what to do.
        device: `auto`, or a torch device name.
        quiet: no progress bars.
        resume: go on from the last checkpoint in `recipe.out`, where there is one.
    """

    def __init__(self, recipe: Recipe, device: str = "auto", quiet: bool = False, resume: bool = False) -> None:
        self.recipe = recipe
        self.device = pick_device(device)
        self.quiet = quiet
        self.source = open_source(recipe, quiet)
        self.net = new_model(recipe, classes=int(self.source.pid.max()) + 1).to(self.device)
        if isinstance(self.source, FolderImages):
            self.source.check_cameras(self.net.backbone)
        self._set_selection()
        self.calibration = CosineCalibration().to(self.device)
        self.average = (
            AveragedModel(self.net, multi_avg_fn=get_ema_multi_avg_fn(recipe.ema), use_buffers=True)
            if recipe.ema
            else None
        )
        self.validation = self._validation()
        self.epoch_steps = recipe.epoch_steps or max(1, len(self.source.pid) // (recipe.identities * recipe.views))
        self.step = 0
        self.best = -math.inf
        self._optimiser_state: dict[str, Any] | None = None
        self.out = Path(recipe.out)
        self.out.mkdir(parents=True, exist_ok=True)
        if resume:
            self.load_state()

    def _set_selection(self) -> None:
        module, how = self.net.sdtps, self.recipe.selection
        if not isinstance(module, MultiModalSDTPS):
            raise ValueError(f"The variant {self.recipe.variant} is another selector and cannot be trained here.")
        module.gumbel, module.tau, module.noise_clamp = how.gumbel, how.tau, how.noise_clamp
        module.detach_attention = how.detached(self.recipe.variant)

    def _validation(self) -> Validate | None:
        wanted = self.recipe.validate
        if wanted is None:
            return None
        if self.recipe.synthetic is None:
            return folder_validation(self.recipe)
        spec = replace(self.recipe.synthetic, seeds=wanted.seeds, ids=wanted.ids, views=wanted.views)
        return TokenValidation(open_tokens(self.recipe, spec, self.quiet), self.recipe.trained_settings)

    @property
    def _state_file(self) -> Path:
        return self.out / "state.pt"

    @property
    def _parts(self) -> dict[str, nn.Module]:
        parts: dict[str, nn.Module] = {"net": self.net, "calibration": self.calibration}
        return parts if self.average is None else {**parts, "average": self.average}

    def steps_of(self, phase: Phase) -> int:
        """How many batches a phase has."""
        return phase.steps or phase.epochs * self.epoch_steps

    def save_state(self, optimiser: torch.optim.Optimizer, scaler: torch.amp.GradScaler) -> None:
        """Write a resumable checkpoint; the file appears whole or not at all."""
        state = {
            "step": self.step,
            "best": self.best,
            "optimiser": optimiser.state_dict(),
            "scaler": scaler.state_dict(),
            "random": torch.get_rng_state(),
            **{k: v.state_dict() for k, v in self._parts.items()},
        }
        if self.device.type == "cuda":
            state["random_cuda"] = torch.cuda.get_rng_state(self.device)
        with whole_file(self._state_file) as partial:
            torch.save(state, partial)

    def load_state(self) -> None:
        """Go on from the last checkpoint, if there is one: weights, optimiser, random numbers, place."""
        if self._state_file.exists():
            state = torch.load(self._state_file, map_location=self.device, weights_only=True)
            for name, part in self._parts.items():
                part.load_state_dict(state[name])
            self.step, self.best = state["step"], state["best"]
            self._optimiser_state = state

    def run(self) -> Path:
        """All phases that are still to do; returns the checkpoint of the final weights."""
        if not self.step:
            _forget_run(self.out)
        self._logs = Logs(self.out, self.step, self.recipe.tensorboard)
        self._recorder = Recorder(
            self.out,
            self.net,
            self.recipe.probe,
            settings=self.recipe.trained_settings,
            about=_about(self.recipe),
            light=self.recipe.record == "light",
            resume=bool(self.step),
            step=self.step,
        )
        first = 0
        try:
            for number, phase in enumerate(self.recipe.phases):
                steps = self.steps_of(phase)
                if self.step < first + steps:
                    self._run_phase(phase, number, first)
                first += steps
        finally:
            self._logs.close()
            self._recorder.close()
        return self.save_model(RESULT)

    def save_model(self, name: str) -> Path:
        """Write the weights as a whole checkpoint: without heads, with the settings and the variant of the training."""
        final = deepcopy(self._judged)
        final.config = replace(final.config, num_classes=0)
        _drop_heads(final)
        trained = {n: getattr(self.recipe, n) for n in ("sparse_ratio", "aggr_ratio", "beta")}
        selection = self.recipe.selection
        if get_variant(self.recipe.variant).trains_at_tau(selection.gumbel):
            trained["tau"] = selection.tau
        place = {"seed": str(self.recipe.seed), "steps": str(self.step)}
        save_checkpoint(final, self.out / name, half=True, trained_settings=json.dumps(trained), **place)
        return self.out / name

    @property
    def _judged(self) -> ReidModel:
        """The weights that are validated and kept: averaged where the recipe averages."""
        net = self.net if self.average is None else self.average.module
        assert isinstance(net, ReidModel)
        return net

    def _order(self, number: int, skip: int, steps: int) -> Iterator[tuple[Sequence[int], NDArray[np.int64]]]:
        """Seed and indices of each batch that is left of a phase."""
        seed = self.recipe.seed + PHASE_SEED * number
        sampler = PkSampler(self.source.pid, self.recipe.identities, self.recipe.views, seed, self.source.world)
        for step, index in zip(range(skip, steps), islice(sampler, skip, None), strict=False):
            yield (seed, step), index

    def _run_phase(self, phase: Phase, number: int, first: int) -> None:
        skip, steps = self.step - first, self.steps_of(phase)
        freeze(self.net, phase)
        groups = parameter_groups(self.net, self.calibration, phase, self.recipe.optimiser.bias_lr)
        optimiser = new_optimiser(self.recipe, groups)
        peaks = [group["lr"] for group in optimiser.param_groups]
        scaler = torch.amp.GradScaler(self.device.type, enabled=self.device.type == "cuda")
        self._take_up(optimiser, scaler, in_phase=skip > 0)
        started = time.monotonic()
        data = batches(self.source, self.net, self._order(number, skip, steps), self.device, self.recipe.workers)
        # The backbone runs while a batch is made, so ratios and training mode are set before each.
        bar = tqdm(range(skip, steps), desc="train", disable=self.quiet)
        for place in bar:
            share = rate_at(place, steps, phase, self.epoch_steps)
            for group, peak in zip(optimiser.param_groups, peaks, strict=True):
                group["lr"] = peak * share
            self._prepare(number, place)
            outcome = self._forward(data, phase)
            optimiser.zero_grad(set_to_none=True)
            scaler.scale(outcome.total).backward()
            scaler.unscale_(optimiser)
            self._write(outcome, optimiser.param_groups[0]["lr"], time.monotonic() - started)
            if self.recipe.clip is not None:
                nn.utils.clip_grad_norm_([p for g in groups for p in g["params"]], self.recipe.clip)
            scaler.step(optimiser)
            scaler.update()
            if self.average is not None:
                self.average.update_parameters(self.net)
            self.step += 1
            bar.set_postfix(loss=f"{outcome.total.item():.4f}")
            if self.step % self.epoch_steps == 0 or (place == steps - 1 and number == len(self.recipe.phases) - 1):
                self._end_epoch(time.monotonic() - started)
            if self.step % self.recipe.checkpoint_every == 0 or place == steps - 1:
                self.save_state(optimiser, scaler)

    def _take_up(self, optimiser: torch.optim.Optimizer, scaler: torch.amp.GradScaler, in_phase: bool) -> None:
        """Go on with the optimiser's moments and the random numbers of a checkpoint; a new phase has new moments."""
        state, self._optimiser_state = self._optimiser_state, None
        if state is None:
            return
        if in_phase:
            optimiser.load_state_dict(state["optimiser"])
            scaler.load_state_dict(state["scaler"])
        torch.set_rng_state(state["random"].cpu())
        if self.device.type == "cuda" and "random_cuda" in state:
            torch.cuda.set_rng_state(state["random_cuda"].cpu(), self.device)

    def _prepare(self, number: int, place: int) -> None:
        """Training mode, and the ratios and beta of this step: as they are, or drawn anew from their ranges."""
        self.net.train()
        rng = np.random.default_rng([self.recipe.seed + PHASE_SEED * number, place, 1])
        module = self.net.sdtps
        assert isinstance(module, MultiModalSDTPS)
        for name in ("sparse_ratio", "aggr_ratio", "beta"):
            value = getattr(self.recipe, name)
            setattr(module, name, float(rng.uniform(*value)) if isinstance(value, tuple) else value)

    def _forward(self, data: Iterator[Batch], phase: Phase) -> Outcome:
        heads = dict(self.recipe.heads)
        if self.step // self.epoch_steps < self.recipe.selection.warm_up_epochs:
            heads["sdtps"] = 0.0
        with torch.autocast(self.device.type, dtype=torch.float16, enabled=self.device.type == "cuda"):
            return outcome_of(self.net, self.calibration, next(data), phase.loss or self.recipe.loss, heads)

    def _write(self, outcome: Outcome, rate: float, seconds: float) -> None:
        total = outcome.total.detach()
        by_head = {f"loss_{h}": v for h, v in outcome.heads.items()} | {
            f"acc_{h}": v for h, v in outcome.accuracy.items()
        }
        self._recorder.step(loss=total, scale=1.0, **by_head, lr=rate)
        scalars = {k: v.detach() for k, v in {"total": total, **outcome.losses, **by_head}.items()}
        self._logs.step(self.step, seconds, {k: float(v) for k, v in scalars.items()} | {"lr": rate})
        if not bool(torch.isfinite(total)):
            raise DivergedError(
                f"The loss is {float(total)} at step {self.step}; {FIRST_BAD} in {str(self.out)!r} says more. "
                "Try a smaller learning rate, clip the gradient, or train without Gumbel noise."
            )

    def _end_epoch(self, seconds: float) -> None:
        epoch = (self.step - 1) // self.epoch_steps
        found: dict[str, float] = {}
        every = self.recipe.validate.every if self.recipe.validate else 0
        if self.validation is not None and (epoch + 1) % every == 0:
            found = scores(self.validation(self._judged))
            if found["mAP"] > self.best:
                self.best = found["mAP"]
                self.save_model("best.safetensors")
        self._recorder.epoch(epoch, **found)
        self._logs.epoch(self.step - 1, seconds, found)


def train(recipe: Recipe, device: str = "auto", resume: bool = False, quiet: bool = False) -> Path:
    """Run a recipe; returns the checkpoint of the final weights, averaged where the recipe averages.

    Args:
        recipe: what to do.
        device: `auto`, or a torch device name.
        resume: go on from the last checkpoint in `recipe.out`.
        quiet: no progress bars.
    """
    return Trainer(recipe, device, quiet, resume).run()


def _about(recipe: Recipe) -> dict[str, Any]:
    """What was set, for the record: everything but where files lie."""
    values = recipe.as_dict()
    for name in ("out", "folder", "probe", "record", "checkpoint_every", "workers", "tensorboard"):
        values.pop(name)
    if values["synthetic"]:
        values["synthetic"].pop("cache")
    return values


def _forget_run(folder: Path) -> None:
    """Remove what an earlier run of the same name recorded; it would be mixed up with the new one."""
    for name in (ABOUT, STEPS, EPOCHS, FIRST_BAD):
        (folder / name).unlink(missing_ok=True)
    for file in (folder / MAPS).glob("*.npz"):
        file.unlink()


def _drop_heads(net: ReidModel) -> None:
    """Classifiers over training identities say nothing about anyone else; the shipped model goes without."""
    for name in [n for n, _ in net.named_children() if n.startswith(("classifier", "bottleneck"))]:
        delattr(net, name)
