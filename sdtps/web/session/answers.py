"""From work to an answer that a page can show: what it asked for, or one sentence."""

import logging
from collections.abc import Callable
from typing import Any

from sdtps.support.errors import LensError, sentence
from sdtps.support.messages import as_note
from sdtps.types import Payload

log = logging.getLogger(__name__)


def answered(work: Callable[[], Payload], zone: str | None = None) -> Payload:
    """The answer, or one sentence; whatever goes wrong, the page gets something it can show.

    Args:
        work: makes the answer.
        zone: the part of the page that a failure concerns, where the failure does not say it itself.
    """
    try:
        return work()
    except Exception as error:
        return failure(error, zone)


def failure(error: Exception, zone: str | None = None) -> dict[str, Any]:
    """One sentence; what is not an error of our own also goes into the log."""
    if not isinstance(error, LensError):
        log.exception("A request failed.")
    place = getattr(error, "zone", None) or getattr(error, "modality", None) or zone
    return {"error": as_note(sentence(error)), "zone": place, "expired": list(getattr(error, "expired", ()))}
