"""What the page can ask besides analyses and slider moves: one table of named tasks, each area adds its own."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sdtps.web.session.requests import malformed
from sdtps.web.session.tasks import browse, exports, ranks, weights, why

if TYPE_CHECKING:
    from sdtps.web.session.session import Workbench

Payload = dict[str, Any]
Fields = Mapping[str, Any]
Task = Callable[["Workbench", Fields], Payload]


def answer_task(workbench: "Workbench", data: object) -> Payload:
    """Run the task that a request names."""
    if not isinstance(data, Mapping) or not isinstance(data.get("task"), str) or data["task"] not in TASKS:
        raise malformed()
    return TASKS[data["task"]](workbench, data)


TASKS: dict[str, Task] = {
    "job.poll": lambda workbench, fields: workbench.jobs.poll(fields.get("job")),
    "job.cancel": lambda workbench, fields: workbench.jobs.cancel(fields.get("job")),
    **browse.TASKS,
    **ranks.TASKS,
    **weights.TASKS,
    **why.TASKS,
    **exports.TASKS,
}
