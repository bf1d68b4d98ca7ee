"""Long work: progress, results, errors, cancelling, bounds."""

import threading

import pytest

from sdtps.support.messages import Message
from sdtps.support.progress import Progress
from sdtps.types import Payload
from sdtps.web.session import jobs as jobs_module
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.jobs import Jobs
from sdtps.web.session.requests import Refusal


@pytest.fixture
def jobs():
    jobs = Jobs()
    yield jobs
    jobs.close()


def finished(jobs: Jobs, key: str) -> Payload:
    jobs._find(key).future.result(10)
    return jobs.poll(key)


def test_a_job_reports_progress_and_then_its_result(jobs):
    halfway, go_on = threading.Event(), threading.Event()

    def work(progress: Progress, cancelled) -> Payload:
        progress(1, 2)
        halfway.set()
        go_on.wait(10)
        return {"answer": 42}

    key = jobs.start(work)["job"]
    assert halfway.wait(10)
    assert jobs.poll(key) == {"done": 1, "total": 2}
    go_on.set()
    assert finished(jobs, key) == {"result": {"answer": 42}}


def test_a_cancelled_job_stops_at_its_next_report(jobs):
    begun, go_on, after = threading.Event(), threading.Event(), []

    def work(progress: Progress, cancelled) -> Payload:
        begun.set()
        go_on.wait(10)
        progress(1, 2)
        after.append("went on")
        return {}

    key = jobs.start(work)["job"]
    assert begun.wait(10)
    jobs.cancel(key)
    go_on.set()
    assert finished(jobs, key) == {"cancelled": True}
    assert not after


def test_a_refusal_keeps_its_sentence_and_a_crash_shows_none_of_its_own(jobs):
    def refuse(progress: Progress, cancelled) -> Payload:
        raise Refusal(Message("some.code", "Not like this."))

    def crash(progress: Progress, cancelled) -> Payload:
        raise RuntimeError("/secret/path")

    assert finished(jobs, jobs.start(refuse)["job"])["error"]["text"] == "Not like this."
    assert "secret" not in str(finished(jobs, jobs.start(crash)["job"]))


def test_the_queue_is_bounded_and_old_results_are_forgotten(jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "WAITING", 2)
    monkeypatch.setattr(jobs_module, "KEPT", 2)
    gate = threading.Event()
    first = [jobs.start(lambda p, c: {"waited": gate.wait(10)})["job"] for _ in range(2)]
    with pytest.raises(Refusal, match="busy"):
        jobs.start(lambda p, c: {})
    gate.set()
    for key in first:
        finished(jobs, key)
    for _ in range(3):
        finished(jobs, jobs.start(lambda p, c: {})["job"])
    with pytest.raises(Refusal, match="no longer knows"):
        jobs.poll(first[0])


@pytest.mark.parametrize("data", [None, {}, {"task": 3}, {"task": "os.system"}, {"task": "job.poll", "job": ["x"]}])
def test_unknown_tasks_get_a_sentence(tiny_model, data):
    assert PageBackend([tiny_model], {}).ask(data)["error"]["text"].endswith(".")
