"""The small protocol that every selector follows: what it saw, what it decides, what it hands on.

A selector gets tokens that were encoded once. `evidence` computes what no setting changes, `choose` turns it and the
settings into one `Trace` per modality, and `feature_of` says what is left of a modality's share of the feature when
only some of its patches take part. Which settings and knobs it reads and which maps it shows stands in its `Variant`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from sdtps.algorithm.scoring import at_least_fp32, cosine_attention, min_max_norm
from sdtps.algorithm.trace import Evidence, Trace
from sdtps.support.errors import SettingsError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Modality, Settings
from sdtps.variants import VARIANTS, Variant, register_variant

Tokens = Mapping[str, Tensor]


class Selector(nn.Module, ABC):
    """What a selector must say; a new one implements `choose`, and `look` where it looks at more than cosines.

    Attributes:
        variant: the name that it runs under, with its knobs and maps.
        embed_dim: C, channels of a token.
        num_patches: N.
        weightless: it has no weights and can run beside any.
        trained_knobs: knobs of the training, where a configuration says them.
    """

    variant: Variant
    weightless: bool = False

    def __init__(self, embed_dim: int, num_patches: int, **knobs: float) -> None:
        super().__init__()
        self.embed_dim = embed_dim
        self.num_patches = num_patches
        self.trained_knobs = knobs

    @property
    def rows(self) -> int:
        """Aggregated tokens that the weights can make at most; 0 where none are made."""
        return 0

    @property
    def empty(self) -> bool:
        """True when there are no weights at all: patches can be ranked by the attention maps, and no more."""
        return False

    def look(self, evidence: dict[str, Evidence]) -> dict[str, Evidence]:
        """Add to each modality's cosines whatever else no setting changes."""
        return evidence

    @abstractmethod
    def choose(self, evidence: Mapping[str, Evidence], settings: Settings) -> dict[str, Trace]:
        """One trace per modality: scores, mask, tokens, and the modality's share of the feature."""

    def evidence(self, patches: Tokens, global_vectors: Tokens, variant: Variant | None = None) -> dict[str, Evidence]:
        """Everything that does not depend on a setting.

        Args:
            patches: (B, N, C) patch tokens per modality, as the backbone gives them.
            global_vectors: (B, C) one global vector per modality.
            variant: for selectors that run several.
        """
        del variant
        with torch.autocast(device_type=patches[Modality.RGB].device.type, enabled=False):
            return self.look(plain_evidence(patches, global_vectors))

    def supports(self, variant: Variant) -> Message | None:
        """None when these weights can run the variant, else one sentence on what they lack."""
        if variant.name == self.variant.name:
            return None
        return lacks(variant, self.variant)

    def feature_of(self, evidence: Mapping[str, Evidence], modality: str, keep: Tensor, settings: Settings) -> Tensor:
        """(R, C) the modality's share of the feature when only the patches in each row of `keep` (R, n) take part.

        Scores and weights stay those of the whole picture; what does not take part counts as zero.
        """
        trace = self.choose(evidence, settings)[modality]
        left = trace.tokens.new_zeros(len(keep), trace.tokens.shape[1]).scatter(1, keep, 1.0)
        return left @ trace.tokens[0] / trace.tokens.shape[1]

    def choose_ordered(
        self, evidence: Mapping[str, Evidence], settings: Settings, order: Mapping[str, Tensor], *, whole: bool = False
    ) -> dict[str, Trace]:
        """The choice replaced, all else equal: what the selector gives its best patches goes to the first of an order.

        Args:
            evidence: of a batch.
            settings: see `choose`.
            order: (B, N) patches per modality, the first to keep first.
            whole: every patch takes part in full.
        """
        found = {}
        for m, trace in self.choose(evidence, settings).items():
            patches = evidence[m].patches
            if trace.tokens.shape != patches.shape or not torch.equal(
                trace.tokens, patches * trace.decision[..., None]
            ):
                text = (
                    "The selector {name} does more than weigh patches, so its choice cannot be replaced from outside."
                )
                raise SettingsError("selector.fixed", text, name=self.variant.name)
            share = trace.decision.sort(dim=1, descending=True).values
            weights = torch.ones_like(share) if whole else torch.zeros_like(share).scatter(1, order[m], share)
            first = torch.arange(share.shape[1]) < trace.counts[:, None]  # as many as were kept, or marked as a guide
            mask = torch.ones_like(trace.mask) if whole else torch.zeros_like(trace.mask).scatter(1, order[m], first)
            tokens = patches * weights[..., None]
            found[m] = replace(trace, decision=weights, mask=mask, tokens=tokens, pooled=tokens.mean(1))
        return found

    def knob(self, settings: Settings, name: str) -> float:
        """A knob: as the settings say, else as the weights were trained, else its default."""
        knob = self.variant.knob(name)
        assert knob is not None, name
        return float(settings.knobs.get(name, self.trained_knobs.get(name, knob.default)))

    def forward(self, patches: Tokens, globals: Tokens, settings: Settings | None = None) -> dict[str, Trace]:  # noqa: A002 - the public name
        """Evidence and choice in one go; by default at the settings of the training."""
        settings = settings or Settings(variant=self.variant.name)
        return self.choose(self.evidence(patches, globals), settings)


def plain_evidence(patches: Tokens, global_vectors: Tokens) -> dict[str, Evidence]:
    """Cosines of every patch with its own global vector and with the two others, min-max normalised besides."""
    found = {}
    for m in MODALITIES:
        tokens, vector = at_least_fp32(patches[m]), at_least_fp32(global_vectors[m])
        raw_self, *rest = cosine_attention(tokens, vector, *(at_least_fp32(global_vectors[o]) for o in m.others))
        raw_cross = dict(zip(map(str, m.others), rest, strict=True))
        cross_norm = {o: min_max_norm(c) for o, c in raw_cross.items()}
        found[str(m)] = Evidence(tokens, vector, raw_self, raw_cross, min_max_norm(raw_self), cross_norm)
    return found


def lacks(variant: Variant, own: Variant) -> Message:
    """The sentence for weights that belong to another selector."""
    text = "The variant {variant} is another selector than the {own} of these weights, and needs weights of its own."
    return Message("variant.lacks.selector", text, variant=variant.name, own=own.name)


SELECTORS: dict[str, type[Selector]] = {}


def register(selector: type[Selector]) -> type[Selector]:
    """Make a selector known by the name of its variant; usable as a decorator."""
    if selector.variant.name in SELECTORS:
        text = "There is a selector {name!r} already; choose another name."
        raise SettingsError("selector.taken", text, name=selector.variant.name)
    if VARIANTS.get(selector.variant.name) is not selector.variant:
        register_variant(selector.variant)
    SELECTORS[selector.variant.name] = selector
    return selector
