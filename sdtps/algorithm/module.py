"""`MultiModalSDTPS`: the three stages for three modalities. It selects, it trains, and it records; it never draws.

The forward pass has two halves. `evidence()` computes what no slider changes (cosines, predictor, aggregation
logits); `decide()` mixes, ranks, keeps and blends. The pipeline caches the first and repeats only the second.
"""

from collections.abc import Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn

from sdtps.algorithm.aggregation import DualTokenAggregation, TokenAggregation, aggregated_count
from sdtps.algorithm.scoring import TokenSparse, at_least_fp32, cosine_attention, min_max_norm
from sdtps.algorithm.selection import (
    Selection,
    gumbel_noise,
    kept_count,
    select_given,
    select_ordered,
    select_top_k,
    soft_decision,
    straight_through,
    weigh_tokens,
)
from sdtps.algorithm.selector import Selector, lacks
from sdtps.algorithm.steps import aggregation_weights, record, record_soft, score_of
from sdtps.algorithm.trace import Branch, Evidence, Trace
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Modality, Settings
from sdtps.variants import DEFAULT_VARIANT, Aggregation, Decision, Variant, get_variant

WITHOUT_WEIGHTS = (DEFAULT_VARIANT, "open-source")  # maps mixed by beta, and the plain sum of cosines


class MultiModalSDTPS(Selector):
    """Sparse and dense token-aware patch selection for RGB, near infrared and thermal.

    Parameters carry the reference names (`rgb_sparse.score_predictor.0.weight`, `rgb_aggr.weight.3.bias`,
    `rgb_aggr.scale`), and a reference state dict loads with `strict=True`: the number of aggregated rows is taken from
    the weights, and a part that the variant does not use may be absent from them.
    `sparse_ratio`, `aggr_ratio`, `beta`, `tau`, `noise_clamp`, `gumbel` and `detach_attention` may be set at any time.

    Args:
        embed_dim: C, channels of a token.
        num_patches: N, from which the number of aggregated rows is computed.
        sparse_ratio: share of patches to keep.
        aggr_ratio: aggregated tokens per kept share.
        beta: weight of the attention maps in the score.
        variant: a name of `sdtps.variants.VARIANTS`.
        tau: temperature of the decision while training (`complete-gumbel`, `gumbel-soft`, `ste-tokens`).
        noise_clamp: clip Gumbel noise to +- this value (the reference later used 5).
        gumbel: False trains without noise; in `complete-gumbel` also without the straight-through decision.
        detach_attention: cut the cosines from the gradient: all, those of `self` or of `cross`; None means what the
            variant did.
        rows: aggregated tokens that the weights can make; what the ratios ask for by default.
        predictor, aggregation: False leaves that part out; patches are then ranked by the attention maps alone.

    Example:
        >>> module = MultiModalSDTPS(embed_dim=64, num_patches=128).eval()
        >>> patches = {m: torch.randn(2, 128, 64) for m in ("rgb", "nir", "tir")}
        >>> trace = module(patches, {m: p.mean(1) for m, p in patches.items()})["rgb"]
        >>> trace.tokens.shape
        torch.Size([2, 26, 64])
    """

    def __init__(  # noqa: PLR0913 - the reference names
        self,
        embed_dim: int,
        num_patches: int,
        sparse_ratio: float = 0.5,
        aggr_ratio: float = 0.4,
        beta: float = 0.25,
        variant: str = DEFAULT_VARIANT,
        *,
        tau: float = 1.0,
        noise_clamp: float | None = None,
        gumbel: bool = True,
        detach_attention: bool | Literal["self", "cross"] | None = None,
        rows: int | None = None,
        predictor: bool = True,
        aggregation: bool = True,
    ) -> None:
        super().__init__(embed_dim, num_patches)
        self.sparse_ratio = sparse_ratio
        self.aggr_ratio = aggr_ratio
        self.beta = beta
        self.variant = get_variant(variant)
        self.tau = tau
        self.noise_clamp = noise_clamp
        self.gumbel = gumbel
        self.detach_attention = detach_attention
        if rows is None:
            rows = aggregated_count(num_patches, aggr_ratio, sparse_ratio)
        for m in MODALITIES:
            for part in self._part_names(m):
                wanted = aggregation if part.endswith("_aggr") else predictor
                self.add_module(part, self._new_part(part, rows) if wanted else None)
        self.register_load_state_dict_pre_hook(self._take_shape_of)

    def _part_names(self, modality: Modality) -> tuple[str, ...]:
        dual = self.variant.aggregation is Aggregation.DUAL
        return (f"{modality}_sparse", f"{modality}_aggr") + ((f"{modality}_sparse_dense",) if dual else ())

    def _new_part(self, part: str, rows: int) -> nn.Module:
        if not part.endswith("_aggr"):
            return TokenSparse(self.embed_dim)
        dual = self.variant.aggregation is Aggregation.DUAL
        return (DualTokenAggregation if dual else TokenAggregation)(self.embed_dim, rows)

    def _needs(self, part: str) -> bool:
        return self.variant.needs_aggregation if part.endswith("_aggr") else self.variant.needs_predictor

    @staticmethod
    def _take_shape_of(module: "MultiModalSDTPS", state: Mapping[str, Tensor], prefix: str, *_: Any) -> None:
        """Before loading: take N_c from the weights, and leave out unused parts that the weights lack."""
        for part in (p for m in MODALITIES for p in module._part_names(m)):
            start = f"{prefix}{part}."
            if not any(key.startswith(start) for key in state):
                if not module._needs(part):
                    setattr(module, part, None)
                continue
            last_biases = [v for k, v in state.items() if k.startswith(start + "weight") and k.endswith(".3.bias")]
            rows = len(last_biases[0]) if last_biases else 0
            current = getattr(module, part)
            if current is None or (last_biases and rows != current.rows):
                like = next(module.parameters(), torch.empty(0))
                setattr(module, part, module._new_part(part, rows).to(like.device, like.dtype))

    @property
    def rows(self) -> int:
        """How many aggregated tokens the weights can make at most; 0 without an aggregation network."""
        aggregation = self.rgb_aggr
        return aggregation.rows if isinstance(aggregation, TokenAggregation) else 0

    @property
    def empty(self) -> bool:
        """True when there are no weights at all: patches can be ranked by the attention maps, and no more."""
        return self.rgb_sparse is None and self.rgb_aggr is None

    def supports(self, variant: Variant) -> Message | None:
        """None when these weights can run the variant, else one sentence on what they lack.

        Weights without any SDTPS can still be looked at in the variants that their attention maps can stand for.
        """
        lacking = None
        if variant.selector != "sdtps":
            return lacks(variant, self.variant)
        if self.empty:
            if variant.name in WITHOUT_WEIGHTS:
                return None
            lacking = ("sdtps", "an SDTPS module")
        elif variant.needs_predictor and self.rgb_sparse is None:
            lacking = ("predictor", "a predictor")
        elif variant.aggregation is Aggregation.DUAL and not isinstance(self.rgb_aggr, DualTokenAggregation):
            lacking = ("dual", "a second predictor and weight network")
        elif variant.needs_aggregation and self.rgb_aggr is None:
            lacking = ("aggregation", "an aggregation network")
        if lacking is None:
            return None
        code, what = lacking
        template = "The variant {variant} needs {what}, which these weights lack."
        return Message(f"variant.lacks.{code}", template, variant=variant.name, what=what)

    def evidence(
        self,
        patches: Mapping[str, Tensor],
        global_vectors: Mapping[str, Tensor],
        variant: Variant | None = None,
    ) -> dict[str, Evidence]:
        """First half: everything that does not depend on ratios, beta or tau.

        Args:
            patches: (B, N, C) patch tokens per modality, as the backbone gives them.
            global_vectors: (B, C) one global vector per modality.
            variant: another variant than the module's own.
        """
        variant = variant or self.variant
        device_type = patches[Modality.RGB].device.type
        with torch.autocast(device_type=device_type, enabled=False):
            wide = {m: at_least_fp32(patches[m]) for m in MODALITIES}
            wide_globals = {m: at_least_fp32(global_vectors[m]) for m in MODALITIES}
            return {m: self._modality_evidence(m, wide, wide_globals, variant) for m in MODALITIES}

    def _modality_evidence(
        self, m: Modality, patches: dict[Modality, Tensor], globals_: dict[Modality, Tensor], variant: Variant
    ) -> Evidence:
        tokens = patches[m]  # (B, N, C)
        detach = variant.detach_attention if self.detach_attention is None else self.detach_attention
        own = tokens.mean(1) if variant.self_from_mean else globals_[m]
        raw_self, *cosines = cosine_attention(tokens, own, *(globals_[o] for o in m.others))  # (B, N) each
        if detach in (True, "self"):
            raw_self = raw_self.detach()
        if detach in (True, "cross"):
            cosines = [c.detach() for c in cosines]
        raw_cross = dict(zip(map(str, m.others), cosines, strict=True))
        if variant.detach_tokens:
            tokens = tokens.detach()
        return Evidence(
            patches=tokens,
            global_vector=globals_[m],
            raw_self=raw_self,
            raw_cross=raw_cross,
            self_norm=min_max_norm(raw_self),
            cross_norm={o: min_max_norm(c) for o, c in raw_cross.items()},
            branches=tuple(self._branches(m, tokens, variant)),
        )

    def _branches(self, m: Modality, tokens: Tensor, variant: Variant) -> list[Branch]:
        aggregation = getattr(self, f"{m}_aggr")
        dual = variant.aggregation is Aggregation.DUAL
        branches = []
        for i, name in enumerate((f"{m}_sparse", f"{m}_sparse_dense")[: 2 if dual else 1]):
            predictor = getattr(self, name)
            branches.append(
                Branch(
                    None if predictor is None else predictor(tokens),
                    aggregation.logits(tokens, i) if aggregation is not None and variant.needs_aggregation else None,
                )
            )
        return branches

    def decide(self, evidence: Evidence, settings: Settings | None = None, uniform: Tensor | None = None) -> Trace:
        """Second half, for one modality: score, keep, blend.

        Args:
            evidence: the first half's record.
            settings: ratios, beta and variant (the one that the evidence was made for); the module's own by default.
            uniform: (B, N) draws in [0, 1) for the Gumbel noise; new ones by default.
        """
        sparse_ratio, aggr_ratio, beta = (
            (self.sparse_ratio, self.aggr_ratio, self.beta)
            if settings is None
            else (settings.sparse_ratio, settings.aggr_ratio, settings.beta)
        )
        variant = self.variant if settings is None else get_variant(settings.variant)
        n = evidence.patches.shape[1]
        k = kept_count(n, sparse_ratio)
        asked = aggregated_count(n, aggr_ratio, sparse_ratio) if variant.needs_aggregation else k
        with torch.autocast(device_type=evidence.patches.device.type, enabled=False):
            sides = []
            for branch in evidence.branches:
                score = score_of(evidence, branch, beta, variant)
                selection = select_top_k(evidence.patches, score, k)
                if variant.decision is Decision.SOFT and self.training:
                    soft = soft_decision(score + self._noise(score, uniform), self.tau)
                    return record_soft(evidence, score, selection, soft, asked)
                if self.training:
                    selection = self._straight_through(evidence, score, selection, variant, uniform)
                sides.append((score, selection, aggregation_weights(branch, score, selection, asked, variant)))
            return record(evidence, sides, asked, variant)

    def _noise(self, score: Tensor, uniform: Tensor | None) -> Tensor:
        """(B, N) Gumbel noise; zeros where it is switched off."""
        if not self.gumbel:
            return torch.zeros_like(score)
        return gumbel_noise(torch.rand_like(score) if uniform is None else uniform, self.noise_clamp)

    def _straight_through(
        self, evidence: Evidence, score: Tensor, selection: Selection, variant: Variant, uniform: Tensor | None
    ) -> Selection:
        """While training: D of the variants that send a gradient through it."""
        masks = variant.decision is Decision.MASK_1E10 and self.gumbel  # the reference's switch takes D away, too
        if not masks and variant.decision is not Decision.TOKENS:
            return selection
        decision = straight_through(selection.mask, score, self._noise(score, uniform), self.tau)
        if masks:
            return selection._replace(decision=decision)
        return weigh_tokens(selection, evidence.patches, decision)

    def choose(self, evidence: Mapping[str, Evidence], settings: Settings) -> dict[str, Trace]:
        """Second half, for all modalities; see `Selector`."""
        return {m: self.decide(e, settings) for m, e in evidence.items()}

    def choose_ordered(
        self, evidence: Mapping[str, Evidence], settings: Settings, order: Mapping[str, Tensor], *, whole: bool = False
    ) -> dict[str, Trace]:
        """The top-K of another order; scores, aggregation and the number of tokens stay; see `Selector`."""
        variant, found = get_variant(settings.variant), {}
        for m, one in evidence.items():
            n = one.patches.shape[1]
            k = n if whole else kept_count(n, settings.sparse_ratio)
            rows = aggregated_count(n, settings.aggr_ratio, settings.sparse_ratio)
            asked = rows if variant.needs_aggregation else k
            sides = []
            for branch in one.branches:
                score = score_of(one, branch, settings.beta, variant)
                selection = select_ordered(one.patches, score, order[m], k)
                sides.append((score, selection, aggregation_weights(branch, score, selection, asked, variant)))
            found[m] = record(one, sides, asked, variant)
        return found

    def feature_of(self, evidence: Mapping[str, Evidence], modality: str, keep: Tensor, settings: Settings) -> Tensor:
        """(R, C) what `keep_only` pools; see `Selector`."""
        return self.keep_only(evidence[modality], keep, settings).pooled

    def keep_only(self, evidence: Evidence, keep: Tensor, settings: Settings) -> Trace:
        """Second half with the selection given: the stage sees these tokens alone and keeps them all.

        Scores stay those of the whole picture, and as many aggregated tokens are made as the settings ask for there,
        but at least one, since without any there would be nothing left to look at.

        Args:
            evidence: of one sample.
            keep: (B, n) positions of the tokens that are left, one set per row; 1 to N of them.
            settings: ratios, beta and variant (the one that the evidence was made for).
        """
        variant = get_variant(settings.variant)
        asked = max(1, aggregated_count(evidence.patches.shape[1], settings.aggr_ratio, settings.sparse_ratio))
        evidence = evidence.repeated(len(keep))
        selection = select_given(evidence.patches, keep)
        sides = []
        for branch in evidence.branches:
            score = score_of(evidence, branch, settings.beta, variant)
            sides.append((score, selection, aggregation_weights(branch, score, selection, asked, variant)))
        return record(evidence, sides, asked, variant)

    def forward(  # type: ignore[override]
        self,
        patches: Mapping[str, Tensor],
        globals: Mapping[str, Tensor],  # noqa: A002 - the public name
        uniform: Mapping[str, Tensor] | None = None,
    ) -> dict[str, Trace]:
        """Select and aggregate.

        Args:
            patches: (B, N, C) per modality, keyed `"rgb"`, `"nir"`, `"tir"`.
            globals: (B, C) per modality.
            uniform: (B, N) draws per modality for the Gumbel noise; new ones by default.

        Returns:
            One trace per modality.
        """
        evidence = self.evidence(patches, globals)
        return {str(m): self.decide(e, None, None if uniform is None else uniform[m]) for m, e in evidence.items()}
