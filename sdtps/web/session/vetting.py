"""Checkpoints of strangers are loaded and run once in a process of its own, before this one opens them."""

from functools import lru_cache
from pathlib import Path

from sdtps.support.confined import Overran, Pool
from sdtps.support.messages import Message
from sdtps.web.session.requests import Refusal

SECONDS, PROCESSOR_SECONDS = 120.0, 60.0
MEGABYTES = 4096  # each file gets its own, smaller bound


@lru_cache(maxsize=1)
def examiners() -> Pool:
    """The worker; it starts when the first checkpoint comes, for it has to import torch."""
    limits = {"megabytes": MEGABYTES, "seconds": PROCESSOR_SECONDS, "most": 0}
    return Pool("sdtps.web.session.vet_worker", bare=False, size=1, seconds=SECONDS, most=0, limits=limits)


def vet(path: Path, *, force: bool = False) -> None:
    """Refuse a checkpoint that cannot be loaded and run within bounds."""
    try:
        found, _ = examiners().call({"call": "vet", "path": str(path), "force": force})
    except Overran as overran:
        raise _refusal(overran.why, path.name) from None
    if "overran" in found:
        raise _refusal(found["overran"], path.name)
    if "error" in found:
        note = found["error"]
        raise Refusal(Message.restored(str(note["code"]), str(note["text"]), dict(note["values"])))


def _refusal(why: str, name: str) -> Refusal:
    if why == "time":
        text = "{name!r} takes more than {seconds} seconds to load and run once, so it was not loaded."
        return Refusal("weights.slow", text, name=name, seconds=int(PROCESSOR_SECONDS))
    text = "{name!r} needs far more memory than its size explains, so it was not loaded; save the state dict alone."
    return Refusal("weights.heavy", text, name=name)
