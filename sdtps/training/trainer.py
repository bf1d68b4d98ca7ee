"""Training: identity and foreground on PK batches, with random ratios, averaged weights and resumable checkpoints."""

import csv
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from tqdm import tqdm

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.checkpoints.load import save_checkpoint
from sdtps.datasets import read_rgbnt201
from sdtps.models.backbone import HieraBackbone
from sdtps.models.reid import ReidModel, build_model, pick_device
from sdtps.support.files import whole_file
from sdtps.training.losses import (
    contrast_loss,
    early_loss,
    focus_loss,
    foreground_loss,
    identity_loss,
    people_target,
    token_loss,
)
from sdtps.training.maps import CosineCalibration, apart_loss, maps_loss, meaning_loss
from sdtps.training.recipe import LossWeights, Phase, Recipe
from sdtps.training.sampling import PkSampler
from sdtps.training.sources import Batch, CachedTokens, FolderImages, Source
from sdtps.training.synth import EDITION
from sdtps.training.tokens import TokenSet, cache_synthetic
from sdtps.training.trunk import load_trunk

Losses = dict[str, Tensor]
# In the log; those after early need masks.
LOSSES = ("identity", "contrast", "apart", "early", "foreground", "focus", "token", "maps", "meaning")


def open_source(recipe: Recipe, quiet: bool = False) -> Source:
    """The recipe's training data; generated people are cached as tokens on the way."""
    if recipe.folder is not None:
        return FolderImages(read_rgbnt201(recipe.folder, recipe.split))
    assert recipe.synthetic is not None
    net = new_model(recipe, classes=0)
    backbone = net.backbone
    if not isinstance(backbone, HieraBackbone):
        raise ValueError("Training on cached tokens needs a Hiera backbone.")
    backbone.eval()
    folder = Path(recipe.synthetic.cache)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    spec = recipe.synthetic
    made = f"{spec.ids}x{spec.views}-edition{EDITION}-block{backbone.frozen_blocks}"
    if backbone.colours:
        made += "-colours"
    for seed in tqdm(spec.seeds, desc="tokens", unit="world", disable=quiet):
        path = folder / f"{seed}-{made}.npz"
        if not path.exists():
            cache_synthetic(backbone, seed, spec.ids, spec.views).save(path)
        paths.append(path)
    with torch.no_grad():  # not inference mode: the trainable blocks run on it
        blank = backbone.stem(torch.zeros(1, 3, *backbone.input_size))
    return CachedTokens(TokenSet.load(paths), blank, spec.patches)


def new_model(recipe: Recipe, classes: int) -> ReidModel:
    """The recipe's model, seeded, with the trunk's weights if it names some."""
    torch.manual_seed(recipe.seed)
    net = build_model(replace(recipe.model, num_classes=classes))
    if recipe.trunk is not None:
        if not isinstance(net.backbone, HieraBackbone):
            raise ValueError("A trunk belongs to a Hiera backbone.")
        # Rounded as it will be stored: heads that learn on it then meet the same features in the shipped file.
        weights = {name: weight.half().float() for name, weight in load_trunk(recipe.trunk).items()}
        missing = net.backbone.trunk.load_state_dict(weights, strict=False).missing_keys
        if missing:
            raise ValueError(f"The trunk lacks {missing[0]} and {len(missing) - 1} more; convert it again.")
    return net


def losses_of(net: ReidModel, calibration: CosineCalibration, batch: Batch, weight: LossWeights) -> Losses:
    """Forward pass and weighted losses of one batch."""
    encoded = net.reduce(batch.tokens)
    traces = net.sdtps(encoded.patches, encoded.global_vectors)
    predictions = net.predictions(encoded, traces).values()
    compared = [net.test_feature(encoded, traces), *(p.feature for p in predictions)]
    losses = {"identity": weight.identity * identity_loss(predictions, batch.pid, weight.cross_entropy)}
    contrast = torch.stack([contrast_loss(feature, batch.pid) for feature in compared]).mean()
    losses["contrast"] = weight.contrast * contrast
    losses["apart"] = weight.apart * apart_loss(traces, weight.alike)
    losses["early"] = weight.early * early_loss(net, encoded, traces) if weight.early else contrast.new_zeros(())
    if (patches := batch.patches) is not None:
        losses["foreground"] = weight.foreground * foreground_loss(traces, patches.person, patches.others)
        losses["focus"] = weight.focus * focus_loss(net, encoded, people_target(patches.person, patches.others))
        losses["token"] = weight.token * token_loss(encoded, batch.pid, patches.person)
        losses["maps"] = weight.maps * maps_loss(traces, patches, calibration, weight)
        losses["meaning"] = weight.meaning * meaning_loss(traces, patches)
    return losses


def parameter_groups(net: ReidModel, calibration: nn.Module, phase: Phase) -> list[dict[str, Any]]:
    """Learning rate by layer: heads at the full rate, the backbone's blocks at a rate that falls with depth below."""
    own = [p for n, p in net.named_parameters() if not _in_trunk(n) and p.requires_grad]
    groups = [{"params": [*own, *calibration.parameters()], "lr": phase.lr}]
    if phase.backbone_lr:
        blocks = list(_trainable_blocks(net))
        for depth, block in enumerate(reversed(blocks)):
            groups.append({"params": list(block.parameters()), "lr": phase.backbone_lr * phase.layer_decay**depth})
    return groups


class Trainer:
    """One run of a recipe: the model, its average, its data, and where it stands.

    Args:
        recipe: what to do.
        device: `auto`, or a torch device name.
        quiet: no progress bars.
    """

    def __init__(self, recipe: Recipe, device: str = "auto", quiet: bool = False) -> None:
        self.recipe = recipe
        self.device = pick_device(device)
        self.quiet = quiet
        self.source = open_source(recipe, quiet)
        self.net = new_model(recipe, classes=int(self.source.pid.max()) + 1).to(self.device)
        self.calibration = CosineCalibration().to(self.device)
        self.average = AveragedModel(self.net, multi_avg_fn=get_ema_multi_avg_fn(recipe.ema), use_buffers=True)
        self.step = 0
        self.out = Path(recipe.out)
        self.out.mkdir(parents=True, exist_ok=True)

    @property
    def _state_file(self) -> Path:
        return self.out / "state.pt"

    @property
    def _parts(self) -> dict[str, nn.Module]:
        return {"net": self.net, "calibration": self.calibration, "average": self.average}

    def save_state(self) -> None:
        """Write a resumable checkpoint; the file appears whole or not at all."""
        with whole_file(self._state_file) as partial:
            torch.save({"step": self.step, **{k: v.state_dict() for k, v in self._parts.items()}}, partial)

    def load_state(self) -> None:
        """Go on from the last checkpoint, if there is one. Adam's moments start anew."""
        if self._state_file.exists():
            state = torch.load(self._state_file, map_location=self.device, weights_only=True)
            for name, part in self._parts.items():
                part.load_state_dict(state[name])
            self.step = state["step"]

    def run(self) -> Path:
        """All phases that are still to do; returns the checkpoint of the averaged weights."""
        first = 0
        with (self.out / "log.csv").open("a" if self.step else "w", newline="", buffering=1) as stream:
            log = csv.writer(stream)
            if not self.step:
                log.writerow(["step", "seconds", "total", *LOSSES])
            for number, phase in enumerate(self.recipe.phases):
                if self.step < first + phase.steps:
                    self._run_phase(phase, number, first, log)
                first += phase.steps
        final = self.average.module
        assert isinstance(final, ReidModel)
        final.config = replace(final.config, num_classes=0)
        _drop_heads(final)
        result = self.out / "model.safetensors"
        save_checkpoint(final, result, seed=str(self.recipe.seed), steps=str(self.step))
        return result

    def _run_phase(self, phase: Phase, number: int, first: int, log: Any) -> None:
        skip = self.step - first
        _freeze(self.net, phase)
        groups = parameter_groups(self.net, self.calibration, phase)
        optimiser = torch.optim.AdamW(groups, weight_decay=self.recipe.weight_decay)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda s: _warm_cosine(s + skip, phase))
        scaler = torch.amp.GradScaler(self.device.type, enabled=self.device.type == "cuda")
        seed = self.recipe.seed + 1000 * number
        sampler = PkSampler(self.source.pid, self.recipe.identities, self.recipe.views, seed, self.source.world)
        rng = np.random.default_rng([seed, skip])
        started = time.monotonic()
        bar = tqdm(islice(sampler, skip, phase.steps), total=phase.steps - skip, desc="train", disable=self.quiet)
        for index in bar:
            losses = self._losses(index, rng, phase.loss or self.recipe.loss)
            total = torch.stack(list(losses.values())).sum()
            optimiser.zero_grad(set_to_none=True)
            scaler.scale(total).backward()
            scaler.unscale_(optimiser)
            nn.utils.clip_grad_norm_([p for g in groups for p in g["params"]], self.recipe.clip)
            scaler.step(optimiser)
            scaler.update()
            schedule.step()
            self.average.update_parameters(self.net)
            values = [f"{v.item():.4f}" for v in losses.values()]
            log.writerow([self.step, f"{time.monotonic() - started:.1f}", f"{total.item():.4f}", *values])
            bar.set_postfix(dict(zip(losses, values, strict=True)))
            self.step += 1
            if self.step % self.recipe.checkpoint_every == 0 or self.step == first + phase.steps:
                self.save_state()

    def _losses(self, index: NDArray[np.int64], rng: np.random.Generator, weight: LossWeights) -> Losses:
        self.net.train()
        sdtps, recipe = self.net.sdtps, self.recipe
        assert isinstance(sdtps, MultiModalSDTPS), "training knows the ratios and beta of SDTPS only"
        # Ratios and beta are drawn anew in every step, so that every slider position is in distribution.
        sdtps.sparse_ratio = float(rng.uniform(*recipe.sparse_ratio))
        sdtps.aggr_ratio = float(rng.uniform(*recipe.aggr_ratio))
        sdtps.beta = float(rng.uniform(*recipe.beta))
        with torch.autocast(self.device.type, dtype=torch.float16, enabled=self.device.type == "cuda"):
            return losses_of(self.net, self.calibration, self.source.batch(self.net, index, rng, self.device), weight)


def train(recipe: Recipe, device: str = "auto", resume: bool = False, quiet: bool = False) -> Path:
    """Run a recipe; returns the checkpoint of the averaged weights.

    Args:
        recipe: what to do.
        device: `auto`, or a torch device name.
        resume: go on from the last checkpoint in `recipe.out`.
        quiet: no progress bars.
    """
    trainer = Trainer(recipe, device, quiet)
    if resume:
        trainer.load_state()
    return trainer.run()


def _warm_cosine(step: int, phase: Phase) -> float:
    warm = max(1, round(phase.warm_up * phase.steps))
    if step < warm:
        return (step + 1) / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, phase.steps - warm)))


def _in_trunk(name: str) -> bool:
    return name.startswith(("backbone.trunk.", "backbone.vit."))


def _trainable_blocks(net: ReidModel) -> Iterator[nn.Module]:
    backbone = net.backbone
    if isinstance(backbone, HieraBackbone):
        yield from islice(backbone.trunk.blocks, backbone.frozen_blocks, None)
    else:
        yield from backbone.vit.blocks  # type: ignore[union-attr, misc]


def _freeze(net: ReidModel, phase: Phase) -> None:
    for name, parameter in net.named_parameters():
        if _in_trunk(name):
            parameter.requires_grad_(False)
    if phase.backbone_lr:
        for block in _trainable_blocks(net):
            block.requires_grad_(True)


def _drop_heads(net: ReidModel) -> None:
    """Classifiers over training identities say nothing about anyone else; the shipped model goes without."""
    for name in [n for n, _ in net.named_children() if n.startswith(("classifier", "bottleneck"))]:
        delattr(net, name)
