"""Long work: progress, results, errors, cancelling, bounds."""

import threading

import pytest

from sdtps.support.messages import Message
from sdtps.support.progress import Progress
from sdtps.types import Payload
from sdtps.web.session import jobs as jobs_module
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.jobs import Jobs, Lane
from sdtps.web.session.requests import Refusal
from sdtps.web.session.visitor import Visitor, answering


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


def test_no_visitor_takes_all_places_and_those_who_wait_take_turns(jobs):
    gate, order = threading.Event(), []

    def started_by(visitor: Visitor, name: str) -> str:
        def work(progress: Progress, cancelled) -> Payload:
            gate.wait(10)
            order.append(name)
            return {}

        with answering(visitor):
            return jobs.start(work)["job"]

    greedy, polite = Visitor("10.0.0.1", "a"), Visitor("10.0.0.2", "b")
    first = [started_by(greedy, f"greedy {i}") for i in range(jobs_module.SHARE)]
    with pytest.raises(Refusal, match="under way already"):
        started_by(greedy, "one too many")
    others = jobs_module.ADDRESS_SHARE // jobs_module.SHARE
    for session in range(1, others):
        for i in range(jobs_module.SHARE):
            started_by(Visitor("10.0.0.1", f"s{session}"), f"greedy {session} {i}")
    with pytest.raises(Refusal, match="under way already"):
        started_by(Visitor("10.0.0.1", "another session"), "one too many")
    last = started_by(polite, "polite")
    gate.set()
    finished(jobs, last)
    assert order.index("polite") <= others
    finished(jobs, first[-1])


def test_work_ends_when_its_time_is_up_or_nobody_asks(jobs, monkeypatch):
    def endless(progress: Progress, cancelled) -> Payload:
        while True:
            progress(1, 2)

    assert set(jobs_module.SECONDS) == set(Lane)
    assert max(jobs_module.SECONDS.values()) < 24 * 3600, "no work is without end"
    with monkeypatch.context() as patch:
        patch.setattr(jobs_module, "SECONDS", dict.fromkeys(Lane, 0.05))
        for lane in Lane:
            slow = jobs.start(endless, lane)["job"]
            assert finished(jobs, slow)["error"]["code"] == ("job.hours" if lane == Lane.GALLERY else "job.slow")
    monkeypatch.setattr(jobs_module, "ABANDONED", 0.05)
    for lane in Lane:
        forgotten = jobs.start(endless, lane)["job"]
        assert jobs._find(forgotten).future.result(10) == {"cancelled": True}


def test_a_job_that_reports_nothing_is_given_up_when_its_time_is_up(jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "SECONDS", dict.fromkeys(Lane, 0.01))
    begun, go_on = threading.Event(), threading.Event()
    silent = jobs.start(lambda p, c: {"x": [begun.set(), go_on.wait(10)]})["job"]
    assert begun.wait(10)
    while not jobs._find(silent).late:
        pass
    with pytest.raises(Refusal, match="longer than"):
        jobs.poll(silent)
    go_on.set()


def test_waiting_work_is_gone_as_soon_as_it_is_cancelled_and_lanes_do_not_wait_for_each_other(jobs):
    gate = threading.Event()
    long = jobs.start(lambda p, c: {"waited": gate.wait(10)})["job"]
    behind = jobs.start(lambda p, c: {})["job"]
    assert finished(jobs, jobs.start(lambda p, c: {}, Lane.QUICK)["job"]) == {"result": {}}
    jobs.cancel(behind)
    assert jobs.poll(behind) == {"cancelled": True}
    gate.set()
    assert finished(jobs, long) == {"result": {"waited": True}}


def test_callers_without_a_key_get_the_result_or_the_error(jobs):
    assert jobs.run(lambda p, c: {"answer": 42}) == {"answer": 42}

    def refuse(progress: Progress, cancelled) -> Payload:
        raise Refusal("some.code", "Not like this.")

    with pytest.raises(Refusal, match="Not like this"):
        jobs.run(refuse)
    assert not jobs._jobs


def test_an_answer_that_was_fetched_goes_before_one_that_was_not(jobs, monkeypatch):
    monkeypatch.setattr(jobs_module, "KEPT_BYTES", 2500)
    keys = [jobs.start(lambda p, c: {"file": "x" * 1000})["job"] for _ in range(2)]
    for key in keys:
        jobs._find(key).future.result(10)
    jobs.poll(keys[1])
    finished(jobs, jobs.start(lambda p, c: {"file": "x" * 1000})["job"])
    finished(jobs, jobs.start(lambda p, c: {})["job"])
    assert "result" in jobs.poll(keys[0])
    with pytest.raises(Refusal, match="no longer knows"):
        jobs.poll(keys[1])
