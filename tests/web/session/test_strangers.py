"""What strangers and reviewers get to see: no names of an author, no numbers that are none, pages that open."""

import json
import shutil
from dataclasses import replace

import torch
from PIL import Image

import sdtps
from sdtps.datasets import open_dataset
from sdtps.datasets.examples import Example
from sdtps.export import supplement
from sdtps.images.read import Prepared
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet
from sdtps.resources import LAB
from sdtps.runs.reader import read_runs
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.data_registry import DataRegistry
from sdtps.web.session.run_registry import SHOWN_SEED, RunRegistry

SECRET = "OfMyLab"


def test_an_anonymous_server_shows_no_names_of_folders_and_files(tiny_model, photos, tmp_path) -> None:
    root = tmp_path / f"Folder{SECRET}"
    for split in (f"Query{SECRET}", f"Gallery{SECRET}"):
        for m in ("rgb", "nir", "tir"):
            (root / split / m).mkdir(parents=True)
            for i in range(2):
                Image.fromarray(photos[m]).save(root / split / m / f"Person{SECRET}{i}.png")
        (root / split / "nir" / f"Person{SECRET}1.png").write_bytes(b"broken")
        Image.fromarray(photos["rgb"]).save(root / split / "rgb" / f"Lonely{SECRET}.png")
    run = tmp_path / f"Run{SECRET}"
    shutil.copytree(next(iter(sorted(LAB.glob(f"*{SHOWN_SEED}")))), run)
    about = json.loads((run / "run.json").read_text())
    about["name"] = f"Run{SECRET}"
    about["settings"] = {**about.get("settings", {}), "data": f"/home/x/{SECRET}"}
    (run / "run.json").write_text(json.dumps(about))
    assert SECRET in read_runs(run)[0].name

    data = DataRegistry([open_dataset(root, confined=True)], anonymous=True)
    bench = PageBackend([tiny_model], {}, data, runs=RunRegistry([run], anonymous=True))
    told = [bench.config(), bench.ask({"task": "runs.list"})]
    (card,) = bench.config()["roots"]
    for split in card["splits"]:
        found = bench.ask({"task": "data.find", "root": 0, "split": split, "count": 9, "facets": True})
        assert found["total"] == 2
        hidden = bench.ask({"task": "data.find", "root": 0, "split": split, "count": 9, "search": SECRET.lower()})
        assert hidden["total"] == 0, "a search would tell the name letter by letter"
        told += [found, bench.ask({"task": "data.broken", "root": 0, "split": split})]
        for row in found["rows"]:
            told.append(bench.ask({"task": "data.show", "id": row["id"]}))
            opened = bench.analyse({"pictures": {m: {"record": row["id"]} for m in ("rgb", "nir", "tir")}})
            told.append(opened)
            if "key" in opened:
                told.append(bench.ask({"task": "rank.galleries", "key": opened["key"]}))
        told.append(bench.ask({"task": "data.broken", "root": 0, "split": split}))
    text = json.dumps(told)
    assert SECRET not in text
    assert SECRET.lower() not in text.lower()
    assert "image set 1" in text
    assert "run 1" in text


def overflowing(model: LoadedModel) -> LoadedModel:
    """The same weights, finite, with a predictor that overflows."""
    net = type(model.net)(model.net.backbone, model.net.config)
    net.load_state_dict(model.net.state_dict())
    for m in sdtps.Modality:
        for parameter in getattr(net.sdtps, f"{m}_sparse").parameters():
            with torch.no_grad():
                parameter.mul_(0).add_(3e38)
    return LoadedModel(net.eval().requires_grad_(False), replace(model.weights, sha256="f" * 64), model.device)


def test_weights_that_overflow_on_the_way_are_said_so_and_not_shown(tiny_model, photos, tmp_path) -> None:
    for m in ("rgb", "nir", "tir"):
        Image.fromarray(photos[m]).save(tmp_path / f"{m}.png")
    bench = PageBackend([overflowing(tiny_model)], {"one": Example("one", {"en": "one"}, tmp_path)})
    answer = bench.analyse({"pictures": {m: {"example": "one"} for m in ("rgb", "nir", "tir")}})
    assert answer["error"]["code"] == "model.nan"
    json.dumps(answer, allow_nan=False)


def test_a_name_that_opens_a_comment_does_not_swallow_a_supplement(tiny_model, photos, monkeypatch) -> None:
    monkeypatch.setattr(supplement, "PLANS", (((), (), ()),))
    monkeypatch.setattr(supplement, "RATIO_STRIDE", 19)
    opened = OpenSet(tiny_model, Prepared(photos))
    analysis = opened.analyse()
    named = replace(analysis, weights=replace(analysis.weights, name="<!--<script>"))
    page = supplement.write_supplement(opened, named)
    start = page.index("<script id='lens-data'")
    embedded = page[page.index(">", start) + 1 : page.index("</script>", start)]
    assert "<" not in embedded
    assert "<!--<script>" in json.loads(embedded)["config"]["models"][0]["weights"]["name"]
