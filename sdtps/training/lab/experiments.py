"""What the lab trains: one recipe, and what each experiment changes in it; beside it, what the notes say they saw.

Adapters, SDTPS and heads learn on cached tokens of 40 generated people behind a frozen trunk: batches of 8 people with
4 views, identity cross-entropy and batch-hard triplet on both heads, Adam at 3.5e-4, no clipping, as in the notes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from sdtps.models.reid import ModelConfig
from sdtps.training.recipe import LossWeights, Optimiser, Phase, Recipe, Synthetic, Validation

WORLD, HELD_OUT = 77, 78  # seeds of the people that are learned, and of those that are searched
SEEDS = (0, 1, 2)
EPOCHS, EPOCH_STEPS = 12, 5
SGD_RATE = 0.008


@dataclass(frozen=True)
class Experiment:
    """One thing to try.

    Attributes:
        name: of its runs.
        words: what it changes, in a few words.
        notes: what the notes saw or expected; empty where they say nothing.
        changes: what differs from the lab's recipe, as in a recipe file.
        healthy: it should learn, so no rule of the diagnosis should fire.
    """

    name: str
    words: str
    notes: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)
    healthy: bool = True


def _gumbel(tau: float, clamp: float | None = None, variant: str = "complete-gumbel") -> dict[str, Any]:
    return {"selection": {"variant": variant, "tau": tau, "noise_clamp": clamp}}


EXPERIMENTS: dict[str, Experiment] = {
    e.name: e
    for e in (
        Experiment(
            "control", "no SDTPS in loss and test feature", "", {"heads": {"sdtps": 0.0}, "test_feature": "ori"}
        ),
        Experiment("final", "deterministic top-K", "expected: a stable fall; not shown"),
        Experiment(
            "no-grad",
            "final, cosines without gradient",
            "blamed for loss 4.5 and accuracy 5 % after four epochs",
            {"selection": {"self_gradient": False, "cross_gradient": False}},
        ),
        Experiment("gumbel-tau1", "Gumbel, tau 1", "loss 28, later 34", _gumbel(1.0), healthy=False),
        Experiment(
            "gumbel-tau5", "Gumbel, tau 5, noise clipped", "loss 58, later 60", _gumbel(5.0, 5.0), healthy=False
        ),
        Experiment("gumbel-tau10", "Gumbel, tau 10", "not run; expected to calm it", _gumbel(10.0), healthy=False),
        Experiment(
            "gumbel-soft", "soft choice over all patches", "recommended, not built", _gumbel(1.0, None, "gumbel-soft")
        ),
        Experiment("ste-tokens", "straight-through tokens", "recommended, not built", _gumbel(1.0, None, "ste-tokens")),
        Experiment("importance", "log-importance of the kept", "", {"selection": {"variant": "importance"}}),
        Experiment(
            "relaxed", "ratios 0.7 and 0.5", "proposed against the failure", {"sparse_ratio": 0.7, "aggr_ratio": 0.5}
        ),
        Experiment(
            "warm-up", "only ori for 4 epochs", "proposed against the failure", {"selection": {"warm_up_epochs": 4}}
        ),
        Experiment("sgd", "final, SGD", "", {"optimiser": {"name": "sgd"}, "phases": "sgd"}),
        Experiment(
            "gumbel-sgd",
            "Gumbel, tau 1, SGD",
            "",
            {**_gumbel(1.0), "optimiser": {"name": "sgd"}, "phases": "sgd"},
            healthy=False,
        ),
    )
}


def base_recipe(out: Path, cache: Path, probe: tuple[str, ...], seed: int) -> Recipe:
    """The lab's recipe before any change."""
    return Recipe(
        model=ModelConfig(
            kind="hiera",
            name="sam2_hiera_tiny",
            backbone_options={
                "adapter_dim": 256,
                "pool": "attention",
                "colours": True,
                "adapter_heads": 4,
                "places": 4.0,
            },
        ),
        out=str(out),
        synthetic=Synthetic(seeds=(WORLD,), ids=40, views=4, patches=48, cache=str(cache), style="drawn"),
        initial="embedded",
        initial_parts="trunk",
        phases=_phases(3.5e-4),
        optimiser=Optimiser("adam"),
        validate=Validation(every=4, seeds=(HELD_OUT,), ids=20),
        identities=8,
        views=4,
        epoch_steps=EPOCH_STEPS,
        sparse_ratio=0.5,
        aggr_ratio=0.4,
        beta=0.25,
        loss=LossWeights(cross_entropy=1.0, foreground=0.0, token=0.0, maps=0.0),
        weight_decay=0.0,
        clip=None,
        ema=0.0,
        seed=seed,
        probe=probe,
        record="light",
    )


def _phases(rate: float) -> tuple[Phase, ...]:
    return (Phase(epochs=EPOCHS, lr=rate, warm_up=0.0, schedule="constant"),)


def recipe_of(experiment: Experiment, base: Recipe) -> Recipe:
    """The lab's recipe with an experiment's changes."""
    changes = dict(experiment.changes)
    if changes.get("phases") == "sgd":
        base, _ = replace(base, phases=_phases(SGD_RATE)), changes.pop("phases")
    return Recipe.from_dict(_merged(base.as_dict(), changes))


def _merged(values: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes inside nested settings leave their neighbours as they are."""
    merged = dict(values)
    for key, value in changes.items():
        inner = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping) and key != "heads"
        merged[key] = _merged(merged[key], value) if inner else value
    return merged


def read_experiment(path: str | Path) -> Experiment:
    """An experiment of one's own: a YAML file with what it changes in the lab's recipe; its name is the file's."""
    path = Path(path)
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(values, Mapping):
        raise ValueError(f"{path.name!r} must be a mapping of what changes in the lab's recipe, such as beta: 0.1.")
    values = dict(values)
    words = str(values.pop("words", path.stem))
    return Experiment(path.stem, words, str(values.pop("notes", "")), values)
