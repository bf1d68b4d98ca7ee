"""Recipes as files: what is wrong in one is named, and one file may hold several."""

import json
from dataclasses import replace

import pytest
import torch
import yaml
from safetensors.torch import load_file

from sdtps.cli.main import main
from sdtps.training.recipe import Phase, Recipe
from tests.training.small import folder_recipe


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"optimizer": {}}, "recipe has no optimizer; did you mean optimiser?"),
        ({"phases": [{"steps": 3, "lrr": 1}]}, r"phases\[0\] has no lrr; did you mean lr?"),
        ({"phases": [{"steps": 3, "epochs": 1}]}, "either `steps` or `epochs`"),
        ({"selection": {"tau": "warm"}}, "selection.tau must be a number, not 'warm'"),
        ({"selection": {"variant": "finale"}}, "There is no variant 'finale'"),
        ({"optimiser": {"name": "lion"}}, "optimiser.name must be one of adamw, adam, sgd, not 'lion'"),
        ({"sparse_ratio": 1.5}, "sparse_ratio must lie above 0"),
        ({"sparse_ratio": [0.1]}, r"sparse_ratio must hold 2 values, not 1"),
        ({"heads": {"moe": 1.0}}, "There is no head moe"),
        ({"heads": {"ori": 0, "sdtps": 0}}, "nothing would be learned"),
        ({"model": {"kind": "clip"}}, "model lacks name; add it"),
        ({"model": {"kind": "clip", "name": "x", "grid": 3}}, "model has no grid"),
        ({"seed": True}, "seed must be a whole number, not True"),
        ({"test_feature": "moe"}, "test_feature must be one of ori, sdtps, both"),
    ],
)  # fmt: skip
def test_wrong_recipes_are_named_in_a_sentence(tmp_path, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Recipe.from_dict({**folder_recipe(tmp_path, tmp_path).as_dict(), **change})


def test_a_file_that_is_no_yaml_says_where(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("out: [1\nmodel: {")
    with pytest.raises(ValueError, match=r"is not valid YAML; look at line \d"):
        Recipe.read(file)


def test_a_file_may_hold_recipes_to_be_run_one_after_the_other(pictures, tmp_path, capsys):
    first = folder_recipe(pictures, tmp_path / "first", phases=(Phase(1),)).as_dict()
    then = {
        "out": str(tmp_path / "then"),
        "initial": str(tmp_path / "first" / "model.safetensors"),
        "phases": [{"steps": 1, "lr": 0.0}],
        "weight_decay": 0.0,
        "loss": {"token": 0.25},
    }
    file = tmp_path / "both.yaml"
    file.write_text(yaml.safe_dump_all([_lists(first), then]))
    one, two = Recipe.read(file)
    want = {"out": then["out"], "initial": then["initial"], "phases": (Phase(1, lr=0.0),), "weight_decay": 0.0}
    assert two == replace(one, **want, loss=replace(one.loss, token=0.25))
    assert main(["train", "--config", str(file), "--device", "cpu"]) == 0
    assert capsys.readouterr().out.count("written: ") == 2
    made, after = (load_file(tmp_path / name / "model.safetensors") for name in ("first", "then"))
    assert all(torch.allclose(made[k].float(), after[k].float(), atol=1e-3) for k in made)
    file.write_text(yaml.safe_dump_all([_lists(first), {"seed": 1}]))
    with pytest.raises(ValueError, match="needs an `out` of its own"):
        Recipe.read(file)
    file.write_text("")
    with pytest.raises(ValueError, match="mapping of names to values"):
        Recipe.read(file)


def _lists(values):
    """As YAML has it, without tuples."""
    return json.loads(json.dumps(values))
