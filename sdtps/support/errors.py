"""What goes wrong, as one sentence each: the program's own errors, and one translator for all others."""

import errno
from typing import Any

from sdtps.support.messages import Message, plain

FULL = (errno.ENOSPC, errno.EDQUOT)
UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
OUT_OF_MEMORY = ("OutOfMemoryError", "MemoryError")  # torch's own by name, so that this module needs no torch
LONGEST_SENTENCE = 2000


class LensError(ValueError):
    """Something that cannot be done: one sentence on what was wrong and what to do.

    Args:
        code: stable name of the sentence, or the whole `Message`.
        template: the English sentence, with `{name}` for values.
        **values: the values.

    Attributes:
        message: the sentence.
        modality: which of the three pictures it concerns, where it concerns one.
    """

    def __init__(self, code: str, template: str = "", **values: Any) -> None:
        self.message = code if isinstance(code, Message) else Message(code, template, **values)
        self.modality: str | None = None
        super().__init__(self.message)


class InputError(LensError):
    """A picture or image set that cannot be used."""


class CheckpointError(LensError):
    """Weights that cannot be used."""


class SettingsError(LensError):
    """Settings that do not exist, or that these weights cannot run."""


def sentence(error: BaseException) -> Message:
    """The sentence for an error; what it says itself is kept only where it was written for people."""
    if isinstance(error, LensError):
        return error.message
    if type(error).__name__ in OUT_OF_MEMORY or "can't allocate memory" in str(error):
        text = "There is not enough memory for this on the device; try again, or choose smaller weights or the CPU."
        return Message("server.memory", text)
    if isinstance(error, OSError) and error.errno in FULL:
        return Message("disk.full", "The disk is full, so nothing was written; free some space and try again.")
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return Message("disk.unwritable", "The folder cannot be written to; choose another or change its permissions.")
    return Message("server.failed", "The server could not finish this; try again.")


def full_sentence(error: BaseException) -> Message:
    """The same with the picture that it concerns, for readers who do not see it stand beside that picture."""
    modality = getattr(error, "modality", None)
    message = sentence(error)
    return Message("input.of", "{modality}: {note}", modality=modality.upper(), note=message) if modality else message


def owner_sentence(error: Exception) -> str | None:
    """What the owner of the machine may be told besides: paths, and plain errors in their own words; None for bugs."""
    message = full_sentence(error)
    if message.code not in ("server.failed", "disk.unwritable"):
        return message
    if isinstance(error, OSError) and error.strerror:
        return plain(f"{error.strerror}: {error.filename}" if error.filename else error.strerror)
    if type(error) in (ValueError, FileNotFoundError, RuntimeError, OSError) and str(error):
        return plain(str(error), LONGEST_SENTENCE)
    return None
