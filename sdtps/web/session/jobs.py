"""Work that takes longer than a moment: started, watched and cancelled by key."""

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from sdtps.support.progress import Progress
from sdtps.types import Payload
from sdtps.web.session.answers import failure
from sdtps.web.session.requests import Refusal

Work = Callable[[Progress, Callable[[], bool]], Payload]

WORKERS = 1  # long work shares the processor with the sliders, which come first
WAITING = 16
KEPT = 64  # finished jobs whose answer may still be fetched
KEPT_BYTES = 64 * 1024 * 1024  # of those answers, as JSON


class Cancelled(Exception):
    """Raised by work that noticed that nobody wants it any more."""


class Job:
    """One piece of long work and where it stands."""

    def __init__(self) -> None:
        self.done, self.total = 0, 0
        self.bytes = 0  # of the answer
        self.stop = threading.Event()
        self.future: Future[Payload] = Future()

    def progress(self, done: int, total: int) -> None:
        """Say how far it is; the place where a cancelled job ends."""
        if self.stop.is_set():
            raise Cancelled
        self.done, self.total = done, total


class Jobs:
    """Long work, one after the other, with a bounded queue and bounded memory."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="lens-job")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()

    def start(self, work: Work) -> Payload:
        """Queue `work(progress, cancelled)`; the answer holds the key to ask for it."""
        job, key = Job(), secrets.token_urlsafe(12)
        with self._lock:
            if sum(not j.future.done() for j in self._jobs.values()) >= WAITING:
                raise Refusal("server.busy", "The server is busy; try again in a moment.")
            self._jobs[key] = job
            self._forget()
            job.future = self._pool.submit(self._run, job, work)
        return {"job": key}

    def poll(self, key: str) -> Payload:
        """`done` and `total` while it runs; then `result`, `error` or `cancelled`."""
        job = self._find(key)
        if not job.future.done():
            return {"done": job.done, "total": job.total}
        return job.future.result()

    def cancel(self, key: str) -> Payload:
        """Ask a job to stop; it does so at its next report of progress."""
        self._find(key).stop.set()
        return {}

    def close(self) -> None:
        """Stop everything, for a clean end."""
        for job in list(self._jobs.values()):
            job.stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _forget(self) -> None:
        """Drop the oldest answers until what is left is within both bounds."""
        held = sum(job.bytes for job in self._jobs.values())
        for key in [k for k, j in self._jobs.items() if j.future.done()]:
            if len(self._jobs) <= KEPT and held <= KEPT_BYTES:
                return
            held -= self._jobs.pop(key).bytes

    def _find(self, key: str) -> Job:
        job = self._jobs.get(key)
        if job is None:
            raise Refusal("job.unknown", "The server no longer knows this work; start it again.")
        return job

    @staticmethod
    def _run(job: Job, work: Work) -> Payload:
        try:
            job.progress(0, 0)
            answer = {"result": work(job.progress, job.stop.is_set)}
            job.bytes = len(json.dumps(answer, default=str))
            return answer
        except Cancelled:
            return {"cancelled": True}
        except Exception as error:
            return {"error": failure(error)["error"]}
