"""The named variants of SDTPS: one implementation, and what each name switches.

A variant says only *what differs*; the stages read it. `V2`...`V9` are the labels of the public history that each
one reproduces: the SEPS code (V2), its paper version (V3) and the multi-modal re-identification modules (V4 to V9).
"""

from dataclasses import dataclass
from enum import StrEnum

from sdtps.support.errors import SettingsError


class Score(StrEnum):
    """How the patch score is put together."""

    FUSED = "fused"  # equation 3: predictor, self and cross attention, min-max normalised, mixed by beta
    COSINES = "cosines"  # plain sum of the raw cosines: no predictor, no norm, no beta


class Aggregation(StrEnum):
    """How kept patches become aggregated tokens."""

    NONE = "none"  # the kept patches are handed on as they are
    SINGLE = "single"  # one weight network
    DUAL = "dual"  # equation 4: two branches, one per cross-modality, added


class Decision(StrEnum):
    """What reaches the aggregation logits besides the weight network."""

    NONE = "none"
    MASK_1E10 = "mask-1e10"  # logits - (1 - D) * 1e10, with D straight-through while training
    IMPORTANCE = "importance"  # logits + log softmax of the kept scores


@dataclass(frozen=True)
class Variant:
    """One named way to run SDTPS.

    Attributes:
        name: the public name.
        label: version label in the public history.
        summary: one plain sentence on what differs and why.
        score: how the score is put together.
        self_from_mean: self-attention compares with the mean patch instead of the modality's global vector.
        aggregation: how kept patches are blended.
        decision: what enters the aggregation logits.
        detach_attention: whether the cosines are cut from the gradient unless the caller says otherwise.
        detach_tokens: whether the selected and extra tokens are cut from the gradient, too.
        global_token: final tokens are L2-normalised and start with the modality's global vector.
    """

    name: str
    label: str
    summary: str
    score: Score = Score.FUSED
    self_from_mean: bool = False
    aggregation: Aggregation = Aggregation.SINGLE
    decision: Decision = Decision.NONE
    detach_attention: bool = False
    detach_tokens: bool = False
    global_token: bool = False

    @property
    def needs_predictor(self) -> bool:
        """Whether the score reads the predictor."""
        return self.score is Score.FUSED

    @property
    def needs_aggregation(self) -> bool:
        """Whether a weight network blends the kept patches."""
        return self.aggregation is not Aggregation.NONE


DEFAULT_VARIANT = "final"

VARIANTS: dict[str, Variant] = {
    v.name: v
    for v in (
        Variant(
            "open-source",
            "V2",
            "The public SEPS code: a plain sum of cosines, no predictor, no beta; nothing flows back to the patches.",
            score=Score.COSINES,
            self_from_mean=True,
            detach_attention=True,
            detach_tokens=True,
            global_token=True,
        ),
        Variant(
            "paper",
            "V3",
            "The paper's equations: predictor and beta, and two aggregation branches that are added.",
            self_from_mean=True,
            aggregation=Aggregation.DUAL,
            detach_attention=True,
        ),
        Variant(
            "first",
            "V4",
            "The first multi-modal module: the kept patches are handed on as they are, without aggregation.",
            aggregation=Aggregation.NONE,
        ),
        Variant(
            "complete-gumbel",
            "V5/V7",
            "The complete module with Gumbel noise in training: the same picture, but gradients amplified by 1e10.",
            decision=Decision.MASK_1E10,
        ),
        Variant(
            "final",
            "V8",
            "The decision that stayed: deterministic top-K and no Gumbel; only dropped patches teach the predictor.",
        ),
        Variant(
            "importance",
            "V9",
            "Kept scores enter the aggregation as log-importance: a smooth gradient reaches every kept patch.",
            decision=Decision.IMPORTANCE,
        ),
    )
}


def get_variant(name: str) -> Variant:
    """The variant of that name, or a sentence that lists the names."""
    try:
        return VARIANTS[name]
    except KeyError:
        text = "There is no variant {name!r}; choose one of {names}."
        raise SettingsError("settings.variant", text, name=name, names=", ".join(VARIANTS)) from None
