"""Runs from other programs: DeMo's text logs with all their traps, TensorBoard files; and our own, exported."""

import csv
import json
import math
import struct

import numpy as np
import pytest

import sdtps
from sdtps.cli.main import main
from sdtps.resources import LAB
from sdtps.runs.diagnosis import diagnose
from sdtps.runs.exporters import to_csv, to_tensorboard
from sdtps.runs.reader import distinct, read_runs
from sdtps.runs.tensorboard import EventWriter, masked_crc, read_events
from tests.runs.doubles import ours as tiny_model
from tests.runs.made import made

AT = "2025-12-06 11:50:01,123 DeMo.train INFO: "


def log(settings="'MODEL.SDTPS_BETA', '0.25'", losses=(4.7, 4.1, 3.2), maps=(5.0, 9.5, 15.6)):
    lines = [
        f"{AT}Namespace(config_file='configs/RGBNT201/DeMo.yml', opts=['MODEL.USE_SDTPS', 'True', {settings}])",
        f"{AT}Loaded configuration file configs/RGBNT201/DeMo.yml",
        "MODEL:\n  NAME: 'DeMo'",
        f"{AT}Running with config:\nMODEL:\n  NAME: DeMo\n  SDTPS_BETA: 0.3\nSOLVER:\n  BASE_LR: 0.00035",
        "  STEPS:\n  - 40\n  - 70\nSDTPS: on",
        f"{AT}  train    |   171 |     3951 |         4",
        "DeMo(\n  (BACKBONE): build_transformer()\n)",
    ]
    for epoch, (loss, found) in enumerate(zip(losses, maps, strict=True), 1):
        for i in (10, 20):
            rate = "Base Lr: 5.00e-06"
            lines.append(f"{AT}Epoch[{epoch}] Iteration[{i}/54] Loss: {loss:.3f}, Acc: {epoch / 100:.3f}, {rate}")
        lines.append(f"{AT}Epoch {epoch} done. Time per batch: 0.317[s] Speed: 201.7[samples/s]")
        for feature, less in (("ori", 1.0), ("moe", 2.0), ("[moe,ori]", 0.0)):
            lines += [f"{AT}~~~~~~~~", f"{AT}Current is the {feature} feature testing!", f"{AT}~~~~~~~~"]
            lines += [f"{AT}Validation Results - Epoch: {epoch}", f"{AT}mAP: {found - less:.1f}%"]
            lines += [f"{AT}CMC curve, Rank-1  :{found:.1f}%", f"{AT}CMC curve, Rank-5  :{2 * found:.1f}%"]
        lines.append(f"{AT}Best mAP: {found:.1f}%")
    return "\n".join(lines) + "\n"


def written(tmp_path, text, name="train_log.txt"):
    folder = tmp_path / "run"
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_a_demo_log(tmp_path):
    (run,) = read_runs(written(tmp_path, log()))
    assert run.by_epoch("loss")[1] == pytest.approx([4.7, 4.1, 3.2])
    assert run.scalar("step").tolist() == [10, 20, 64, 74, 118, 128]
    assert run.epochs["mAP"] == pytest.approx([0.05, 0.095, 0.156])
    assert run.epochs["mAP_ori"] == pytest.approx([0.04, 0.085, 0.146])
    assert run.epochs["mAP_moe"] == pytest.approx([0.03, 0.075, 0.136])
    assert run.epochs["rank5"] == pytest.approx([0.1, 0.19, 0.312])
    assert run.classes == 171
    assert run.settings["MODEL.SDTPS_BETA"] == 0.25  # the command line has the last word
    assert run.settings["SOLVER.BASE_LR"] == 0.00035
    assert run.settings["SOLVER.STEPS"] == [40, 70]
    assert run.settings["MODEL.USE_SDTPS"] is True


def test_several_runs_in_one_file_and_one_that_is_cut_off(tmp_path):
    text = log() + log("'MODEL.SDTPS_BETA', '0.1'", (5.0, 4.0, 3.0))
    cut = text[: text.rindex("Loss: 3.000") + 8]  # in the middle of the last iteration line
    runs = read_runs(written(tmp_path, cut))
    assert [r.name for r in runs] == ["run (1)", "run (2)"]
    assert [len(r.scalar("loss")) for r in runs] == [6, 5]


@pytest.mark.parametrize("first_lines", [1, 2])
def test_a_run_that_was_appended_without_its_first_lines_is_one_of_its_own(tmp_path, first_lines):
    """By its configuration, or because the iterations begin again."""
    again = log(losses=(5.0, 4.0, 3.0)).split("\n", 1)[1]
    if first_lines == 2:
        again = again[again.index(f"{AT}Epoch[1]") :]
    runs = read_runs(written(tmp_path, log() + again))
    assert [run.by_epoch("loss")[1].tolist() for run in runs] == [[4.7, 4.1, 3.2], [5.0, 4.0, 3.0]]


def test_nan_is_read_and_told(tmp_path):
    (run,) = read_runs(written(tmp_path, log().replace("Loss: 3.200", "Loss: nan")))
    assert np.isnan(run.scalar("loss")[-1])
    (finding,) = [f for f in diagnose([run]) if f.rule == "not_finite"]
    assert "epoch 3" in finding.said


def test_a_dead_switch_between_two_logs(tmp_path):
    many = (4.7, 4.5, 4.1, 3.2), (1.0, 2.0, 3.0, 4.0)
    runs = read_runs(written(tmp_path, log(losses=many[0], maps=many[1]) + log("'MODEL.X', '1'", *many)))
    assert [f.rule for f in diagnose(runs)] == ["dead_switch"]


def test_event_files_come_back(tmp_path):
    writer = EventWriter(tmp_path)
    for step in range(300):
        writer.add(step, {"train/loss": 5.0 - step / 100, "val/mAP": step / 300})
    writer.close()
    (run,) = read_runs(tmp_path)
    assert run.scalar("loss") == pytest.approx([5.0 - s / 100 for s in range(300)], rel=1e-6)
    assert run.scalar("mAP")[-1] == pytest.approx(299 / 300)


def test_a_cut_off_event_file_is_read_as_far_as_it_goes(tmp_path):
    writer = EventWriter(tmp_path)
    for step in range(5):
        writer.add(step, {"loss": float(step)})
    writer.close()
    content = writer.path.read_bytes()
    writer.path.write_bytes(content[:-7])
    assert [s for s, *_ in read_events(writer.path)] == [0, 1, 2, 3]


def test_records_are_written_as_the_format_says(tmp_path):
    """The checksum of the published test vector, masked; and the first record names the version."""
    assert masked_crc(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    writer = EventWriter(tmp_path, started=1.5)
    writer.close()
    content = writer.path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    assert content[12 : 12 + length] == b"\x09" + struct.pack("<d", 1.5) + b"\x1a\x0dbrain.Event:2"


def test_tensorboard_itself_reads_them(tmp_path):
    from tensorboard.backend.event_processing import event_file_loader as loader

    path = to_tensorboard(made(), tmp_path)
    events = list(loader.EventFileLoader(str(path)).Load())
    assert events[0].file_version == "brain.Event:2"
    assert len(events) == 41


def test_tables_and_events_of_a_run(tmp_path):
    run = made("a run")
    (table,) = to_csv(run, tmp_path)
    assert table.name == "a_run-steps.csv"
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(r["loss"]) for r in rows] == pytest.approx(run.scalar("loss"))
    to_tensorboard(run, tmp_path / "events")
    (again,) = read_runs(tmp_path / "events")
    assert again.scalar("grad/scores") == pytest.approx(run.scalar("grad/scores"))


def test_a_number_that_is_none_is_exported_and_one_that_was_never_written_is_not(tmp_path):
    """The recorder's JSON stays JSON; a table and event files tell NaN from a gap."""
    with sdtps.Recorder(tmp_path / "run", tiny_model(), probe=()) as recorder:
        recorder.step(loss=5.0, acc=0.1)
        recorder.step(loss=float("nan"))
        recorder.step(loss=float("inf"), acc=0.2)
    for name in ("steps.jsonl", "first_bad.json"):
        text = (tmp_path / "run" / name).read_text()
        parts = text.splitlines() if name.endswith("l") else [text]
        assert all(json.loads(part, parse_constant=pytest.fail) for part in parts), "strict JSON"
    (run,) = read_runs(tmp_path / "run")
    table, *_ = to_csv(run, tmp_path)
    with table.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(r["loss"], r["acc"]) for r in rows] == [("5", "0.1"), ("nan", ""), ("inf", "0.2")]
    events = {(step, tag): value for step, tag, value in read_events(to_tensorboard(run, tmp_path / "events"))}
    told = [at for at in events if at[1] in ("loss", "acc")]
    assert told == [(0, "loss"), (0, "acc"), (1, "loss"), (2, "loss"), (2, "acc")]
    assert math.isnan(events[1, "loss"])
    assert events[2, "loss"] == math.inf


def test_our_own_events_come_back_with_epochs_and_scores(tmp_path):
    (run,) = read_runs(LAB / "final-s0")
    file = to_tensorboard(run, tmp_path)
    for path in (tmp_path, file):
        (again,) = read_runs(path)
        for name in ("loss", "mAP"):
            for ours, theirs in zip(run.by_epoch(name), again.by_epoch(name), strict=True):
                assert theirs == pytest.approx(ours, rel=1e-5)
        assert diagnose([again]) == []


def test_events_of_others_run_over_steps(tmp_path):
    """A score that is logged now and then is no gap in the loss; a thousand steps are no thousand points."""
    writer = EventWriter(tmp_path)
    for step in range(1000):
        writer.add(step, {"train/loss": 5.0 - step / 1000})
        if step % 100 == 99:
            writer.add(step + 1, {"val/mAP": step / 1000, "val/loss": 3.0})
    writer.close()
    (run,) = read_runs(tmp_path)
    assert diagnose([run]) == []
    epochs, losses = run.by_epoch("loss")
    assert len(epochs) <= 300
    assert (np.diff(losses) < 0).all()
    assert run.by_epoch("mAP")[0].tolist() == list(range(100, 1001, 100))
    assert "no epochs" in run.notes[0]


def test_a_nan_among_events_is_told(tmp_path):
    writer = EventWriter(tmp_path)
    for step in range(10):
        writer.add(step, {"loss": float("nan") if step > 6 else 5.0})
    writer.close()
    assert [f.rule for f in diagnose(read_runs(tmp_path))] == ["not_finite"]


def test_runs_of_one_name_are_told_apart():
    assert [run.name for run in distinct([made("a"), made("b"), made("a")])] == ["a", "b", "a [2]"]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda p: p / "nothing", "There is no run at 'nothing'"),
        (lambda p: (p / "words.txt").write_text("no log") and p / "words.txt", "'words.txt' holds no recorded run"),
        (lambda p: p, "holds no recorded run"),
        (lambda p: (p / "run.json").write_text("{") and p, "is no recorded run"),
        (lambda p: (p / "run.json").write_text('{"schema": "sdtps-run/9"}') and p, "recorded by a newer version"),
    ],
)
def test_what_is_no_run_is_one_sentence(tmp_path, make, sentence):
    path = make(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        read_runs(path if not isinstance(path, int) else tmp_path)


def test_the_command_says_how_runs_went(tmp_path, capsys):
    folder = written(tmp_path, log().replace("Loss: 3.200", "Loss: nan"))
    assert main(["runs", str(folder), "--csv", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "loss 4.700 → nan" in said
    assert "no number" in said
    assert len(list((tmp_path / "out").glob("*.csv"))) == 2
