"""Several sessions at once: no answer is lost or mixed up, and a full queue says so."""

import threading
import time

import pytest

from benchmarks.load import Load, differs, noisy_triplet
from sdtps.datasets.examples import find_examples
from sdtps.types import MODALITIES
from sdtps.web.server import page as pages
from sdtps.web.server.gate import connections
from sdtps.web.server.gate.layers import GateOptions, gate
from sdtps.web.session.backend import PageBackend
from tests.harness import free_port
from tests.visitor import Refused, Visitor
from tests.web.conftest import App

DAY = {str(m): {"example": "day"} for m in MODALITIES}


def test_sessions_that_drag_and_upload_at_once_get_their_own_answers(app: App, model) -> None:
    load = Load(app.url, model, app.examples)
    result = load.crowd(sessions=6, uploaders=2, moves=6, triplets=2)
    assert result.wrong == []
    assert (len(result.crowd), len(result.uploads)) == (6 * 6, 2 * 2)
    assert result.health
    found = result.findings()
    assert found.details[0].rows[1][:2] == ("slider move, 6 sessions", "36")
    assert [row.name.partition(" / ")[0] for row in found.rows] == ["slider move, 6 sessions and 2 uploading"] * 2


def test_the_comparison_notices_another_triplets_answer(app: App, model) -> None:
    load = Load(app.url, model, app.examples)
    with Visitor(app.url, load.first) as visitor:
        answer = visitor.analyse(DAY)
        own, other = noisy_triplet(load.files["day"], 1), noisy_triplet(load.files["day"], 2)
    assert own != other
    assert "error" not in answer
    assert differs(answer, load.wanted["night", 0]) == "rgb has the scores of another triplet or setting"


def test_a_full_queue_says_so_and_loses_nothing(app: App, model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "QUEUE_SIZE", 2)
    backend = PageBackend([model], find_examples(app.examples))
    door, plain = threading.Event(), backend.analyse
    monkeypatch.setattr(backend, "analyse", lambda data: door.wait(60) and plain(data))
    page = pages.build_page(backend)
    with connections.installed(lambda inner: gate(inner, GateOptions())):
        _, url, _ = page.launch(server_port=free_port(), prevent_thread_lock=True, quiet=True, **pages.launch_options())
    answers: list[dict] = []
    refusals: list[Refused] = []

    def come() -> None:
        with Visitor(url, first) as visitor:
            try:
                answers.append(visitor.analyse(DAY))
            except Refused as refused:
                refusals.append(refused)

    try:
        first = Visitor(url)
        threads = [threading.Thread(target=come) for _ in range(8)]
        for thread in threads:
            thread.start()
        while not refusals:
            time.sleep(0.02)  # ends with the test's own time limit if nobody is ever refused
        door.set()
        for thread in threads:
            thread.join()
    finally:
        door.set()
        page.close(verbose=False)
        first.http.close()
    assert {(r.status, r.code, str(r)) for r in refusals} == {
        (503, "server.busy", "The server is busy; try again in a moment.")
    }
    assert len(answers) + len(refusals) == len(threads)
    assert all("error" not in answer for answer in answers)
