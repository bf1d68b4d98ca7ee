"""Which weights made a picture, and what came of each part of their file."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class WeightsGroup:
    """One part of a checkpoint: what came of it.

    Attributes:
        name: `backbone`, `camera`, `reduction`, `predictor`, `aggregation`, `heads`, or a part that is not used here.
        loaded: tensors taken from the file.
        missing: tensors that the model has and the file lacks, or has in another shape.
        unexpected: tensors of the file that the model has no place for.
        unused: tensors of the file that are known and not needed for what is shown.
    """

    name: str
    loaded: int = 0
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True)
class WeightsReport:
    """Which weights made a picture, and whether they are all there.

    Attributes:
        name: file or model name.
        sha256: hash of the file, or of the values for a model made in memory.
        trained: False for random weights.
        loaded: number of tensors taken from the file.
        missing: tensors that the model has and the file lacks (left at their initial values), in the file's names.
        unexpected: tensors of the file that the model has no place for.
        notes: plain sentences about the load (resized, cast, ignored).
        family: `own`, `demo`, `demo-sdtps`, `demo-soft`, `signal`, `signal-sim`, `clip`, `vit` or `random`.
        groups: the same counts by part.
        unused: tensors of the file that are known and not needed for what is shown.
        absent: parts of SDTPS that the checkpoint does not have at all: `predictor`, `aggregation`.
        assumed: plain sentences on what the file does not say and was assumed.
        facts: what the shapes say: grid, input size, classes, cameras, rows and so on.
        settings: ratios, beta and tau of the training, where a configuration says them.
        about: what the weights say of themselves, by language and part (`sdtps.checkpoints.about`); mostly nothing.
    """

    name: str
    sha256: str
    trained: bool
    loaded: int
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    family: str = "own"
    groups: tuple[WeightsGroup, ...] = ()
    unused: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, float] = field(default_factory=dict)
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def short_hash(self) -> str:
        """First eight characters of the hash, for captions."""
        return self.sha256[:8]

    @property
    def complete(self) -> bool:
        """True when the model is trained and nothing of it was left at random values."""
        return self.trained and not self.missing

    @property
    def compared(self) -> int | None:
        """How many channels of a vector people are recognised by; None where it is not known, which means all."""
        return self.facts.get("compared")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        sentences = {"notes": [str(n) for n in self.notes], "assumed": [str(n) for n in self.assumed]}
        names = {k: list(getattr(self, k)) for k in ("missing", "unexpected", "unused", "absent")}
        return {
            "name": self.name,
            "sha256": self.sha256,
            "short_hash": self.short_hash,
            "family": self.family,
            "trained": self.trained,
            "complete": self.complete,
            "loaded": self.loaded,
            **names,
            "groups": [asdict(g) for g in self.groups],
            "facts": dict(self.facts),
            "settings": dict(self.settings),
            "about": {language: dict(parts) for language, parts in self.about.items()},
            **sentences,
        }
