"""A training run as data: read from YAML, stored with the weights."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

import yaml

from sdtps.models.feature import FusionConfig
from sdtps.models.reid import ModelConfig
from sdtps.training.recipe_file import read_plain
from sdtps.types import Settings
from sdtps.variants import get_variant

Range = tuple[float, float]
TEST_PARTS = {"ori": ("ori",), "sdtps": ("sdtps",), "both": ("ori", "sdtps")}


@dataclass(frozen=True)
class Synthetic:
    """Generated people: for every seed (a world with its own cameras), `ids` people with `views` views each.

    A batch holds a random `patches` of each picture's patches. `style` is `rendered` or `drawn`. `dark` is the chance
    that a set's RGB picture is taken for a black one, so that the other two must say where the person is. `bfloat16`
    runs the frozen trunk in that format: three times as fast on processors that have it, and tokens 3 % off. `distant`
    is the share of sets whose pictures keep only the detail of people far away, as real ones are softer than rendered.
    """

    seeds: tuple[int, ...] = (1,)
    ids: int = 50
    views: int = 4
    patches: int = 48
    cache: str = "runs/tokens"
    style: Literal["rendered", "drawn"] = "rendered"
    dark: float = 0.0
    bfloat16: bool = False
    distant: float = 0.0


@dataclass(frozen=True)
class LossWeights:
    """Weights of the losses.

    cross_entropy is inside identity; contrast judges features as they are compared at test time; length wants the
    modalities' vectors to count alike there; apart holds the correlations between a modality's maps below `alike`;
    early wants the best patches to speak for all, and hush those without people to say nothing of who is there; focus
    is for pools and aggregation rows; maps finds the person in self and cross maps, where a bystander makes `others`
    of one, and the cross maps of black pictures count `guided` times; blind wants nothing but the place in the tokens
    of black pictures, where it has channels of its own; order wants people first in their scores.
    """

    identity: float = 1.0
    cross_entropy: float = 0.5
    contrast: float = 0.0
    length: float = 0.0
    apart: float = 0.0
    alike: float = 0.85
    early: float = 0.0
    foreground: float = 4.0
    focus: float = 0.0
    token: float = 0.5
    hush: float = 0.0
    maps: float = 2.0
    others: float = 0.0
    guided: float = 1.0
    blind: float = 0.0
    order: float = 0.0


@dataclass(frozen=True)
class Selection:
    """How the selection is trained.

    Attributes:
        variant: a name of `sdtps.VARIANTS`; the model's by default.
        gumbel: draw noise where the variant has some; False is the reference's switch.
        tau, noise_clamp: temperature, and where the noise is clipped.
        self_gradient, cross_gradient: whether the gradient passes through self and through cross attention; as the
            variant did it by default.
        warm_up_epochs: at first only `ori` counts, and SDTPS enters the loss after this many epochs.
    """

    variant: str | None = None
    gumbel: bool = True
    tau: float = 1.0
    noise_clamp: float | None = None
    self_gradient: bool | None = None
    cross_gradient: bool | None = None
    warm_up_epochs: int = 0

    def detached(self, variant: str) -> bool | Literal["self", "cross"]:
        """Which cosines are cut from the gradient."""
        usual = get_variant(variant).detach_attention
        own, cross = (usual if g is None else not g for g in (self.self_gradient, self.cross_gradient))
        return own if own == cross else ("self" if own else "cross")


@dataclass(frozen=True)
class Optimiser:
    """What turns gradients into steps; `bias_lr` multiplies the learning rate of biases (DeMo: 2)."""

    name: Literal["adamw", "adam", "sgd"] = "adamw"
    momentum: float = 0.9
    bias_lr: float = 1.0


@dataclass(frozen=True)
class Phase:
    """A stretch of training with one learning-rate schedule.

    Attributes:
        steps: number of batches, or
        epochs: number of epochs.
        lr: peak learning rate of heads, adapters and SDTPS.
        backbone_lr: peak learning rate of the backbone: of all of a ViT, of the last `trainable_blocks` of Hiera; 0
            freezes it.
        layer_decay: factor on the learning rate from each backbone block to the one below it.
        warm_up: share of the steps with a rising rate.
        schedule: what follows: a cosine to 0, steps down by `gamma` at the `milestones` (epochs), or a constant rate.
        loss: weights of this phase, where they differ from the recipe's.
    """

    steps: int = 0
    lr: float = 1e-3
    backbone_lr: float = 0.0
    layer_decay: float = 0.8
    warm_up: float = 0.1
    loss: LossWeights | None = None
    epochs: int = 0
    schedule: Literal["cosine", "steps", "constant"] = "cosine"
    milestones: tuple[int, ...] = ()
    gamma: float = 0.1

    def __post_init__(self) -> None:
        if (self.steps > 0) == (self.epochs > 0):
            raise ValueError("A phase lasts either `steps` or `epochs`; give one of them, above 0.")


@dataclass(frozen=True)
class Validation:
    """mAP while training: every n epochs on a folder's `split`, or on generated people of other worlds."""

    every: int = 1
    split: str = "test"
    seeds: tuple[int, ...] = ()
    ids: int = 20
    views: int = 4


@dataclass(frozen=True)
class Recipe:
    """Everything that decides how training goes; two runs of one recipe on one machine agree.

    Attributes:
        model: architecture; `num_classes` is filled in from the data.
        out: folder for checkpoints, logs, the recorded run and the result.
        synthetic: train on cached tokens of generated people, or
        folder, split: train on a folder in the RGBNT201 layout.
        initial: weights to begin with: a CLIP, DeMo, timm or own file, `timm:NAME`, or `embedded`; random without.
        initial_parts: what is taken from them: the frozen `trunk` alone, the `backbone`, or `all` that fits.
        phases: one after the other.
        selection, optimiser, validate: see there.
        heads: loss weight by head; a head that is not named has weight 1.
        test_feature: what is compared at test time: `ori`, `sdtps` or `both`.
        identities, views: P and K of a batch.
        epoch_steps: batches in an epoch; by default as many as it takes to see each picture once.
        sparse_ratio, aggr_ratio, beta: numbers, or ranges drawn from in every step, so that every slider position is
            trained.
        loss: weights.
        weight_decay, clip, ema: decay, gradient-norm limit (none without), decay of the averaged weights (0: none).
        seed: of everything.
        checkpoint_every: steps between resumable checkpoints.
        workers: processes that read pictures.
        probe: image sets to watch, as folders.
        record: how much of them is kept, see `sdtps.Recorder`.
        tensorboard: write an event file, too.
    """

    model: ModelConfig
    out: str
    synthetic: Synthetic | None = None
    folder: str | None = None
    split: str = "train_171"
    initial: str | None = None
    initial_parts: Literal["trunk", "backbone", "all"] = "all"
    phases: tuple[Phase, ...] = (Phase(1000),)
    selection: Selection = field(default_factory=Selection)
    optimiser: Optimiser = field(default_factory=Optimiser)
    validate: Validation | None = None
    heads: Mapping[str, float] = field(default_factory=dict)
    test_feature: Literal["ori", "sdtps", "both"] = "both"
    identities: int = 10
    views: int = 4
    epoch_steps: int | None = None
    sparse_ratio: float | Range = (0.1, 0.9)
    aggr_ratio: float | Range = (0.1, 1.0)
    beta: float | Range = (0.0, 0.5)
    loss: LossWeights = field(default_factory=LossWeights)
    weight_decay: float = 0.05
    clip: float | None = 5.0
    ema: float = 0.99
    seed: int = 0
    checkpoint_every: int = 200
    workers: int = 0
    probe: tuple[str, ...] = ()
    record: Literal["full", "light"] = "full"
    tensorboard: bool = False

    def __post_init__(self) -> None:
        if (self.synthetic is None) == (self.folder is None):
            raise ValueError("A recipe trains on either `synthetic` or `folder`; give one of them.")
        unknown = set(self.heads) - set(TEST_PARTS["both"])
        if unknown:
            raise ValueError(f"There is no head {', '.join(sorted(unknown))}; heads are ori and sdtps.")
        if not any(self.heads.get(head, 1.0) for head in TEST_PARTS["both"]):
            raise ValueError("Both heads have weight 0, so nothing would be learned; give one of them a weight.")
        _ = self.trained_settings  # ratios and variant that do not exist are refused before anything is built

    @property
    def variant(self) -> str:
        """The variant that is trained."""
        return self.selection.variant or self.model.variant

    @property
    def trained_settings(self) -> Settings:
        """Ratios, beta, tau and variant of the training; the model's own where a range is drawn from."""
        values = {}
        for name in ("sparse_ratio", "aggr_ratio", "beta"):
            value = getattr(self, name)
            values[name] = getattr(self.model, name) if isinstance(value, tuple) else value
        return Settings(**values, tau=self.selection.tau, variant=self.variant)

    @property
    def built(self) -> ModelConfig:
        """The architecture with everything that training decides, as it is stored with the weights."""
        known = self.trained_settings
        fusion = self.model.fusion
        if self.test_feature != "both":
            fusion = replace(fusion or FusionConfig(), parts=TEST_PARTS[self.test_feature])
        return replace(
            self.model,
            sparse_ratio=known.sparse_ratio,
            aggr_ratio=known.aggr_ratio,
            beta=known.beta,
            variant=known.variant,
            fusion=fusion,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Recipe":
        """From plain values, such as parsed YAML; unknown names and wrong values are refused in a sentence."""
        if not isinstance(values, Mapping):
            raise ValueError("A recipe is a mapping of names to values; see configs/embedded.yaml.")
        values = dict(values)
        if isinstance(values.get("model"), Mapping):
            values["model"] = {"input_size": (256, 128), **values["model"]}
        return read_plain(cls, values, "recipe")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "tuple[Recipe, ...]":
        """From a YAML file: its recipe, or several with `---` between them, to be run one after the other.

        Each says what differs from the one before it, inside of mappings, too.
        """
        try:
            documents = list(yaml.safe_load_all(Path(path).read_text(encoding="utf-8"))) or [None]
        except yaml.YAMLError as error:
            line = getattr(getattr(error, "problem_mark", None), "line", 0) + 1
            raise ValueError(f"{os.fspath(path)!r} is not valid YAML; look at line {line}.") from None
        recipes = [cls.from_dict(values) for values in accumulate(documents, _changed)]
        if len({recipe.out for recipe in recipes}) < len(recipes):
            raise ValueError(f"Each recipe of {os.fspath(path)!r} needs an `out` of its own.")
        return tuple(recipes)


def _changed(before: Any, change: Any) -> Any:
    """A value after a change: mappings are changed name by name, everything else is replaced."""
    if not isinstance(before, Mapping) or not isinstance(change, Mapping):
        return change
    return {**before, **{name: _changed(before.get(name), value) for name, value in change.items()}}
