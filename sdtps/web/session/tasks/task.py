"""A named task of the page: the request it takes, and what answers it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from sdtps.types import Payload
from sdtps.web.session.requests import Request

if TYPE_CHECKING:
    from sdtps.web.session.backend import PageBackend


class Task(NamedTuple):
    """The model that checks a request, and the function of backend and request that answers it."""

    request: type[Request]
    run: Callable[["PageBackend", Any], Payload]
