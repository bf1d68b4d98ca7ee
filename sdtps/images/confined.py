"""Pictures of strangers, decoded in a process of its own: the same pixels, notes and sentences as `read_picture`."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from sdtps.images import decode as px
from sdtps.images.read import MAX_BYTES, Fit, Picture, Triplet, as_triplet, check_size, cut_wide
from sdtps.support.confined import Overran, Pool
from sdtps.support.errors import InputError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES

WORKERS = 2
SECONDS, PROCESSOR_SECONDS = 20.0, 10.0
MEGABYTES = 900  # 40 megapixels with alpha, and a copy
MAX_PIXEL_BYTES = 3 * px.MAX_SIDE**2


@lru_cache(maxsize=1)
def decoders() -> Pool:
    """The workers of this process; they start when the first picture comes."""
    limits = {"megabytes": MEGABYTES, "seconds": PROCESSOR_SECONDS, "most": MAX_BYTES}
    return Pool("sdtps.images.worker", bare=True, size=WORKERS, seconds=SECONDS, most=MAX_PIXEL_BYTES, limits=limits)


def read_picture(content: bytes) -> Picture:
    """One image from the bytes of its file."""
    check_size(len(content))
    try:
        head, pixels = decoders().call({"call": "picture"}, content)
    except Overran as overran:
        raise _refusal(overran.why) from None
    if "overran" in head:
        raise _refusal(head["overran"])
    if "error" in head:
        raise InputError(_message(head["error"]))
    height, width = head["size"]
    array = np.frombuffer(pixels, np.uint8).reshape(height, width, 3)
    return Picture(array, tuple(_message(note) for note in head["notes"]))


def read_triplet(contents: Mapping[str, bytes | None], fit: Fit | str = Fit.STRETCH) -> Triplet:
    """Three images by modality, None for a missing one; refusals name the modality."""
    rgb, nir, tir = (contents[m] for m in MODALITIES)
    return as_triplet((rgb, nir, tir), read_picture, fit)


def read_wide(content: bytes, fit: Fit | str = Fit.STRETCH) -> Triplet:
    """One image of three side by side."""
    return cut_wide(read_picture(content), fit)


def _message(note: Mapping[str, Any]) -> Message:
    return Message.restored(str(note["code"]), str(note["text"]), dict(note["values"]))


def _refusal(why: str) -> InputError:
    if why == "time":
        text = "The image takes more than {seconds} seconds to decode; save it again as a plain PNG or JPEG."
        return InputError("input.slow", text, seconds=int(PROCESSOR_SECONDS))
    return InputError("input.heavy", "The image needs too much memory to decode; save it smaller and try again.")
