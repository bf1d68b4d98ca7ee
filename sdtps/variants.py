"""The named variants: what each name switches, which settings it reads, and which maps it shows. Data only.

`V2`...`V10` are the labels of the public history that each one reproduces: the SEPS code (V2), its paper version (V3)
and the multi-modal re-identification modules (V4 to V10). Further selectors register their names here, so that
settings can be checked before any network is built.
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
    """What reaches the aggregation besides the weight network."""

    NONE = "none"
    MASK_1E10 = "mask-1e10"  # logits - (1 - D) * 1e10, with D straight-through while training
    IMPORTANCE = "importance"  # logits + log softmax of the kept scores
    SOFT = "soft"  # while training: all patches, logits + log softmax((s + Gumbel) / tau), and no extra token
    TOKENS = "tokens"  # while training: kept tokens times the straight-through D


class Group(StrEnum):
    """Where a map stands between the picture and the feature."""

    EVIDENCE = "evidence"
    DECISION = "decision"
    OUTPUT = "output"
    WHAT_IF = "what-if"


@dataclass(frozen=True)
class Knob:
    """A number that a selector reads besides the common settings; it becomes a slider.

    Attributes:
        name: key in `Settings.knobs`.
        symbol: as in the equation.
        low, high, step: of the slider; both ends are allowed.
        default: where neither the settings nor the weights say it.
        words: what it does, in a few words.
    """

    name: str
    symbol: str
    low: float
    high: float
    step: float
    default: float
    words: str


@dataclass(frozen=True)
class MapSpec:
    """A map that a selector shows, (N,) numbers per modality.

    Attributes:
        name: of the panel; `self`, `cross1`, `cross2`, `predictor`, `score`, `kept`, `aggregation`, `soft` and
            `frequency` are fields of the trace, every other name is a key of its `maps`.
        group: where it stands.
        symbol, equation: with `_{}` and `^{}` for lower and upper indices.
        low, high: bounds that the equation gives; None means that the values decide.
        words: its title, where no text of that name exists.
    """

    name: str
    group: Group
    symbol: str
    equation: str
    low: float | None = 0.0
    high: float | None = 1.0
    words: str = ""


COMMON = ("sparse_ratio", "aggr_ratio", "beta", "tau")  # settings that a selector may read


@dataclass(frozen=True)
class Variant:
    """One named way to select patches.

    Attributes:
        name: the public name, as in commands and links.
        label: version label in the public history.
        summary: one plain sentence on what differs and why.
        score: how the score is put together.
        self_from_mean: self-attention compares with the mean patch instead of the modality's global vector.
        aggregation: how kept patches are blended.
        decision: what enters the aggregation logits.
        detach_attention: whether the cosines are cut from the gradient unless the caller says otherwise.
        detach_tokens: whether the selected and extra tokens are cut from the gradient, too.
        global_token: final tokens are L2-normalised and start with the modality's global vector.
        selector: which selector runs it; `sdtps` is the module that the fields above switch.
        reads: common settings that it reads; the others change nothing.
        knobs: numbers of its own that it reads besides.
        maps: what it shows, in this order; empty for the panels of SDTPS.
        soft: nothing is dropped; every patch is weighed by its mask.
        title: a plain name for readers; empty where the public name is all there is.
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
    selector: str = "sdtps"
    reads: tuple[str, ...] = COMMON
    knobs: tuple[Knob, ...] = ()
    maps: tuple[MapSpec, ...] = ()
    soft: bool = False
    title: str = ""

    @property
    def plain_name(self) -> str:
        """What readers call it: "Default (final)", or the name alone where there is no other."""
        return f"{self.title} ({self.name})" if self.title else self.name

    @property
    def needs_predictor(self) -> bool:
        """Whether the score reads the predictor."""
        return self.selector == "sdtps" and self.score is Score.FUSED

    @property
    def needs_aggregation(self) -> bool:
        """Whether a weight network blends the kept patches."""
        return self.selector == "sdtps" and self.aggregation is not Aggregation.NONE

    def trains_at_tau(self, gumbel: bool) -> bool:
        """Whether tau shapes the training; without Gumbel noise the 1e10 mask falls away, and its tau with it."""
        return self.decision in (Decision.SOFT, Decision.TOKENS) or (gumbel and self.decision is Decision.MASK_1E10)

    def knob(self, name: str) -> Knob | None:
        """The knob of that name, if it has one."""
        return next((k for k in self.knobs if k.name == name), None)


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
            reads=("sparse_ratio", "aggr_ratio", "tau"),
            title="Public SEPS code",
        ),
        Variant(
            "paper",
            "V3",
            "The paper's equations: predictor and beta, and two aggregation branches that are added.",
            self_from_mean=True,
            aggregation=Aggregation.DUAL,
            detach_attention=True,
            title="As in the paper",
        ),
        Variant(
            "first",
            "V4",
            "The first multi-modal module: the kept patches are handed on as they are, without aggregation.",
            aggregation=Aggregation.NONE,
            reads=("sparse_ratio", "beta", "tau"),
            title="First module, no aggregation",
        ),
        Variant(
            "complete-gumbel",
            "V5/V7",
            "The complete module with Gumbel noise in training: the same picture, but gradients amplified by 1e10.",
            decision=Decision.MASK_1E10,
            title="With Gumbel training",
        ),
        Variant(
            "final",
            "V8",
            "Plain top-K, no noise; only dropped patches teach the predictor.",
            title="Default",
        ),
        Variant(
            "importance",
            "V9",
            "Kept scores enter the aggregation as log-importance: a smooth gradient reaches every kept patch.",
            decision=Decision.IMPORTANCE,
            title="Scores weigh aggregation",
        ),
        Variant(
            "gumbel-soft",
            "plan A",
            "Trained with soft weights over all patches instead of a choice; at test time plain top-K, as by default.",
            decision=Decision.SOFT,
            title="Soft training",
        ),
        Variant(
            "ste-tokens",
            "plan B",
            "The decision weighs tokens, not logits: the default's picture, a gradient of natural size at every score.",
            decision=Decision.TOKENS,
            title="Straight-through tokens",
        ),
        Variant(
            "soft",
            "V10",
            "Soft SDTPS: nothing is dropped; every patch is multiplied by a mask between 0 and 1.",
            selector="soft",
            reads=("sparse_ratio",),
            knobs=(
                Knob("mask_tau", "τₘ", 0.02, 1.0, 0.01, 0.3, "temperature of the mask; small is nearly hard"),
                Knob("hard", "h", 0.0, 1.0, 1.0, 0.0, "1 keeps the best patches and drops the rest"),
            ),
            maps=(
                MapSpec("self", Group.EVIDENCE, "s_{self}", "s_{self} = σ( z( a(p_{i}, g_{m}) ) )"),
                MapSpec("cross1", Group.EVIDENCE, "s_{c1}", "s_{c1} = σ( z( a(p_{i}, g_{A}) ) )"),
                MapSpec("cross2", Group.EVIDENCE, "s_{c2}", "s_{c2} = σ( z( a(p_{i}, g_{B}) ) )"),
                MapSpec("score", Group.DECISION, "s", "s = w_{0} s_{self} + w_{1} s_{c1} + w_{2} s_{c2}"),
                MapSpec("weight", Group.DECISION, "m", "m = σ( (s − Q_{1−ρ}(s)) / τ_{m} )"),
            ),
            soft=True,
            title="Soft mask",
        ),
        Variant(
            "sim",
            "Signal",
            "Signal's selective interaction: what the own global or another modality's marks is kept, as a union.",
            selector="sim",
            reads=(),
            knobs=(
                Knob("k", "k", 1.0, 256.0, 1.0, 64.0, "patches that each global marks in its own modality"),
                Knob("keep_ratio", "r", 0.0, 1.0, 0.01, 0.0, "exact share that stays; 0 leaves the union as it is"),
            ),
            maps=(
                MapSpec("self", Group.EVIDENCE, "g·p", "g_{m} · p_{i} / √C", None, None),
                MapSpec(
                    "cross1",
                    Group.EVIDENCE,
                    "S_{A}",
                    "S_{A} = softmax_{3N}( W_{q} g_{A} · W_{k} p_{i} / √C )",
                    0.0,
                    None,
                ),
                MapSpec(
                    "cross2",
                    Group.EVIDENCE,
                    "S_{B}",
                    "S_{B} = softmax_{3N}( W_{q} g_{B} · W_{k} p_{i} / √C )",
                    0.0,
                    None,
                ),
                MapSpec("kept", Group.DECISION, "M", "M = top-k(g_{m}·p) ∪ marks of g_{A} ∪ marks of g_{B}"),
                MapSpec(
                    "attention", Group.OUTPUT, "A", "A = mean attention of g_{r}, g_{n}, g_{t} over 3N rows", 0.0, None
                ),
            ),
            title="Signal: union of marks",
        ),
    )
}
SDTPS_VARIANTS = tuple(name for name, v in VARIANTS.items() if v.selector == "sdtps")


def register_variant(variant: Variant) -> None:
    """Add a further selector's name; a name that is taken is refused."""
    if variant.name in VARIANTS:
        text = "There is a variant {name!r} already; choose another name."
        raise SettingsError("settings.variant_taken", text, name=variant.name)
    VARIANTS[variant.name] = variant


def get_variant(name: str) -> Variant:
    """The variant of that name, or a sentence that lists the names."""
    try:
        return VARIANTS[name]
    except KeyError:
        text = "There is no variant {name!r}; choose one of {names}."
        raise SettingsError("settings.variant", text, name=name, names=", ".join(VARIANTS)) from None
