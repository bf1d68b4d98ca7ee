"""Checkpoints that cannot be shown rightly: refused by the name of the part, or taken apart where the user insists."""

import re
from collections.abc import Mapping

from torch import Tensor

from sdtps.checkpoints.families.editions import Edition
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import Message

BEFORE = (
    (r"(rgb|nir|tir)_sacr\.", "SACR (one per modality)"),
    (r"sacr\.", "SACR"),
    (r"multimodal_sacr\.", "SACR (across modalities)"),
    (r"lif(_loss)?\.", "LIF"),
)


def refuse_or_note(name: str, rest: Mapping[str, Tensor], edition: Edition, force: bool) -> list[Message]:
    """Refuse what would be shown wrongly; where the user insists, say what is left out instead.

    Args:
        name: of the file.
        rest: its tensors under DeMo's names, without the backbone.
        edition: of its selector.
        force: show what can be shown.
    """
    problems = [m for m in (_before(name, rest), edition.refusal) if m is not None]
    if problems and not force:
        raise RefusedError(problems[0])
    return problems


class RefusedError(CheckpointError):
    """A checkpoint whose maps would not be those of its training; the user may insist."""

    def __init__(self, why: Message) -> None:
        super().__init__("weights.refused", "{why} Load it anyway with --force to see its backbone alone.", why=why)


def _before(name: str, rest: Mapping[str, Tensor]) -> Message | None:
    for pattern, what in BEFORE:
        found = next((k for k in rest if re.match(pattern, k)), None)
        if found is not None:
            text = "{name!r} has {what} ({tensor}): this part changes the patches before SDTPS and is not run here."
            return Message("weights.before", text, name=name, what=what, tensor=found)
    return None
