"""Run the lab: every experiment with every seed, in two processes, with a bar; what is done is not done again."""

import multiprocessing
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from sdtps.runs.reader import read_run
from sdtps.runs.schema import ABOUT, Run
from sdtps.support.files import write_whole
from sdtps.training.lab.experiments import EPOCH_STEPS, EPOCHS, SEEDS, Experiment, base_recipe, recipe_of
from sdtps.training.objective import Outcome
from sdtps.training.recipe import Recipe
from sdtps.training.trainer import DivergedError, Trainer

DONE = "done"
POLL = 0.5  # seconds between two looks at the bar

_count: Any = None


class LabTrainer(Trainer):
    """A trainer that leaves no weights behind: what the lab is about is the record."""

    def save_state(self, *_: object) -> None:
        """Nothing: a run is short enough to be done again."""

    def save_model(self, name: str) -> Path:
        """Nothing, likewise."""
        return self.out / name

    def _write(self, outcome: Outcome, rate: float, seconds: float) -> None:
        super()._write(outcome, rate, seconds)
        if _count is not None:
            with _count.get_lock():
                _count.value += 1


def run_name(experiment: str, seed: int) -> str:
    """The folder of one run."""
    return f"{experiment}-s{seed}"


def run_lab(
    out: Path,
    experiments: Sequence[Experiment],
    seeds: Iterable[int] = SEEDS,
    *,
    probe: tuple[str, ...] = (),
    processes: int = 2,
    quiet: bool = False,
) -> list[Run]:
    """Train what is not trained yet; returns all runs, by seed and experiment.

    Args:
        out: folder of the runs; a run that is there and whole is taken as it is.
        experiments: what to try.
        seeds: how often, each with its own weights and batches.
        probe: image sets to watch in the runs of the first seed.
        processes: how many run at a time, each on one core.
        quiet: no bar.
    """
    seeds = tuple(seeds)
    recipes = {}
    for seed in seeds:  # every experiment once, before any is repeated
        for experiment in experiments:
            folder = out / run_name(experiment.name, seed)
            base = base_recipe(folder, out / "tokens", probe if seed == seeds[0] else (), seed)
            recipes[folder] = recipe_of(experiment, base)
    todo = [recipe for folder, recipe in recipes.items() if not (folder / DONE).exists()]
    if todo:
        _cache_tokens(todo[0], quiet)
        _train_all(todo, processes, quiet)
    return [read_run(folder) for folder in recipes if (folder / ABOUT).exists()]


def _cache_tokens(recipe: Recipe, quiet: bool) -> None:
    """Make the people once, before two processes would both make them."""
    LabTrainer(recipe, "cpu", quiet)


def _train_all(recipes: Sequence[Recipe], processes: int, quiet: bool) -> None:
    context = multiprocessing.get_context("spawn")
    count = context.Value("i", 0)
    with (
        tqdm(total=len(recipes) * EPOCHS * EPOCH_STEPS, unit="step", desc="lab", disable=quiet) as bar,
        ProcessPoolExecutor(max(1, processes), mp_context=context, initializer=_begin, initargs=(count,)) as pool,
    ):
        left = {pool.submit(train_one, recipe) for recipe in recipes}
        while left:
            finished, left = wait(left, POLL, FIRST_COMPLETED)
            for future in finished:
                future.result()
            bar.update(count.value - bar.n)


def _begin(count: "Synchronized[int]") -> None:
    global _count
    _count = count
    torch.set_num_threads(1)


def train_one(recipe: Recipe) -> None:
    """One run from its beginning; a loss that is no number ends it, and that is a result, too."""
    trainer = LabTrainer(recipe, "cpu", quiet=True)
    try:
        trainer.run()
    except DivergedError as error:
        write_whole(trainer.out / DONE, str(error).encode())
    else:
        write_whole(trainer.out / DONE, b"")
