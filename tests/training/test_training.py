"""The whole recipe in small: a random trunk, a handful of generated people, no download."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import sdtps
from sdtps.datasets import read_rgbnt201
from sdtps.models.reid import ModelConfig
from sdtps.resources import PROJECT
from sdtps.retrieval.evaluate import evaluate_folder, extract
from sdtps.training.recipe import LossWeights, Phase, Recipe, Synthetic
from sdtps.training.recipe_data import open_tokens
from sdtps.training.synth import write_rgbnt201
from sdtps.training.trainer import train

TINY_HIERA = {"embed_dim": 24, "num_heads": 1, "stages": (1, 1, 2, 1), "global_att_blocks": (3,)}


def small_recipe(folder, **changes) -> Recipe:
    recipe = Recipe(
        model=ModelConfig(
            kind="hiera",
            name="sam2_hiera_tiny",
            backbone_options={
                "adapter_dim": 64,
                "colours": True,
                "surround": True,
                "adapter_heads": 2,
                "places": 1.0,
                "trainable_blocks": 1,
                "timm_options": TINY_HIERA,
            },
            aggregation_rows=128,
        ),
        out=str(folder / "run"),
        synthetic=Synthetic(seeds=(1,), ids=8, views=4, cache=str(folder / "tokens"), style="drawn", dark=0.1),
        loss=LossWeights(contrast=1.0, length=1.0, apart=1.0, early=1.0, focus=0.5, guided=2.0),
        phases=(Phase(120, lr=3e-3), Phase(6, lr=1e-3, backbone_lr=1e-4)),
        identities=4,
        views=4,
        ema=0.9,
        checkpoint_every=100,
    )
    return replace(recipe, **changes)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    recipe = small_recipe(folder)
    return recipe, train(recipe, device="cpu", quiet=True), folder


def read_log(recipe):
    with open(f"{recipe.out}/log.csv", newline="") as stream:
        return list(csv.DictReader(stream))


def test_loss_falls(trained):
    recipe, *_ = trained
    rows = read_log(recipe)
    assert len(rows) == 126
    for name in ("total", "identity", "foreground", "maps"):
        values = [float(r[name]) for r in rows]
        assert np.mean(values[-10:]) < 0.9 * np.mean(values[:10]), name


def test_people_are_found_better_than_by_chance(trained):
    recipe, checkpoint, folder = trained
    write_rgbnt201(folder, ids=8, views=4, seed=recipe.synthetic.seeds[0], split="test")
    found = extract(
        sdtps.load_model(checkpoint, "cpu"), read_rgbnt201(folder, "test"), sdtps.Settings(sparse_ratio=0.3)
    )
    # A random ranking of 31 allowed pictures, 3 of them right, is right at rank 1 in 10% of the queries.
    assert evaluate_folder(found).rank(1) > 2 * 3 / 31
    assert all(q.auc["predictor"] > 0.6 for q in found.quality.values())


def test_the_result_is_a_whole_checkpoint_without_heads(trained):
    _, checkpoint, _ = trained
    model = sdtps.load_model(checkpoint, "cpu")
    assert model.weights.complete
    assert not [n for n, _ in model.net.named_children() if n.startswith("classifier")]
    assert model.net.sdtps.rows == 128


def test_same_seed_same_weights_and_the_cache_changes_nothing(trained, tmp_path):
    recipe, *_ = trained
    short = replace(recipe, phases=(Phase(4), Phase(2, backbone_lr=1e-4)))
    states = []
    for name in ("a", "b"):
        # The second run makes its tokens anew.
        cache = recipe.synthetic if name == "a" else replace(recipe.synthetic, cache=str(tmp_path / "tokens"))
        states.append(load_file(train(replace(short, out=str(tmp_path / name), synthetic=cache), "cpu", quiet=True)))
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])


@pytest.mark.parametrize("other", [{"bfloat16": True}, {"distant": 1.0}])
def test_tokens_of_another_kind_have_a_cache_of_their_own(trained, tmp_path, other):
    recipe, *_ = trained
    spec = Synthetic(seeds=(1,), ids=1, views=2, cache=str(tmp_path), style="drawn")
    exact, rough = (open_tokens(recipe, one, quiet=True) for one in (spec, replace(spec, **other)))
    assert len(list(tmp_path.glob("*.npz"))) == 2
    assert not np.array_equal(exact.tokens.tokens, rough.tokens.tokens)


def test_an_interrupted_run_goes_on_where_it_stopped(trained, tmp_path):
    recipe, *_ = trained
    recipe = replace(recipe, out=str(tmp_path), phases=(Phase(6),), checkpoint_every=3)
    train(replace(recipe, phases=(Phase(3),)), device="cpu", quiet=True)
    train(recipe, device="cpu", resume=True, quiet=True)
    assert [int(r["step"]) for r in read_log(recipe)] == list(range(6))


def test_a_folder_of_pictures_trains_too(tmp_path):
    write_rgbnt201(tmp_path, ids=4, views=4, seed=5, split="train_171")
    recipe = replace(
        small_recipe(tmp_path),
        synthetic=None,
        folder=str(tmp_path),
        identities=2,
        views=2,
        phases=(Phase(3, backbone_lr=1e-4),),
    )
    checkpoint = train(recipe, device="cpu", quiet=True)
    assert len(read_log(recipe)) == 3
    assert sdtps.load_model(checkpoint, "cpu").weights.complete


def test_recipes_survive_plain_values_and_refuse_unknown_names(tmp_path):
    recipe = small_recipe(tmp_path)
    assert Recipe.from_dict(recipe.as_dict()) == recipe
    with pytest.raises(ValueError, match="recipe has no epochs"):
        Recipe.from_dict({**recipe.as_dict(), "epochs": 3})
    with pytest.raises(ValueError, match="either `synthetic` or `folder`"):
        replace(recipe, folder="data")


def test_a_training_goes_on_from_another(trained, tmp_path):
    recipe, checkpoint, _ = trained
    still = replace(
        recipe, out=str(tmp_path / "a"), initial=str(checkpoint), phases=(Phase(1, lr=0.0),), weight_decay=0.0
    )
    before, after = load_file(checkpoint), load_file(train(still, device="cpu", quiet=True))
    assert before.keys() == after.keys()
    assert all(torch.allclose(before[k].float(), after[k].float(), atol=1e-3) for k in before)


@pytest.mark.parametrize("name", ["embedded", "rgbnt201"])
def test_shipped_recipes_can_be_read(name):
    for recipe in Recipe.read(PROJECT / "configs" / f"{name}.yaml"):
        assert sum(phase.steps + 62 * phase.epochs for phase in recipe.phases) > 1000
