"""What a failure is called when it reaches a person: one sentence for lack of memory, a full disk, and all the rest."""

import errno

import torch

from sdtps.support.messages import CheckpointError, InputError, Message

FULL = (errno.ENOSPC, errno.EDQUOT)
UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


def sentence(error: BaseException) -> Message:
    """The sentence for an error; what it says itself is kept only where it was written for people."""
    if isinstance(error, InputError | CheckpointError):
        return error.message
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or "can't allocate memory" in str(error):
        text = "There is not enough memory for this on the device; try again, or choose smaller weights or the CPU."
        return Message("server.memory", text)
    if isinstance(error, OSError) and error.errno in FULL:
        return Message("disk.full", "The disk is full, so nothing was written; free some space and try again.")
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return Message("disk.unwritable", "The folder cannot be written to; choose another or change its permissions.")
    return Message("server.failed", "The server could not finish this; try again.")
