"""Work that takes longer than a moment: started, watched and cancelled by key.

Each visitor has a share of the places, and those who wait take turns. Work ends when it is cancelled, when its time is
up, or when nobody has asked for it for a while.
"""

import asyncio
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from enum import StrEnum

from sdtps.support.progress import Progress
from sdtps.types import Payload
from sdtps.web.session.answers import failure
from sdtps.web.session.requests import Refusal
from sdtps.web.session.visitor import visitor

Work = Callable[[Progress, Callable[[], bool]], Payload]

WAITING = 32  # jobs of a lane that are not finished
SHARE = 8  # of these for one session
ADDRESS_SHARE = 24  # and for all sessions of one address: a class can sit behind it
KEPT = 64  # finished jobs whose answer may still be fetched
KEPT_BYTES = 64 * 1024 * 1024  # of those answers, as JSON
ABANDONED = 180.0  # seconds without a question, after which nobody wants it; a hidden tab asks once a minute
STEP = 5.0  # seconds between two signs that somebody waits


class Lane(StrEnum):
    """Jobs of one lane take turns: the processor belongs to the sliders first."""

    QUICK = "quick"  # figures and bundles, which must not wait for an hour of indexing
    LONG = "long"
    GALLERY = "gallery"  # a whole data set; what is done is kept, and nothing else waits for it
    FILES = "files"  # pictures and bundles that are being opened
    WEIGHTS = "weights"  # checkpoints that are being looked through


AT_ONCE = {Lane.FILES: 2}  # one in the other lanes
HOUR = 3600.0
# That a job may take once it runs.
SECONDS = {Lane.QUICK: 60.0, Lane.LONG: 600.0, Lane.GALLERY: 6 * HOUR, Lane.FILES: 60.0, Lane.WEIGHTS: 600.0}


class Cancelled(Exception):
    """Raised by work that noticed that nobody wants it any more."""


class Job:
    """One piece of long work and where it stands.

    Args:
        work: called with a report of progress, and a question whether to stop.
        lane: that it waits in; decides how long it may take.
    """

    def __init__(self, work: Work, lane: Lane) -> None:
        self.work = work
        self.visitor = visitor().name
        self.context = copy_context()
        self.lane = lane
        self.done, self.total = 0, 0
        self.bytes = 0  # of the answer
        self.fetched = False
        self.stop = threading.Event()
        self.future: Future[Payload] = Future()
        self.error: Exception | None = None
        self.asked = time.monotonic()
        self._deadline = float("inf")  # until it runs

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """Its address, and its address with its session."""
        return self.visitor[:1], self.visitor

    @property
    def late(self) -> bool:
        """Whether its time is up."""
        return time.monotonic() > self._deadline

    @property
    def unwanted(self) -> bool:
        """Whether it was cancelled, or nobody asks for it any more."""
        return self.stop.is_set() or time.monotonic() - self.asked > ABANDONED

    def progress(self, done: int, total: int) -> None:
        """Say how far it is; the place where a job ends that is not wanted or takes too long."""
        if self.unwanted:
            raise Cancelled
        if self.late:
            raise too_slow(self.lane)
        self.done, self.total = done, total

    def run(self) -> None:
        """Do it; its future gets `result`, `error` or `cancelled`."""
        self._deadline = time.monotonic() + SECONDS[self.lane]
        try:
            self.progress(0, 0)
            answer: Payload = {"result": self.work(self.progress, lambda: self.unwanted or self.late)}
            self.bytes = len(json.dumps(answer, default=str))
        except Cancelled:
            answer = {"cancelled": True}
        except Exception as error:
            self.error = error
            answer = {"error": failure(error)["error"]}
        self.future.set_result(answer)


class Jobs:
    """Long work with bounded places, bounded memory, and turns."""

    def __init__(self) -> None:
        self._pools = {
            lane: ThreadPoolExecutor(AT_ONCE.get(lane, 1), thread_name_prefix=f"lens-job-{lane}") for lane in Lane
        }
        self._waiting: dict[Lane, list[Job]] = {lane: [] for lane in Lane}
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._served: OrderedDict[tuple[str, ...], float] = OrderedDict()  # addresses and sessions, and when
        self._lock = threading.Lock()

    def start(self, work: Work, lane: Lane = Lane.LONG) -> Payload:
        """Queue `work(progress, cancelled)`; the answer holds the key to ask for it."""
        key = secrets.token_urlsafe(12)
        self._add(key, Job(work, lane))
        return {"job": key}

    def run(self, work: Work, lane: Lane = Lane.LONG) -> Payload:
        """Queue work and wait for what it makes, as callers without a key do; raises what it raised."""
        job, key = Job(work, lane), secrets.token_urlsafe(12)
        self._add(key, job)
        while not job.future.done():
            job.asked = time.monotonic()
            wait([job.future], STEP)
        self._jobs.pop(key, None)
        if job.error is not None:
            raise job.error
        answer: Payload = job.future.result()
        if "result" not in answer:
            raise stopped()
        found: Payload = answer["result"]
        return found

    async def later(self, work: Callable[[], Payload], lane: Lane) -> Payload:
        """The same for a caller that must not take a thread while it waits; a failure becomes its answer."""
        job, key = Job(lambda _progress, _cancelled: work(), lane), secrets.token_urlsafe(12)
        try:
            self._add(key, job)
            answer = await asyncio.shield(asyncio.wrap_future(job.future))
        except Refusal as refused:
            return failure(refused)
        except asyncio.CancelledError:  # the visitor hung up
            job.stop.set()
            raise
        finally:
            self._jobs.pop(key, None)
        if "result" in answer:
            found: Payload = answer["result"]
            return found
        return failure(job.error or stopped())

    def poll(self, key: str) -> Payload:
        """`done` and `total` while it runs; then `result`, `error` or `cancelled`."""
        job = self._find(key)
        job.asked = time.monotonic()
        if job.future.done():
            job.fetched = True
            return job.future.result()
        if job.late:  # it is inside something that reports nothing
            job.stop.set()
            raise too_slow(job.lane)
        return {"done": job.done, "total": job.total}

    def cancel(self, key: str) -> Payload:
        """Ask a job to stop; one that waits is gone at once, one that runs stops at its next report of progress."""
        job = self._find(key)
        job.stop.set()
        with self._lock:
            for waiting in self._waiting.values():
                if job in waiting:
                    waiting.remove(job)
                    job.future.set_result({"cancelled": True})
        return {}

    def close(self) -> None:
        """Stop everything, for a clean end."""
        for job in list(self._jobs.values()):
            job.stop.set()
        for pool in self._pools.values():
            pool.shutdown(wait=False, cancel_futures=True)

    def _add(self, key: str, job: Job) -> None:
        lane = job.lane
        with self._lock:
            self._forget()
            unfinished = [j for j in self._jobs.values() if not j.future.done() and j.lane == lane]
            if len(unfinished) >= WAITING:
                raise Refusal("server.busy", "The server is busy; try again in a moment.")
            own = sum(j.visitor == job.visitor for j in unfinished)
            near = sum(j.visitor[0] == job.visitor[0] for j in unfinished)
            if job.visitor[0] and (own >= SHARE or near >= ADDRESS_SHARE):
                text = "{count} pieces of your work are under way already; wait for one of them, or stop one."
                raise Refusal("job.share", text, count=own if own >= SHARE else near)
            self._jobs[key] = job
            self._waiting[lane].append(job)
        self._pools[lane].submit(self._serve, lane)

    def _serve(self, lane: Lane) -> None:
        """Run the next job of a lane: the first of the address, and there the session, that waited longest."""
        with self._lock:
            if not self._waiting[lane]:  # cancelled since
                return
            job = min(self._waiting[lane], key=lambda j: [self._served.get(name, 0.0) for name in j.names])
            self._waiting[lane].remove(job)
            for name in job.names:
                self._served[name] = time.monotonic()
                self._served.move_to_end(name)
            while len(self._served) > 4 * WAITING:
                self._served.popitem(last=False)
        job.context.run(job.run)

    def _forget(self) -> None:
        """Drop answers until what is left is within both bounds: fetched ones first, then of whoever has the most."""
        finished = [(key, job) for key, job in self._jobs.items() if job.future.done()]
        count, held = len(self._jobs), sum(job.bytes for _, job in finished)
        per_visitor: dict[tuple[str, str], int] = {}
        for _, job in finished:
            per_visitor[job.visitor] = per_visitor.get(job.visitor, 0) + job.bytes
        for key, job in sorted(finished, key=lambda item: (not item[1].fetched, -per_visitor[item[1].visitor])):
            if count < KEPT and held <= KEPT_BYTES:
                return
            count, held = count - 1, held - self._jobs.pop(key).bytes
            per_visitor[job.visitor] -= job.bytes

    def _find(self, key: str) -> Job:
        job = self._jobs.get(key)
        if job is None:
            raise Refusal("job.unknown", "The server no longer knows this work; start it again.")
        return job


def stopped() -> Refusal:
    """The sentence for work that ended without a result."""
    return Refusal("job.cancelled", "The work was stopped before it was done; start it again.")


def too_slow(lane: Lane) -> Refusal:
    """The sentence for work whose time is up."""
    seconds = SECONDS[lane]
    if lane == Lane.GALLERY:
        text = "This took longer than the {hours:.0f} hours it may take here; what is done is kept, so start it again."
        return Refusal("job.hours", text, hours=seconds / HOUR)
    text = "This took longer than the {seconds:.0f} seconds it may take here and was stopped; ask for less."
    return Refusal("job.slow", text, seconds=seconds)
