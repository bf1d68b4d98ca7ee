"""What the page can ask besides analyses and slider moves: one table of named tasks, each area adds its own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sdtps.types import Payload
from sdtps.web.session.requests import Name, Request, malformed
from sdtps.web.session.tasks import browse, cases, explain, exports, matters, ranks, runs, weights, why
from sdtps.web.session.tasks.task import Task

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend


class JobRequest(Request):
    """Which job is meant."""

    job: Name


TASKS: dict[str, Task] = {
    "job.poll": Task(JobRequest, lambda backend, request: backend.jobs.poll(request.job)),
    "job.cancel": Task(JobRequest, lambda backend, request: backend.jobs.cancel(request.job)),
    **browse.TASKS,
    **ranks.TASKS,
    **explain.TASKS,
    **matters.TASKS,
    **cases.TASKS,
    **weights.TASKS,
    **why.TASKS,
    **runs.TASKS,
    **exports.TASKS,
}


def answer_task(backend: "PageBackend", data: object) -> Payload:
    """Run the task that a request names."""
    name = data.get("task") if isinstance(data, Mapping) else None
    if not isinstance(name, str) or name not in TASKS:
        raise malformed()
    task = TASKS[name]
    return task.run(backend, task.request.parse(data))
