"""What weights say of themselves: what they were trained on and by which losses, in plain sentences per language.

A checkpoint brings it in its metadata (`about`, JSON text) or in a file beside it, `NAME.about.json`, which names the
hash of the weights that it speaks of. Weights without either have no description, and none is made up for them.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sdtps.support.messages import plain

BESIDE = ".about.json"
PARTS = ("line", "data", "losses")  # one line for figures, what it was trained on, what shaped its maps
LANGUAGES = ("en", "zh")
LONGEST = 1200  # characters of a part
MOST_BYTES = 20_000

About = dict[str, dict[str, str]]


def read_about(path: Path | None, sha256: str, metadata: Mapping[str, str]) -> About:
    """The description of some weights, by language and part; empty where there is none.

    Args:
        path: the checkpoint, where it is a file.
        sha256: its hash; a file beside it that speaks of other weights is left alone.
        metadata: strings stored beside its tensors.
    """
    inside = _parsed(metadata.get("about", ""))
    if inside:
        return checked_about(inside)
    beside = path.with_suffix(BESIDE) if path is not None else None
    if beside is None or not beside.is_file() or beside.stat().st_size > MOST_BYTES:
        return {}
    told = _parsed(beside.read_text(encoding="utf-8", errors="replace"))
    return checked_about(told) if told.get("sha256") == sha256 else {}


def checked_about(told: Mapping[str, Any]) -> About:
    """Only known languages and parts, as plain text of bounded length; nothing without English."""
    found: About = {}
    for language in LANGUAGES:
        parts = told.get(language)
        if isinstance(parts, Mapping):
            texts = {part: parts[part] for part in PARTS if isinstance(parts.get(part), str)}
            found[language] = {part: plain(text, LONGEST) for part, text in texts.items()}
    return found if found.get("en") else {}


def _parsed(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text) if text else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
