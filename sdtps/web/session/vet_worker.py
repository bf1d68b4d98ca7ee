"""A worker that loads a checkpoint and runs it once: what it survives, the server survives. `vetting` starts it."""

from pathlib import Path
from typing import Any

import numpy as np

from sdtps.checkpoints.load import load_checkpoint, ready
from sdtps.images.read import Prepared
from sdtps.pipeline import OpenSet
from sdtps.support.confinement import MEGABYTE, allow_megabytes, serve
from sdtps.support.errors import LensError, sentence
from sdtps.support.messages import as_note
from sdtps.types import MODALITIES

SPARE_MEGABYTES = 768  # for what a model needs while it runs
COPIES = 6  # of a file, while it is read, checked, widened and built
GREY = 128


def vet(head: dict[str, Any], _content: bytes) -> tuple[dict[str, Any], bytes]:
    """Load, build, analyse a grey picture; a sentence where that does not work."""
    path = Path(head["path"])
    allow_megabytes(SPARE_MEGABYTES + COPIES * path.stat().st_size // MEGABYTE)
    try:
        model = ready(*load_checkpoint(path, force=bool(head["force"])), "cpu")
        pixels = np.full((*model.net.backbone.input_size, 3), GREY, np.uint8)
        OpenSet(model, Prepared({str(m): pixels for m in MODALITIES})).analyse()
    except LensError as error:
        return {"error": as_note(error.message)}, b""
    except RuntimeError as error:
        if sentence(error).code != "server.memory":
            raise
        return {"overran": "memory"}, b""
    return {}, b""


def main() -> None:
    """Serve."""
    serve({"vet": vet})
