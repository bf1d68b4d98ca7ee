"""The lab without training: what it would run, its table and figure, what is shipped of it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sdtps.cli.main import main
from sdtps.resources import LAB
from sdtps.runs.reader import read_run
from sdtps.training import lab
from sdtps.training.lab import EXPERIMENTS, runner
from sdtps.training.lab.experiments import base_recipe, read_experiment, recipe_of
from sdtps.training.lab.report import ship, write_report
from sdtps.training.lab.table import Line, judge

NAN = float("nan")


def recipe(name):
    return recipe_of(EXPERIMENTS[name], base_recipe(Path("out"), Path("cache"), (), seed=1))


def test_every_experiment_is_a_recipe_of_its_own():
    base = base_recipe(Path("out"), Path("cache"), (), seed=1)
    recipes = {name: recipe(name) for name in EXPERIMENTS}
    assert recipes["final"] == base
    assert len({json.dumps(r.as_dict(), sort_keys=True, default=str) for r in recipes.values()}) == len(EXPERIMENTS)
    assert recipes["control"].heads == {"sdtps": 0.0}
    assert recipes["no-grad"].selection.self_gradient is recipes["no-grad"].selection.cross_gradient is False
    assert (recipes["gumbel-tau5"].selection.tau, recipes["gumbel-tau5"].selection.noise_clamp) == (5.0, 5.0)
    assert (recipes["relaxed"].sparse_ratio, recipes["relaxed"].aggr_ratio) == (0.7, 0.5)
    assert recipes["warm-up"].selection.warm_up_epochs == 4
    assert recipes["gumbel-sgd"].optimiser.name == "sgd"
    assert recipes["gumbel-sgd"].selection.variant == "complete-gumbel"


@pytest.fixture
def no_training(monkeypatch):
    """The command with shipped runs in the place of trained ones; returns what it was asked for."""
    asked = {}

    def pretend(_out, experiments, seeds, **_):
        asked.update(names=[e.name for e in experiments], seeds=list(seeds), experiments=experiments)
        found = [LAB / runner.run_name(e.name, s) for s in seeds for e in experiments]
        return [read_run(folder) for folder in found if folder.exists()]

    monkeypatch.setattr(lab, "run_lab", pretend)
    return asked


def test_some_experiments_by_name_end_in_a_table_and_a_figure(tmp_path, no_training, capsys):
    assert main(["lab", "final", "no-grad", "--seeds", "2", "--out", str(tmp_path)]) == 0
    assert (no_training["names"], no_training["seeds"]) == (["final", "no-grad"], [0, 1])
    rows = (tmp_path / "lab.md").read_text().splitlines()
    assert len(rows) == 4
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| final", "| no-grad"]
    assert rows[3] in capsys.readouterr().out
    texts = [t.text for t in ElementTree.parse(tmp_path / "lab.svg").iter() if t.tag.endswith("text")]
    assert {"final", "no-grad"} <= set(texts)
    assert [line["name"] for line in json.loads((tmp_path / "lab.json").read_text())["lines"]] == ["final", "no-grad"]


def test_an_own_recipe_joins_by_its_file(tmp_path, no_training):
    file = tmp_path / "gentle.yaml"
    file.write_text("words: a small beta\nbeta: 0.1\nselection: {tau: 3.0}\n")
    assert main(["lab", "final", "--recipe", str(file), "--out", str(tmp_path)]) == 0
    assert no_training["names"] == ["final", "gentle"]
    own = read_experiment(file)
    changed = recipe_of(own, base_recipe(tmp_path, tmp_path, (), seed=0))
    assert (own.words, changed.beta) == ("a small beta", 0.1)
    assert (changed.selection.tau, changed.selection.gumbel) == (3.0, True)


def test_what_is_no_experiment_is_said(tmp_path, capsys):
    assert main(["lab", "finale"]) != 0
    assert "There is no experiment 'finale'; choose from control, final" in capsys.readouterr().err
    (tmp_path / "list.yaml").write_text("- 1\n")
    with pytest.raises(ValueError, match="must be a mapping of what changes"):
        read_experiment(tmp_path / "list.yaml")
    assert main(["lab", "--list"]) == 0
    assert capsys.readouterr().out.count("\n") == len(EXPERIMENTS)


def test_what_is_done_is_not_done_again(tmp_path, monkeypatch):
    folder = tmp_path / "final-s0"
    shutil.copytree(LAB / "final-s0", folder)
    (folder / runner.DONE).touch()
    todo: list[str] = []
    monkeypatch.setattr(runner, "_train_all", lambda recipes, *_: todo.extend(r.out for r in recipes))
    monkeypatch.setattr(runner, "_cache_tokens", lambda *_: None)
    runs = runner.run_lab(tmp_path, [EXPERIMENTS["final"], EXPERIMENTS["sgd"]], [0], quiet=True)
    assert [Path(out).name for out in todo] == ["sgd-s0"]
    assert [run.name for run in runs] == ["final-s0"]


def line(name, first=10.0, last=6.6, spread=0.05, diverged=0):
    return Line(EXPERIMENTS[name], 3, first, last, spread, 0.8, 0.1, 1e-3, diverged, ())


FINAL = line("final")


@pytest.mark.parametrize(
    ("seen", "verdict", "code"),
    [
        (FINAL, "agrees", "falls"),
        (line("final", last=12.0), "contradicts", "rises"),
        (line("gumbel-tau1", last=19.0), "agrees", "rises"),
        (line("gumbel-tau1", last=9.0), "contradicts", "falls"),
        (line("gumbel-tau10", last=24.0), "contradicts", "rises"),
        (line("gumbel-tau10", last=9.0), "agrees", "falls"),
        (line("no-grad", last=6.65), "contradicts", "blamed"),
        (line("no-grad", last=9.0), "agrees", "matters"),
        (line("control", last=7.8), "-", "control"),
        (line("relaxed", last=6.5), "-", "alike"),
        (line("gumbel-soft", last=7.8), "-", "slower"),
        (line("sgd", last=4.6), "-", "faster"),
        (line("gumbel-sgd", last=NAN, diverged=3), "-", "diverged"),
    ],
)
def test_verdicts_follow_from_the_numbers(seen, verdict, code):
    found, said = judge(seen, FINAL)
    assert (found, said.code) == (verdict, f"lab.{code}")


def test_a_difference_is_one_that_the_seeds_do_not_make_too():
    assert judge(line("importance", last=7.1), FINAL)[1].code == "lab.slower"
    assert judge(line("importance", last=7.1, spread=0.4), FINAL)[1].code == "lab.alike"
    assert judge(replace(FINAL, experiment=EXPERIMENTS["sgd"]), None)[1].code == "lab.moved"


def test_shipping_leaves_behind_what_only_training_needs(tmp_path):
    source, target = tmp_path / "lab", tmp_path / "shipped"
    for name in ("final-s0", "sgd-s1"):
        shutil.copytree(LAB / name, source / name)
        (source / name / "log.csv").write_text("step\n")
    (source / "final-s0" / runner.DONE).touch()  # the other one is unfinished
    write_report(source, [EXPERIMENTS["final"]], [read_run(source / "final-s0")])
    size = ship(source, target)
    assert size == sum(f.stat().st_size for f in target.rglob("*") if f.is_file()) < 120_000
    assert {p.name for p in target.iterdir()} == {"final-s0", "lab.md", "lab.svg", "lab.json"}
    assert not (target / "final-s0" / "log.csv").exists()
    assert read_run(target / "final-s0").watched_epochs == read_run(LAB / "final-s0").watched_epochs
