"""The benchmarks' machinery: pairs, ratios, exponents, tables, stages, the delaying line. No test judges a speed."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import footprint, growth, options, peers, report, slider, stages, throughput
from benchmarks.measure import Bar, Detail, Findings, exponent, machine_facts, percentile_ratio, ratio, take_turns
from benchmarks.proxy import delayed
from benchmarks.retrieval import gallery
from benchmarks.rollout import Rollout
from benchmarks.subjects import ROOT, small
from sdtps import pipeline
from sdtps.datasets import Apart
from sdtps.retrieval.ranking import ROWS, distances, rank_list


@pytest.fixture(scope="module")
def model():
    return small()


def test_everyone_takes_turns_and_the_order_goes_round() -> None:
    calls: list[str] = []
    times = take_turns({name: lambda name=name: calls.append(name) for name in "abc"}, rounds=3, warm_up=1)
    assert calls == [*"abc", *"abc", *"bca", *"cab"]
    assert {name: len(values) for name, values in times.items()} == {"a": 3, "b": 3, "c": 3}


def test_a_ratio_is_of_medians_and_its_spread_of_pairs() -> None:
    row = ratio("x", [1.0, 2.0, 30.0], [1.0, 4.0, 5.0], Bar(0.6))
    assert (row.ratio, row.value, row.reference) == (0.5, 2000, 4000)
    assert (row.low, row.high) == (0.75, 3.5)
    assert row.verdict == "met"
    assert ratio("x", [1.0], [0.3], Bar(2.5, at_least=True)).verdict == "met"
    assert ratio("x", [1.0], [0.5], Bar(2.5, at_least=True)).verdict == "not met"


def test_exponent_is_that_of_the_power_law() -> None:
    sizes = [10, 100, 1000]
    assert exponent(sizes, [3 * s**1.7 for s in sizes]) == pytest.approx(1.7)
    assert exponent(sizes, [5.0, 5.0, 5.0]) == pytest.approx(0)


def findings() -> dict[str, Findings]:
    row = ratio("ours / theirs", [0.2, 0.2], [0.1, 0.1], Bar(1.15))
    detail = Detail("Sizes", ("n", "ms"), (("1", "2"),), "A note.")
    return {"peers": Findings((row,), (detail,), ("Said.",), {"raw": [1.5]}, {"x.svg": b"<svg/>"})}


def test_page_document_and_json_say_the_same(tmp_path) -> None:
    document = tmp_path / "README.md"
    document.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    facts = machine_facts()
    report.write(findings(), facts, tmp_path / "out", document)
    line = "| ours / theirs | 2 | 2 to 2 | ≤ 1.15 | **not met** | 200 ms | 100 ms |"
    page, shown = (tmp_path / "out/results.md").read_text(), document.read_text()
    assert line in page
    assert line in shown
    assert facts["date"] in shown
    assert "old" not in shown
    assert shown.startswith("before\n")
    assert shown.endswith("after\n")
    assert "| 1 | 2 |\n\nA note." in page
    found = json.loads((tmp_path / "out/results.json").read_text())["topics"]["peers"]
    assert (found["rows"][0]["ratio"], found["rows"][0]["verdict"]) == (2, "not met")
    assert found["data"] == {"raw": [1.5]}
    assert (tmp_path / "out/x.svg").read_bytes() == b"<svg/>"


@pytest.mark.parametrize("text", ["none", report.BEGIN, report.END + report.BEGIN, f"{report.BEGIN}{report.END}" * 2])
def test_a_document_without_its_markers_is_left_alone(text: str) -> None:
    with pytest.raises(ValueError, match="markers"):
        report.with_block(text, "new")


def test_the_page_on_speed_has_its_block() -> None:
    assert "| what | ratio |" in report.with_block((ROOT / "docs" / "speed.md").read_text("utf-8"), report.HEADER)


def test_command_runs_the_topics_that_were_asked_for(monkeypatch, capsys, tmp_path) -> None:
    asked = []
    monkeypatch.setattr(growth, "run", lambda quick: asked.append(("growth", quick)) or findings()["peers"])
    monkeypatch.setattr(options, "run", lambda quick: asked.append(("options", quick)) or Findings())
    arguments = ["--quick", "--only", "growth", "--only", "options", "--out", str(tmp_path)]
    assert command.main(arguments) == 0
    assert asked == [("growth", True), ("options", True)]
    assert "ours / theirs" in capsys.readouterr().out
    assert (tmp_path / "results.md").is_file()
    assert command.main(["--quick", "--docs"]) == 2


def test_one_topic_is_measured_again_and_the_others_stay(tmp_path, monkeypatch, capsys) -> None:
    document = tmp_path / "docs" / "speed.md"
    document.parent.mkdir()
    document.write_text(f"before\n{report.BEGIN}\n{report.END}\nafter\n", encoding="utf-8")
    here = tmp_path / "benchmarks"
    facts = machine_facts() | {"quick": False}
    report.write(findings(), facts, here)
    assert report.read(here) == ({"peers": replace(findings()["peers"], pictures={})}, facts)
    monkeypatch.setattr(command, "HERE", here)
    again = Findings((ratio("move / forward", [1.0], [4.0], Bar(0.5)),))
    monkeypatch.setattr("benchmarks.rescore.run", lambda quick: again)
    assert command.main(["--only", "rescore", "--docs"]) == 0
    assert "| move / forward | 0.25 |" in document.read_text("utf-8")
    assert set(report.read(here)[0]) == {*findings(), "rescore"}
    report.write(findings(), facts | {"cores": 1000}, here)
    assert command.main(["--only", "rescore", "--docs"]) == 2
    assert "another cores" in capsys.readouterr().out


def test_percentiles_are_compared_and_their_halves_are_the_spread() -> None:
    row = percentile_ratio("ours / theirs", [10.0, 10.0, 30.0, 30.0], [10.0, 10.0, 10.0, 10.0], 50)
    assert (row.ratio, row.low, row.high) == (2.0, 1.0, 3.0)
    assert row.name.startswith("ours / theirs, p50")


def test_every_topic_is_there_and_can_run() -> None:
    modules = {p.stem for p in (ROOT / "benchmarks").glob("*.py") if "def run(quick: bool)" in p.read_text()}
    assert modules == set(command.TOPICS)


@pytest.fixture
def echo_server() -> Iterator[str]:
    """Sends back what it gets."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                while content := connection.recv(65536):
                    connection.sendall(content)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)


def test_the_delaying_line_keeps_bytes_and_their_order(echo_server) -> None:
    content = np.random.default_rng(0).bytes(300_000)
    with delayed(echo_server, 0.02) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as line:
            sender = threading.Thread(
                target=lambda: [line.sendall(content[i : i + 1000]) for i in range(0, 300_000, 1000)]
            )
            sender.start()
            back = b""
            while len(back) < len(content):
                back += line.recv(65536)
            sender.join(10)
    assert back == content


def test_a_stopwatch_counts_inner_stages_once() -> None:
    class Work:
        def outer(self) -> str:
            return self.inner()

        def inner(self) -> str:
            return "done"

    ticks = iter([0.0, 1.0, 4.0, 10.0])
    with (
        pytest.MonkeyPatch.context() as clock,
        stages.watching({"a": ((Work, "outer"),), "b": ((Work, "inner"),)}) as w,
    ):
        clock.setattr("benchmarks.stages.time.perf_counter", lambda: next(ticks))
        assert Work().outer() == "done"
    assert w.seconds == {"a": 7.0, "b": 3.0}
    assert Work.outer.__name__ == "outer"


def test_the_picture_names_every_stage() -> None:
    svg = stages.picture({stage: 1.0 + i for i, stage in enumerate(stages.ORDER)}).decode()
    assert all(f"{stage} " in svg for stage in stages.ORDER)


def test_contenders_explain_all_three_modalities(model) -> None:
    rows = peers.rows_of("small", model, rounds=2)
    names = [row.name for row in rows]
    assert names[0] == "first analysis / bare forward, small"
    assert "attention rollout / first analysis, small" in names
    assert all(row.ratio > 0 for row in rows)


def test_rollout_is_a_distribution_over_the_grid(model) -> None:
    images = growth.noise((256, 128), 0).tensor(model.net.backbone.mean, model.net.backbone.std)
    maps = Rollout(model.net.backbone.vit, images, (16, 8))()
    assert maps.shape == (3, 16, 8)
    assert (maps > 0).all()
    assert (maps.sum((1, 2)) < 1).all()  # the rest is the class token's own
    assert model.net.backbone.vit.blocks[0].attn.fused_attn


def test_growth_runs_do_the_whole_work() -> None:
    sessions, folder = growth.session_run(2), growth.folder_run(3)
    table = growth.table("t", "n", {1: sessions, 10: folder}, "")
    assert [row[0] for row in table.rows] == ["1", "10", "exponent"]
    pipeline.forget()


def test_imports_are_added_up_by_package() -> None:
    lines = [
        "import time: self [us] | cumulative | imported package",
        "import time:       500 |        500 |   torch.a",
    ]
    text = "\n".join(
        [*lines, "import time:      1500 |       2000 | torch", "import time:       700 |        700 |   PIL"]
    )
    assert footprint.import_costs(text) == {"torch": 0.002, "PIL": 0.0007}


def test_what_cannot_run_says_why(model, monkeypatch) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("no compiler\nat all")

    monkeypatch.setitem(options.ATTEMPTS, "torch.compile", broken)
    images = growth.noise((256, 128), 0).tensor(model.net.backbone.mean, model.net.backbone.std).unsqueeze(1)
    row, text = options.attempt("torch.compile", model.net.backbone, images, 1)
    assert row is None
    assert text == "torch.compile cannot run here: no compiler"
    quicker = ratio("int8 / bare", [0.5], [1.0])
    assert "changes the features" in options.verdict(quicker, 0.9)
    assert "it would pay" in options.verdict(quicker, 0.9999)


def test_a_drag_is_right_only_in_order() -> None:
    drag = {"updates": [100.0, 200.0, 700.0], "settled": 1000.0, "right": True, "order": True}
    assert slider.drag_line("x", [drag]) == ("x", "1.0", "500", "1000", "yes")
    assert slider.drag_line("x", [drag | {"order": False}])[-1] == "**no**"


def test_shares_of_a_folder_cover_it_once(tmp_path) -> None:
    growth.write_noise_folder(tmp_path, 5)
    halves = [throughput.items_in(tmp_path, (i, 2)) for i in range(2)]
    assert sorted(item.name for half in halves for item in half) == sorted(
        item.name for item in throughput.items_in(tmp_path, (0, 1))
    )


def test_a_gallery_larger_than_a_block_is_searched_exactly() -> None:
    features, records = gallery(ROWS + 3)
    wide = features.astype(np.float64)
    unit = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    expected = ((unit - unit[5]) ** 2).sum(1)
    np.testing.assert_allclose(distances(features[5:6], features)[0], expected, atol=1e-12)
    found = rank_list(features[5], features, records, None, Apart.CAMERA, 3)
    assert [m.number for m in found.matches] == list(np.argsort(expected, kind="stable")[:3])
