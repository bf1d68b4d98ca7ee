"""A training run as data: read from YAML, stored with the weights."""

import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from sdtps.models.reid import ModelConfig

RECIPES = (".yaml", ".yml")


@dataclass(frozen=True)
class Synthetic:
    """Generated people: for every seed (a world with its own cameras), `ids` people with `views` views each.

    A batch holds a random `patches` of each picture's patches. `style` is `rendered` or `drawn`. `dark` is the chance
    that a set's RGB picture is taken for a black one, so that the other two must say where the person is.
    """

    seeds: tuple[int, ...] = (1,)
    ids: int = 50
    views: int = 4
    patches: int = 48
    cache: str = "runs/tokens"
    style: str = "rendered"
    dark: float = 0.0


@dataclass(frozen=True)
class LossWeights:
    """Weights of the losses.

    cross_entropy is inside identity; contrast judges features as they are compared at test time; apart holds the
    correlations between a modality's maps below `alike`; early wants the best patches to speak for all; focus is for
    pools and aggregation rows; maps finds the person in self and cross maps, meaning gives them an order inside the
    person; the last three shape the targets of maps.
    """

    identity: float = 1.0
    cross_entropy: float = 0.5
    contrast: float = 0.0
    apart: float = 0.0
    alike: float = 0.85
    early: float = 0.0
    foreground: float = 4.0
    focus: float = 0.0
    token: float = 0.5
    maps: float = 2.0
    meaning: float = 0.0
    emphasis: float = 0.65
    others: float = 0.0
    warm_ground: float = 0.0


@dataclass(frozen=True)
class Phase:
    """A stretch of training with one learning-rate schedule.

    Attributes:
        steps: number of batches.
        lr: peak learning rate of heads, adapters and SDTPS.
        backbone_lr: peak learning rate of the backbone (cached tokens: of its last blocks); 0 freezes it.
        layer_decay: factor on the learning rate from each backbone block to the one below it.
        warm_up: share of the steps with a rising rate; a cosine follows.
        loss: weights of this phase, where they differ from the recipe's.
    """

    steps: int
    lr: float = 1e-3
    backbone_lr: float = 0.0
    layer_decay: float = 0.8
    warm_up: float = 0.1
    loss: LossWeights | None = None


@dataclass(frozen=True)
class Recipe:
    """Everything that decides how training goes; two runs of one recipe on one machine agree.

    Attributes:
        model: architecture; `num_classes` is filled in from the data.
        out: folder for checkpoints, log and result.
        synthetic: train on cached tokens of generated people, or
        folder, split: train on a folder in the RGBNT201 layout.
        trunk: converted trunk weights; random without.
        start: weights to go on from, or another recipe (.yaml), which is run first where its result is not there yet.
        phases: one after the other.
        identities, views: P and K of a batch.
        sparse_ratio, aggr_ratio, beta: ranges drawn from in every step, so that every slider position is trained.
        loss: weights.
        weight_decay, clip, ema: AdamW's decay, gradient-norm limit, decay of the averaged weights.
        seed: of everything.
        checkpoint_every: steps between resumable checkpoints.
    """

    model: ModelConfig
    out: str
    synthetic: Synthetic | None = None
    folder: str | None = None
    split: str = "train_171"
    trunk: str | None = None
    start: str | None = None
    phases: tuple[Phase, ...] = (Phase(1000),)
    identities: int = 10
    views: int = 4
    sparse_ratio: tuple[float, float] = (0.1, 0.9)
    aggr_ratio: tuple[float, float] = (0.1, 1.0)
    beta: tuple[float, float] = (0.0, 0.5)
    loss: LossWeights = field(default_factory=LossWeights)
    weight_decay: float = 0.05
    clip: float = 5.0
    ema: float = 0.99
    seed: int = 0
    checkpoint_every: int = 200

    def __post_init__(self) -> None:
        if (self.synthetic is None) == (self.folder is None):
            raise ValueError("A recipe trains on either `synthetic` or `folder`; give one of them.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Recipe":
        """From plain values, such as parsed YAML; unknown names are refused."""
        unknown = set(values) - {f.name for f in fields(cls)}
        if unknown:
            raise ValueError(f"A recipe has no {', '.join(sorted(unknown))}.")
        values = dict(values)
        values["model"] = ModelConfig.from_dict({"input_size": (256, 128), **values["model"]})
        if values.get("synthetic") is not None:
            synthetic = values["synthetic"]
            values["synthetic"] = Synthetic(**{**synthetic, "seeds": tuple(synthetic["seeds"])})
        if "phases" in values:
            values["phases"] = tuple(
                Phase(**{**p, "loss": LossWeights(**p["loss"]) if p.get("loss") else None}) for p in values["phases"]
            )
        if "loss" in values:
            values["loss"] = LossWeights(**values["loss"])
        for name in ("sparse_ratio", "aggr_ratio", "beta"):
            if name in values:
                values[name] = tuple(values[name])
        return cls(**values)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Recipe":
        """From a YAML file; a recipe that it starts from is named relative to it."""
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        if str(values.get("start")).endswith(RECIPES):
            values["start"] = str(Path(path).parent / values["start"])
        return cls.from_dict(values)
