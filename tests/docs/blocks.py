"""The documents as a reader has them: their fenced blocks, in order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdtps.resources import PROJECT

DOCUMENTS = (
    "README.md",
    "README.zh-CN.md",
    "CONTRIBUTING.md",
    *sorted(path.relative_to(PROJECT).as_posix() for path in (PROJECT / "docs").rglob("*.md")),
)
FENCE = re.compile(r"^```(\w*)(?: norun: ([^\n`]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = ("python", "sh")


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        document: path from the repository's root.
        line: where it begins.
        language: what stands behind the fence.
        reason: why it cannot run everywhere; None where it runs.
        text: what is inside.
    """

    document: str
    line: int
    language: str
    reason: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks_of(document: str, root: Path = PROJECT) -> Iterator[Block]:
    """The blocks of one document."""
    text = (root / document).read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield Block(document, text[: found.start()].count("\n") + 1, found[1], found[2], found[3])


def commands_of(text: str) -> Iterator[str]:
    """The commands of a shell block, without comments; a line that ends in a backslash goes on."""
    for line in text.replace("\\\n", " ").splitlines():
        command = re.sub(r"(^|\s{2,})#.*$", "", line).strip()
        if command:
            yield command
