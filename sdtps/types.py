"""The records that travel through the program: plain, frozen, NumPy only."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.support.errors import SettingsError
from sdtps.support.shown import Shown, describe_analysis, describe_trace
from sdtps.variants import DEFAULT_VARIANT, VARIANTS, Variant, get_variant

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Payload = dict[str, Any]  # what travels as JSON


class Modality(StrEnum):
    """One of the three cameras; equal to its plain string (`Modality.RGB == "rgb"`)."""

    RGB = "rgb"
    NIR = "nir"
    TIR = "tir"

    @property
    def others(self) -> tuple["Modality", "Modality"]:
        """The two other modalities, in the reference order (rgb: nir, tir; nir: rgb, tir; tir: rgb, nir)."""
        first, second = (m for m in Modality if m is not self)
        return first, second


MODALITIES: tuple[Modality, ...] = tuple(Modality)


@dataclass(frozen=True)
class Grid:
    """Rows and columns of patches. It travels with the tokens and is never guessed from their number."""

    rows: int
    cols: int

    def __post_init__(self) -> None:
        if self.rows < 1 or self.cols < 1:
            raise ValueError(f"A grid needs at least one row and one column, not {self.rows}x{self.cols}.")

    def __iter__(self) -> Iterator[int]:
        return iter((self.rows, self.cols))

    @property
    def patches(self) -> int:
        """N, the number of patches."""
        return self.rows * self.cols

    def row_col(self, index: int) -> tuple[int, int]:
        """Row and column of a patch; patches are numbered row by row."""
        return divmod(index, self.cols)


@dataclass(frozen=True)
class Settings:
    """Everything a user can change without running the backbone again.

    Attributes:
        sparse_ratio: share of patches that is kept, in (0, 1]; K = max(1, ceil(N * sparse_ratio)).
        aggr_ratio: aggregated tokens per kept share, in (0, 1]; N_c = int(N * aggr_ratio * sparse_ratio).
        beta: weight of the attention maps in the score, in [0, 0.5]; the predictor has 1 - 2 * beta.
        tau: temperature of the soft decision and of the Gumbel draws, above 0. It never changes the kept set.
        variant: a name of `sdtps.variants.VARIANTS`.
        draws: number of Gumbel top-K draws behind the selection frequency.
        seed: seed of those draws.
        knobs: numbers that the variant reads besides, by name; what is not given is as the weights were trained.
    """

    sparse_ratio: float = 0.5
    aggr_ratio: float = 0.4
    beta: float = 0.25
    tau: float = 1.0
    variant: str = DEFAULT_VARIANT
    draws: int = 64
    seed: int = 0
    knobs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_knobs(get_variant(self.variant))
        for name in ("sparse_ratio", "aggr_ratio"):
            if not 0.0 < getattr(self, name) <= 1.0:
                text = "{name} must lie above 0 and at most at 1, not at {value}."
                raise SettingsError("settings.ratio", text, name=name, value=getattr(self, name))
        if not 0.0 <= self.beta <= 0.5:
            raise SettingsError("settings.beta", "beta must lie between 0 and 0.5, not at {value}.", value=self.beta)
        if not (self.tau > 0.0 and math.isfinite(self.tau)):
            raise SettingsError("settings.tau", "tau must be a number above 0, not {value}.", value=self.tau)
        if not 1 <= self.draws <= 100_000:
            raise SettingsError(
                "settings.draws", "draws must lie between 1 and 100000, not at {value}.", value=self.draws
            )

    def _check_knobs(self, variant: Variant) -> None:
        own = {}
        for name, value in sorted(self.knobs.items()):
            knob = variant.knob(name)
            if knob is None and not any(v.knob(name) for v in VARIANTS.values()):
                text = "The variant {variant} has no {name}."
                raise SettingsError("settings.no_knob", text, variant=variant.name, name=name)
            if knob is not None and not knob.low <= value <= knob.high:
                text = "{name} must lie between {low} and {high}, not at {value}."
                raise SettingsError(
                    "settings.knob", text, name=name, low=f"{knob.low:g}", high=f"{knob.high:g}", value=value
                )
            if knob is not None:  # what another selector reads stays behind when the variant is changed
                own[name] = float(value)
        object.__setattr__(self, "knobs", MappingProxyType(own))

    def __hash__(self) -> int:
        return hash(tuple(tuple(v.items()) if isinstance(v, dict) else v for v in self.as_dict().values()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be sent to another process.
        return _settings_from, (self.as_dict(),)

    def as_dict(self) -> dict[str, Any]:
        """The settings as plain values, for JSON."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "knobs"}
        return values | ({"knobs": dict(self.knobs)} if self.knobs else {})


def _settings_from(values: dict[str, Any]) -> Settings:
    return Settings(**values)


@dataclass(frozen=True)
class ModalityTrace:
    """What SDTPS did with one modality of one triplet. N patches, K kept, N_c aggregated tokens.

    Attributes:
        self_attention: (N,) cosine with the modality's own global vector, min-max normalised.
        cross_attention: (N,) per other modality, cosine with its global vector, min-max normalised.
        raw_self_attention: (N,) the same cosine before normalisation.
        raw_cross_attention: (N,) per other modality, the same cosine before normalisation.
        predictor: (N,) learned score in [0, 1], or None where the weights hold no predictor.
        score: (N,) fused score, by which patches are ranked.
        keep: (K,) kept patches in descending score order, lowest index first among ties.
        drop: (N-K,) discarded patches, in the same order.
        mask: (N,) True where kept.
        soft_mask: (N,) softmax(score / tau) over the patches: the soft decision without noise; None where the
            selector has no tau.
        selection_frequency: (N,) share of Gumbel top-K draws at tau that keep the patch; None likewise.
        aggregation_weights: (N_c, K) weight of each kept patch in each aggregated token; columns follow `keep`.
            None where the weights hold no aggregation network.
        dense_keep: (K,) kept patches of the second branch; only in variants with two branches.
        dense_aggregation_weights: (N_c, K) weights of the second branch; columns follow `dense_keep`.
        extra_weights: (N-K,) weight of each discarded patch in the extra token; follows `drop`.
        token_norm: (N,) L2 norm of each patch token; outliers are known artefacts of ViTs.
        pooled: (C,) mean of the final tokens.
        missing: True where the modality was not given and zeros went through the backbone.
        weights: (N,) mask in [0, 1] of a soft selector, which drops nothing; `keep`, `drop` and `mask` are then only a
            guide: the heaviest patches at the sparse ratio.
        groups: (N,) why a patch is kept, where the selector says it: 1 by its own modality, 2 by another, 3 by both,
            4 to fill up; 0 where it is dropped.
        maps: (N,) maps that the selector names besides, see `Variant.maps`.
        numbers: what the selector says about the whole modality: mixing weights, effective number, leak.
    """

    self_attention: FloatArray
    cross_attention: Mapping[str, FloatArray]
    raw_self_attention: FloatArray
    raw_cross_attention: Mapping[str, FloatArray]
    predictor: FloatArray | None
    score: FloatArray
    keep: IntArray
    drop: IntArray
    mask: BoolArray
    soft_mask: FloatArray | None
    selection_frequency: FloatArray | None
    aggregation_weights: FloatArray | None
    dense_keep: IntArray | None
    dense_aggregation_weights: FloatArray | None
    extra_weights: FloatArray
    token_norm: FloatArray
    pooled: FloatArray
    missing: bool
    weights: FloatArray | None = None
    groups: IntArray | None = None
    maps: Mapping[str, FloatArray] = field(default_factory=dict)
    numbers: Mapping[str, FloatArray] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ModalityTrace: {describe_trace(self)}>"

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Mapping):
                for array in value.values():
                    array.flags.writeable = False
                object.__setattr__(self, f.name, MappingProxyType(dict(value)))
            elif isinstance(value, np.ndarray):
                value.flags.writeable = False

    @cached_property
    def rank(self) -> IntArray:
        """(N,) place of each patch in the score order, 0 for the best."""
        rank = np.empty(len(self.score), np.int64)
        rank[np.concatenate([self.keep, self.drop])] = np.arange(len(rank))
        return rank

    @property
    def kept(self) -> int:
        """K, the number of kept patches."""
        return len(self.keep)

    @property
    def threshold(self) -> float | None:
        """The score of the last patch that is kept; None where patches are not kept by their score alone."""
        by_score = len(self.keep) and self.groups is None and not self.soft
        return float(self.score[self.keep[-1]]) if by_score else None

    @property
    def soft(self) -> bool:
        """Whether nothing is dropped and every patch has a weight instead."""
        return self.weights is not None

    @cached_property
    def effective(self) -> float:
        """Effective number of patches: (sum of weights)^2 / sum of squares; K for a hard choice."""
        weights = self.mask if self.weights is None else self.weights.astype(np.float64)
        return float(weights.sum() ** 2 / (weights**2).sum())

    @cached_property
    def aggregation_total(self) -> FloatArray | None:
        """(N,) total weight that each patch gets over all aggregated tokens; 0 where it is dropped."""
        if self.aggregation_weights is None:
            return None
        total = np.zeros(len(self.score), np.float32)
        total[self.keep] = self.aggregation_weights.sum(0)
        if self.dense_keep is not None and self.dense_aggregation_weights is not None:
            total[self.dense_keep] += self.dense_aggregation_weights.sum(0)
        return total

    @cached_property
    def aggregation_by_patch(self) -> FloatArray | None:
        """(N_c, N) weight of every patch in every aggregated token, both branches added; 0 where it is dropped."""
        if self.aggregation_weights is None:
            return None
        matrix = np.zeros((len(self.aggregation_weights), len(self.score)), np.float32)
        matrix[:, self.keep] = self.aggregation_weights
        if self.dense_keep is not None and self.dense_aggregation_weights is not None:
            matrix[:, self.dense_keep] += self.dense_aggregation_weights
        return matrix


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
        settings: ratios and beta of the training, where a configuration says them.
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


@dataclass(frozen=True)
class Analysis(Shown):
    """One triplet, one set of weights, one set of settings: every number, and where it comes from.

    Attributes:
        traces: one trace per modality; `analysis["rgb"]` is short for it.
        grid: rows and columns of the patches.
        settings: the settings that were asked for.
        feature: (D,) the re-identification test feature, not normalised; `weights.facts["feature"]` names its parts.
        weights: report on the weights.
        notes: plain sentences on what was not done as asked (clamped, scaled, missing).
        camera: label of the camera embedding that was used; None where none was.
        fusion: what the fusion behind the selection says: expert weights, gates, attention; empty without one.
        pictures: (H, W, 3) per modality as the model saw them, None for a missing one; None where they are not known.
        opened: the image set in front of its model, from which sliders can move on; None where it is not at hand.
    """

    traces: Mapping[str, ModalityTrace]
    grid: Grid
    settings: Settings
    feature: FloatArray
    weights: WeightsReport
    notes: tuple[str, ...] = field(default=())
    camera: int | None = None
    fusion: Mapping[str, FloatArray] = field(default_factory=dict)
    pictures: Mapping[str, NDArray[np.uint8] | None] | None = field(default=None, compare=False)
    opened: object | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return describe_analysis(self)

    def __post_init__(self) -> None:
        object.__setattr__(self, "traces", MappingProxyType(dict(self.traces)))
        object.__setattr__(self, "fusion", MappingProxyType(dict(self.fusion)))
        self.feature.flags.writeable = False

    def __getitem__(self, modality: str) -> ModalityTrace:
        return self.traces[modality]
