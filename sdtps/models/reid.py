"""Backbone + SDTPS + re-identification heads, in the layout of the DeMo family."""

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import sdtps.algorithm.selectors  # noqa: F401 - makes the further selectors known
from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selector import SELECTORS, Selector
from sdtps.algorithm.trace import Evidence, Trace
from sdtps.models.backbone import Backbone, Tokens, create_backbone
from sdtps.models.feature import FusionConfig, FusionHeads, Given, reduction
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Settings, WeightsReport
from sdtps.variants import DEFAULT_VARIANT, Variant, get_variant


@dataclass(frozen=True)
class ModelConfig:
    """Everything needed to build the model again; stored with its weights.

    Attributes:
        kind, name, input_size, backbone_options: see `create_backbone`.
        num_classes: identities the heads tell apart; 0 leaves the heads out.
        global_local: reduce [global, mean patch] to one vector per modality before SDTPS (DeMo's GLOBAL_LOCAL).
        direct: one head on the concatenated globals (DeMo's DIRECT=1), or one per modality.
        sparse_ratio, aggr_ratio, beta, variant: defaults of the SDTPS module.
        aggregation_rows: aggregated tokens the weights can make; what the ratios ask for by default.
        predictor, aggregation: False where the weights lack that part of SDTPS; without both there is no SDTPS head.
        selector_options: what the weights of another selector than SDTPS are like, and its knobs of the training.
        fusion: what follows the selection; None means `[ori, sdtps]`, or `ori` alone without SDTPS.
    """

    kind: str
    name: str
    input_size: tuple[int, int] = (256, 128)
    backbone_options: Mapping[str, Any] = field(default_factory=dict)
    num_classes: int = 0
    global_local: bool = False
    direct: bool = True
    sparse_ratio: float = Settings.sparse_ratio
    aggr_ratio: float = Settings.aggr_ratio
    beta: float = Settings.beta
    variant: str = DEFAULT_VARIANT
    aggregation_rows: int | None = None
    predictor: bool = True
    aggregation: bool = True
    selector_options: Mapping[str, Any] = field(default_factory=dict)
    fusion: FusionConfig | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    @property
    def reading(self) -> str:
        """Hash of everything besides a file's tensors that decides the numbers: one file can be read in several ways.

        What has its default value does not count, so that a further field changes no hash of today.
        """
        bare = ModelConfig(self.kind, self.name).as_dict()
        told = {name: v for name, v in self.as_dict().items() if name in ("kind", "name") or v != bare[name]}
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ModelConfig":
        """The inverse of `as_dict`, also after a trip through JSON."""
        fusion = values.get("fusion")
        ready = {"input_size": tuple(values["input_size"])}
        return cls(**{**values, **ready, "fusion": None if fusion is None else FusionConfig.from_dict(fusion)})


class Encoded(NamedTuple):
    """Tokens of a batch, ready for SDTPS."""

    patches: dict[str, Tensor]  # (B, N, C) per modality
    global_vectors: dict[str, Tensor]  # (B, C) per modality, after the GLOBAL_LOCAL reduction


class Prediction(NamedTuple):
    """One (score, feature) pair of the training output."""

    logits: Tensor  # (B, ids)
    feature: Tensor  # (B, D) before the BNNeck


def _bottleneck(dim: int) -> nn.BatchNorm1d:
    """BNNeck: its bias stays at 0, and the classifier behind it has none."""
    layer = nn.BatchNorm1d(dim)
    layer.bias.requires_grad_(False)
    return layer


def _classifier(dim: int, classes: int) -> nn.Linear:
    layer = nn.Linear(dim, classes, bias=False)
    nn.init.normal_(layer.weight, std=0.001)
    return layer


class ReidModel(nn.Module):
    """Three modalities in, a re-identification feature out, with every step on record.

    Args:
        backbone: shared by the modalities.
        config: the rest of the architecture.
    """

    def __init__(self, backbone: Backbone, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.backbone = backbone
        self._further: dict[str, Selector] = {}
        dim = backbone.dim
        self.sdtps = build_selector(config, dim, backbone.grid.patches)
        fusion = config.fusion or FusionConfig(("ori",) if self.sdtps.empty else ("ori", "sdtps"))
        heads = FusionHeads(dim, fusion)
        self._heads = (heads,)  # in a tuple, so that its children are named once: as the model's own
        for name, child in heads.named_children():
            self.add_module(name, child)
        if config.global_local:
            for m in MODALITIES:
                self.add_module(f"{m}_reduce", reduction(dim))
        if config.num_classes:
            for suffix, width in self._head_widths().items():
                self.add_module(f"bottleneck{suffix}", _bottleneck(width))
                self.add_module(f"classifier{suffix}", _classifier(width, config.num_classes))

    def _head_widths(self) -> dict[str, int]:
        """Head name suffix → width of the feature it reads."""
        dim = self._heads[0].compared
        ori = {"": 3 * dim} if self.config.direct else {f"_{m[0]}": dim for m in MODALITIES}
        return ori | ({"_sdtps": 3 * dim} if self._has_sdtps_head else {})

    @property
    def _has_sdtps_head(self) -> bool:
        return self.sdtps.variant.selector in ("sdtps", "soft") and not self.sdtps.empty

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of the test feature, in their order; see `sdtps.models.feature`."""
        return self._heads[0].config.parts

    @property
    def part_slices(self) -> dict[str, slice]:
        """Where each part lies in the test feature."""
        return self._heads[0].slices(self.backbone.dim)

    @property
    def selected_parts(self) -> tuple[str, ...]:
        """The parts of the test feature that the selection can change; none for weights that do not use it."""
        return self._heads[0].selected

    @property
    def reduces_after(self) -> bool:
        """Whether pooled tokens are reduced with the global vector after the selection."""
        return self._heads[0].config.reduce_after

    def selector(self, variant: Variant) -> Selector:
        """What runs a variant: the selector of the weights, or a further one that needs no weights."""
        further = SELECTORS.get(variant.selector)
        if further is None or not further.weightless:
            return self.sdtps
        if variant.selector not in self._further:
            self._further[variant.selector] = further(self.backbone.dim, self.backbone.grid.patches).eval()
        return self._further[variant.selector]

    def supports(self, variant: Variant) -> Message | None:
        """None when a variant can be run with these weights, else one sentence on what they lack."""
        return self.selector(variant).supports(variant)

    def reduce(self, tokens: Tokens) -> Encoded:
        """Split by modality and, with GLOBAL_LOCAL, reduce [global, mean patch] to one vector."""
        patches = {str(m): tokens.patches[i] for i, m in enumerate(MODALITIES)}
        vectors = {str(m): tokens.global_vectors[i] for i, m in enumerate(MODALITIES)}
        if self.config.global_local:
            vectors = {
                m: getattr(self, f"{m}_reduce")(torch.cat([vectors[m], patches[m].mean(1)], dim=-1)) for m in vectors
            }
        return Encoded(patches, vectors)

    def encode(self, images: Tensor, camera: Tensor | None = None) -> Encoded:
        """(M, B, 3, H, W) images to tokens: the expensive part."""
        return self.reduce(self.backbone(images, camera))

    def compared(self, vectors: Iterable[Tensor]) -> Tensor:
        """Vectors side by side, (B, C) each, without the channels that nobody is recognised by."""
        return self._heads[0].side_by_side(vectors)

    def test_feature(self, encoded: Encoded, traces: Mapping[str, Trace]) -> Tensor:
        """The feature that is compared at test time, (B, D), before the BNNeck, not normalised; see `parts`."""
        return self.fuse(encoded, traces)[0]

    def evidence(self, encoded: Encoded, variant: Variant) -> dict[str, Evidence]:
        """What no setting changes: of the selector, and of the fusion behind it, which stands with the first."""
        found = self.selector(variant).evidence(encoded.patches, encoded.global_vectors, variant)
        still = self._heads[0].still(encoded.patches, encoded.global_vectors, self.backbone.grid)
        first = found[MODALITIES[0]]
        return {**found, str(MODALITIES[0]): replace(first, own=first.own | still)} if still else found

    def fuse(
        self, encoded: Encoded, traces: Mapping[str, Trace], evidence: Mapping[str, Evidence] | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The test feature, and what its fusion says on the way: expert weights, gates, attention.

        Args:
            encoded: the tokens.
            traces: what the selector made of them.
            evidence: of this model, so that nothing is computed twice.
        """
        given = Given(encoded.patches, encoded.global_vectors, traces, self.backbone.grid)
        still = {} if evidence is None else evidence[MODALITIES[0]].own
        return self._heads[0].feature(given, still), given.numbers

    def predictions(self, encoded: Encoded, traces: Mapping[str, Trace]) -> dict[str, Prediction]:
        """Training output: one (logits, feature) pair per head; `ori` heads first, `sdtps` last."""
        vectors = encoded.global_vectors
        features = (
            {"": self.compared(vectors[m] for m in MODALITIES)}
            if self.config.direct
            else {f"_{m[0]}": self.compared([vectors[m]]) for m in MODALITIES}
        )
        if self._has_sdtps_head:
            features["_sdtps"] = self.compared(traces[m].pooled for m in MODALITIES)
        return {
            suffix: Prediction(getattr(self, f"classifier{suffix}")(getattr(self, f"bottleneck{suffix}")(f)), f)
            for suffix, f in features.items()
        }

    def forward(self, images: Tensor, camera: Tensor | None = None) -> Tensor:
        """(M, B, 3, H, W) images to the test feature."""
        encoded = self.encode(images, camera)
        return self.test_feature(encoded, self.sdtps(encoded.patches, encoded.global_vectors))


def build_selector(config: ModelConfig, dim: int, patches: int) -> Selector:
    """The selector of a configuration, with random weights."""
    variant = get_variant(config.variant)
    if variant.selector != "sdtps":
        return SELECTORS[variant.selector](dim, patches, **config.selector_options)
    return MultiModalSDTPS(
        dim,
        patches,
        config.sparse_ratio,
        config.aggr_ratio,
        config.beta,
        config.variant,
        rows=config.aggregation_rows,
        predictor=config.predictor,
        aggregation=config.aggregation,
    )


def build_model(config: ModelConfig) -> ReidModel:
    """A model with random weights."""
    backbone = create_backbone(config.kind, config.name, config.input_size, **config.backbone_options)
    return ReidModel(backbone, config)


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready to analyse: on its device, in evaluation mode, with the report on its weights.

    Attributes:
        net: the model.
        weights: where its weights come from.
        device: where it runs.
        identity: what every cache keys by: the file's hash, how it was read, and the kind of device, because half
            precision on a GPU gives other last digits. It stays the same when the report is made anonymous.
        lock: held around the backbone; the cheap half needs none.
    """

    net: ReidModel
    weights: WeightsReport
    device: torch.device
    identity: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if not self.identity:
            object.__setattr__(self, "identity", self._identity_on(self.device))

    def _identity_on(self, device: torch.device) -> str:
        parts = (self.weights.sha256, self.net.config.reading, device.type)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def standing_for(self, device: str) -> "LoadedModel":
        """The same weights here, under the identity of those that workers have on another device."""
        return replace(self, identity=self._identity_on(torch.device(device)))

    @cached_property
    def settings(self) -> Settings:
        """What the weights were trained with, as far as it is known; the defaults for the rest."""
        known: dict[str, Any] = dict(self.weights.settings)
        own = self.net.sdtps
        knobs = {k.name: own.trained_knobs.get(k.name, k.default) for k in own.variant.knobs}
        return Settings(**known, variant=self.net.config.variant, knobs=knobs)

    def autocast(self) -> torch.autocast:
        """fp16 for the backbone on CUDA, nothing elsewhere."""
        return torch.autocast(self.device.type, dtype=torch.float16, enabled=self.device.type == "cuda")


def pick_device(name: str = "auto") -> torch.device:
    """`auto` is CUDA when there is one, else MPS, else the CPU; any other name is taken as it is."""
    if name != "auto":
        return torch.device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
