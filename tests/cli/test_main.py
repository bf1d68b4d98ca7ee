"""The command line as a user types it: output, files and exit codes."""

import json

import pytest
import torch

from sdtps.checkpoints.load import sha256_of
from sdtps.cli.main import main
from sdtps.resources import PROJECT
from sdtps.retrieval.evaluate import MISSING_TABLE
from sdtps.training.synth import write_rgbnt201
from tests.checkpoints.checkpoint_files import demo_shapes, random_state
from tests.datasets import trees

DAY = PROJECT / "assets" / "examples" / "day"
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


@pytest.fixture
def demo(tmp_path):
    """A DeMo checkpoint without SDTPS."""
    path = tmp_path / "DeMobest.pth"
    torch.save(random_state(demo_shapes(depth=1, experts=4)), path)
    return path


def test_weights_prints_what_is_in_a_checkpoint(demo, capsys):
    assert main(["weights", str(demo)]) == 0
    out = capsys.readouterr().out
    assert "DeMobest.pth: DeMo without SDTPS, trained" in out
    assert sha256_of(demo) in out
    assert "pictures 256x128, grid 16x8" in out
    assert "not in this checkpoint: predictor" in out
    assert "16x8 is assumed: RGBNT201 has 171 identities" in out
    assert main(["weights", str(demo), "--size", "128x256"]) == 0
    assert "grid 8x16" in capsys.readouterr().out


def test_weights_as_json(demo, capsys):
    assert main(["weights", str(demo), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["family"], report["missing"], report["absent"]) == ("demo", [], ["predictor", "aggregation"])
    assert {g["name"]: len(g["unused"]) for g in report["groups"]}["heads"] == len(report["unused"])
    assert report["facts"]["feature"] == ["ori", "moe"]


def test_weights_that_fit_in_part_are_reported_and_refused(tmp_path, capsys):
    state = random_state(demo_shapes(depth=1, rows=25))
    del state["sdtps.tir_aggr.scale"]
    path = tmp_path / "part.pth"
    torch.save(state, path)
    assert main(["weights", str(path)]) == 1
    captured = capsys.readouterr()
    assert "missing: sdtps.tir_aggr.scale" in captured.out
    assert "fits only in part, so it was not loaded: sdtps.tir_aggr.scale is missing" in captured.err
    assert main(["weights", str(path), "--force"]) == 0
    assert "partly loaded" in capsys.readouterr().out
    assert main(["inspect", *TRIPLET, "--weights", str(path), "--force"]) == 0
    assert "NOT fully trained" in capsys.readouterr().out


def test_inspect_says_what_is_not_in_a_checkpoint(demo, capsys):
    assert main(["inspect", *TRIPLET, "--weights", str(demo), "--size", "128x256", "--camera", "1"]) == 0
    out = capsys.readouterr().out
    assert "predictor: not in this checkpoint" in out
    assert "RGB: keeps 64 of 128 patches, aggregation not in this checkpoint" in out
    assert max(len(line.split()) for line in out.splitlines() if line.startswith("    ")) == 16
    assert main(["inspect", *TRIPLET, "--weights", str(demo), "--camera", "9"]) == 1
    assert "cameras 0 to 3, not 9" in capsys.readouterr().err


def test_generated_people_can_be_evaluated(tmp_path, capsys):
    assert (
        main(["synth", "--out", str(tmp_path), "--ids", "3", "--views", "2", "--workers", "1", "--style", "drawn"]) == 0
    )
    assert len(list((tmp_path / "RGBNT201" / "test" / "TI").glob("*.jpg"))) == 6
    assert main(["evaluate", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "6 queries" in out
    assert "mAP" in out
    assert "precision of the kept" in out
    assert main(["index", str(tmp_path)]) == 0
    assert "test: 6 image sets indexed" in capsys.readouterr().out
    assert main(["evaluate", str(tmp_path), "--missing"]) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines() if line.split()[0] in {"-", *MISSING_TABLE}]
    assert [row[0] for row in table] == ["-", "r", "n", "t", "rn", "rt", "nt"]
    assert all(0 <= float(value) <= 1 for row in table for value in row[1:])


def test_data_says_what_a_folder_holds(tmp_path, capsys):
    trees.msvr310(tmp_path)
    (tmp_path / "MSVR310" / "query3" / "0001" / "th" / "0001_s001_v0_000.jpg").unlink()
    assert main(["data", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("MSVR310; query query3, gallery bounding_box_test")
    assert "query3: 5 image sets, 3 identities, 3 cameras" in out
    assert "0001_s001_v0_000.jpg: There is no TIR partner." in out


def test_index_takes_one_split_and_names_those_there_are(tmp_path, capsys):
    trees.rgbnt201(tmp_path)
    for split in ("val", "train_171"):
        code = main(["index", str(tmp_path), "--split", split])
        assert code == (1 if split == "val" else 0)
    assert "no split 'val' in" in capsys.readouterr().err


def test_rank_lists_are_drawn_from_a_folder(tmp_path, capsys, demo):
    folder = trees.rgbnt201(tmp_path / "people", ids=3)
    ask = ["ranks", str(folder), "--out", str(tmp_path / "ranks.svg"), "--weights", str(demo), "--size", "256x128"]
    ask += ["--cache", str(tmp_path / "cache"), "--depth", "3"]
    assert main(ask) == 0
    drawing = (tmp_path / "ranks.svg").read_text(encoding="utf-8")
    assert drawing.count("✓") + drawing.count("×") == 2 * 3  # two queries, three results each
    assert main([*ask, "--query", "nobody.jpg"]) == 1
    assert "no query 'nobody.jpg'" in capsys.readouterr().err
    assert main(["ranks", str(folder), "--out", "ranks.doc"]) == 1


def test_serve_hands_its_options_to_the_app(monkeypatch):
    started = []
    monkeypatch.setattr("sdtps.cli.page.main", started.append)
    assert main(["serve", "--port", "8000", "--anonymous"]) == 0
    assert started == [["--port", "8000", "--anonymous"]]


def test_other_commands_refuse_what_they_do_not_know(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["inspect", *TRIPLET, "--nonsense", "1"])
    assert "unrecognized arguments: --nonsense 1" in capsys.readouterr().err


def test_index_and_evaluate_as_json(tmp_path, capsys, demo):
    folder = trees.rgbnt201(tmp_path / "people", ids=3)
    more = ["--weights", str(demo), "--cache", str(tmp_path / "cache"), "--json"]
    assert main(["index", str(folder), *more]) == 0
    assert json.loads(capsys.readouterr().out) == {"test": {"triplets": 6, "left_out": []}}
    assert main(["evaluate", str(folder), "--missing", *more]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert set(outcome["retrieval"]) == {"all", *MISSING_TABLE}
    assert 0 < outcome["retrieval"]["all"]["mAP"] <= 1
    assert outcome["maps"] == {}  # this folder has no masks


def test_evaluate_says_how_well_the_maps_find_people(tmp_path, capsys, demo):
    write_rgbnt201(tmp_path, ids=2, views=2, split="test")
    more = ["--weights", str(demo), "--cache", str(tmp_path / "cache")]
    assert main(["evaluate", str(tmp_path), *more, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["maps"]["tir"]
    assert 0 <= found["precision"] <= found["best_precision"] <= 1
    assert main(["evaluate", str(tmp_path), *more]) == 0
    said = f"TIR: precision of the kept {found['precision']:.3f} of at most {found['best_precision']:.3f}"
    assert said in capsys.readouterr().out
