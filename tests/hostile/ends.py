"""How a file ends in Python: taken, or the code of one plain sentence. Anything else is passed on and fails."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sdtps.checkpoints.load import load_checkpoint
from sdtps.export.bundle import read_bundle
from sdtps.images.read import read_picture
from sdtps.resources import PROJECT
from sdtps.support.errors import CheckpointError, InputError
from tests.hostile.bundles import BUNDLES
from tests.hostile.cases import GOOD, Case
from tests.hostile.checkpoints import CHECKPOINTS
from tests.hostile.configs import CONFIGS
from tests.hostile.pictures import PICTURES

LONGEST = 700
ROOT = PROJECT
SIGNS = ("Traceback", "site-packages", 'File "', "/tmp/", "/root/", "/home/", f"{ROOT}/", "0x7f", "\x1b", "\u202e")


def complaint(sentence: str) -> str | None:
    """What keeps a text from being one plain sentence for people."""
    if not sentence.endswith("."):
        return "does not end"
    if len(sentence) > LONGEST or not sentence.isprintable():
        return "is too long, or more than one line"
    return next((f"holds {sign!r}" for sign in SIGNS if sign in sentence), None)


def end_of(work: Callable[[], Any]) -> tuple[str, str]:
    """The end, and the sentence where there is one."""
    try:
        work()
    except (InputError, CheckpointError) as error:
        return error.message.code, str(error)
    return GOOD, ""


def read(kind: str, name: str, content: bytes, folder: Path) -> tuple[str, str]:
    """What Python does with a file that is not a picture; checkpoints and configurations are read from a folder."""
    if kind == "picture":
        return end_of(lambda: read_picture(content))
    if kind == "bundle":
        return end_of(lambda: read_bundle(content))
    file, weights = folder / name, folder / CHECKPOINTS[0].name
    file.write_bytes(content)
    if kind == "weights":
        return end_of(lambda: load_checkpoint(file))
    weights.write_bytes(CHECKPOINTS[0].make())
    return end_of(lambda: load_checkpoint(weights, config=file))


CORPUS: dict[str, tuple[Case, ...]] = {
    "picture": PICTURES,
    "bundle": BUNDLES,
    "weights": CHECKPOINTS,
    "config": CONFIGS,
}
ALL = [(kind, case) for kind, cases in CORPUS.items() for case in cases]
