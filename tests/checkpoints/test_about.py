"""Weights describe themselves: inside the file or beside it, never for other weights, and only in plain text."""

import json
from pathlib import Path

import pytest

from sdtps.checkpoints.about import LONGEST, checked_about, read_about
from sdtps.checkpoints.anonymise import hide
from sdtps.checkpoints.load import load_model, save_checkpoint
from sdtps.export.figure.style import FigureOptions, about_line
from sdtps.export.supplement import Words
from sdtps.resources import CHECKPOINTS
from sdtps.support.errors import InputError
from sdtps.types import WeightsReport

TOLD = {"en": {"line": "drawn people only", "data": "Drawn people.", "losses": "Two."}, "zh": {"line": "仅绘制人物"}}
HASH = "ab" * 32


def test_a_file_beside_the_weights_speaks_of_them_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    beside = tmp_path / "mine.about.json"
    assert read_about(path, HASH, {}) == {}
    beside.write_text(json.dumps({"sha256": HASH, **TOLD}), encoding="utf-8")
    assert read_about(path, HASH, {}) == TOLD
    assert read_about(path, "cd" * 32, {}) == {}, "the weights were replaced, and nobody said by what"
    beside.write_text("not json")
    assert read_about(path, HASH, {}) == {}


def test_weights_that_carry_their_description_are_believed(tiny_model, tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    save_checkpoint(tiny_model.net, path, about=json.dumps(TOLD))
    report = load_model(path, device="cpu").weights
    assert report.about == TOLD
    assert report.as_dict()["about"] == TOLD
    assert hide(report).about == {}, "an anonymous author is not described"


@pytest.mark.parametrize(
    "odd", [{}, {"zh": TOLD["zh"]}, {"en": "text"}, {"en": {"data": 7}}, {"en": {"other": "x"}}, {"en": [1]}]
)
def test_what_is_no_description_is_left_out(odd: dict) -> None:
    assert checked_about(odd) == {}


def test_a_description_is_bounded_plain_text() -> None:
    text = checked_about({"en": {"data": "a\x1b[31m" + "b" * 5000}})["en"]["data"]
    assert len(text) <= LONGEST + 1
    assert "\x1b" not in text


def test_the_shipped_weights_say_what_they_are() -> None:
    file = CHECKPOINTS / "sdtps-lens-hiera-tiny.about.json"
    told = json.loads(file.read_text(encoding="utf-8"))
    card = (CHECKPOINTS / "README.md").read_text(encoding="utf-8")
    assert told["sha256"] in card, "the description and the card are about the same weights"
    assert set(checked_about(told)) == {"en", "zh"}
    assert "generated people only" in told["en"]["line"]


def test_figures_have_one_line_of_it() -> None:
    english, silent = FigureOptions(), WeightsReport("w", HASH, True, 1)
    told = WeightsReport("w", HASH, True, 1, about=TOLD)
    assert about_line(told, english) == "drawn people only · a map is no segmentation"
    assert about_line(silent, english).startswith("training data not stated · ")
    assert about_line(WeightsReport("w", HASH, False, 0, about=TOLD), english).startswith("Random weights")


def test_an_author_may_say_so_much_above_a_supplement() -> None:
    assert Words(" A  title\n", "One\nline.\n\n \nAnother.").as_dict() == {
        "title": "A title",
        "introduction": ["One line.", "Another."],
    }
    with pytest.raises(InputError, match="may have 200 characters"):
        Words("x" * 201)
