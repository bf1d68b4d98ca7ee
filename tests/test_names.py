"""Names that are scripts, formulas, commands or far too long: harmless wherever they are shown."""

import csv
import io
import json
import os
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import sdtps
from sdtps.datasets import open_dataset
from sdtps.export.batch import ResultFolder, Task, items_of, run_local, write_summary
from sdtps.export.figure import FigureOptions, grid_figure
from sdtps.export.supplement import write_supplement
from sdtps.images.read import read_triplet
from sdtps.pipeline import OpenSet
from sdtps.support.messages import Message, plain
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.data_registry import DataRegistry
from tests.datasets import trees

SCRIPT = '"><img src=x onerror=alert(1)><script>alert(1)<\\/script></script>'
STEMS = ("=HYPERLINK(1)", "@SUM(1)", "+1", "<img src=x onerror=alert(1)>", "'\"><script>", "\u202egnp",
         "new\nline\x1b[2J", "$\\frac$", "x" * 235, "{0}{name}", "%s%n", "；中文")  # fmt: skip


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A plain folder whose files have such names; one of them is no text at all."""
    root = tmp_path_factory.mktemp("names")
    for i, stem in enumerate(STEMS):
        for j, m in enumerate(("rgb", "nir", "tir")):
            trees.write(root / m / f"{stem}.png", 3 * i + j)
    for m in ("rgb", "nir", "tir"):
        os.rename(root / m / "+1.png", os.fsencode(root / m) + b"/+\xff.png")
    return root


@pytest.fixture(scope="module")
def named(tiny_model, photos):
    """An image set in front of weights with such a name, its analysis and its pixels."""
    report = replace(tiny_model.weights, name=SCRIPT + "$\\frac$" + "x" * 300)
    triplet = read_triplet(*photos.values())
    analysis = sdtps.analyse_triplet(tiny_model, triplet)
    opened = OpenSet.of(replace(tiny_model, weights=report), triplet)
    return opened, replace(analysis, weights=report), opened.prepared.pixels


def test_sentences_are_one_printable_line() -> None:
    message = Message("x", "{a} and {b!r}.", a="\x1b[2J\u202e\n" + "y" * 9000, b="z\0")
    assert message.isprintable()
    assert len(message) < 500
    assert plain("中文 é ok") == "中文 é ok"


def test_a_batch_of_such_names(folder, tiny_model, tmp_path) -> None:
    dataset = open_dataset(folder)
    items = items_of(dataset.listing(dataset.query).records)
    task, results = Task(sdtps.Settings()), ResultFolder(tmp_path / "out")
    grid = tiny_model.net.backbone.grid
    results.begin(task, tiny_model.weights, grid)
    assert run_local(tiny_model, items, task, results) == []
    write_summary(results, items, grid, {"weights": SCRIPT})
    table = list(csv.DictReader(io.StringIO((results.path / "summary.csv").read_text())))
    assert len(table) == len(STEMS)
    assert [row["name"] for row in table if row["name"].startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    assert {"'=HYPERLINK(1)", "'@SUM(1)"} <= {row["name"] for row in table}
    tags = Tags((results.path / "index.html").read_text())
    assert [a for _, a in tags.found if "onerror" in a] == []
    assert "script" not in {tag for tag, _ in tags.found}
    sources = [a["src"] for tag, a in tags.found if tag == "img" and "loading" in a]
    assert len(sources) == len(STEMS)


def test_the_folder_browser_lists_such_names(folder, tiny_model) -> None:
    bench = PageBackend([tiny_model], {}, DataRegistry([open_dataset(folder, confined=True)]))
    found = bench.ask({"task": "data.find", "root": 0, "split": "all", "count": 50})
    assert found["total"] == len(STEMS)
    assert all(row["name"].isprintable() for row in found["rows"])
    assert json.dumps(found, ensure_ascii=False).encode()
    picture = {"record": found["rows"][0]["id"]}
    assert "modalities" in bench.analyse({"pictures": {"rgb": picture, "nir": picture, "tir": picture}})


def test_a_figure_with_such_a_name_is_sound(named) -> None:
    _, analysis, pixels = named
    sheet = grid_figure(analysis, pixels, FigureOptions(columns=("kept",)))
    svg = ElementTree.fromstring(sheet.render("svg"))
    tags = {element.tag.rpartition("}")[2] for element in svg.iter()}
    assert not tags & {"script", "img"}
    assert any("onerror" in (element.text or "") for element in svg.iter()), "the name is text"


def test_a_supplement_with_such_a_name_runs_nothing(named, monkeypatch) -> None:
    monkeypatch.setattr("sdtps.export.supplement.PLANS", (((), (), ()),))
    monkeypatch.setattr("sdtps.export.supplement.RATIO_STRIDE", 19)
    tags = Tags(write_supplement(*named[:2]))
    assert [a for tag, a in tags.found if tag == "img" or "onerror" in a] == []
    assert [tag for tag, _ in tags.found].count("script") == 2


def test_a_checkpoint_with_such_a_name(tiny_model, tmp_path, capsys) -> None:
    from sdtps.checkpoints.load import save_checkpoint
    from sdtps.cli.main import main

    path = tmp_path / "new\nline\x1b[2J\u202e=1<img>.safetensors"
    save_checkpoint(tiny_model.net, path, half=False)
    assert main(["weights", str(path)]) == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())
