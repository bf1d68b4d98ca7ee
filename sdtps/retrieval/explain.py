"""Why two image sets match: the cosine of their features, taken apart into patches exactly.

The `sdtps` part of the test feature is, per modality, a sum over patches: every patch p_i enters it with a weight a_i,
through the aggregated tokens where it is kept and through the extra token where it is dropped. So

    cos(q, r) = [ sum over other parts  q_part · r_part
                + sum over m  (sum_i a_i p_i + rest) · (sum_k b_k p'_k + rest') ] / (|q| |r|)

and a pair of patches contributes a_i p_i · b_k p'_k / (|q| |r|). What is no patch's (the global token of `open-source`,
rounding) is the rest, so that contributions add up to the cosine. Parts that are not linear in the tokens (a reduction
after the selection, DGAF, experts, FRCA, Signal's interaction) stand as one number each, by their name.

A patch that is removed takes its share with it and changes nothing else: its token counts as zero.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sdtps.algorithm.trace import Evidence, Trace
from sdtps.pipeline import OpenSet, choose, runnable
from sdtps.support.threads import one_thread
from sdtps.types import MODALITIES, Settings
from sdtps.variants import Variant

Values = NDArray[np.float64]
Patch = tuple[str, int]  # modality and number
TINY = 1e-12
SELECTED = "sdtps"


@dataclass(frozen=True)
class Apart:
    """A test feature and what each patch put into it. N patches, C channels.

    Attributes:
        feature: (D,) the test feature.
        parts: where each part lies.
        places: where each modality's sum over patches lies; empty when no part is one.
        shares: (N, C) per modality, a_i p_i.
        kept: (N,) per modality, True where kept.
        whole: names of the parts that stand as one number each though the selection changes them.
    """

    feature: Values
    parts: Mapping[str, slice]
    places: Mapping[str, slice]
    shares: Mapping[str, Values]
    kept: Mapping[str, NDArray[np.bool_]]
    whole: tuple[str, ...]

    def without(self, removed: Iterable[Patch]) -> Values:
        """(D,) the feature when these patches' shares are taken away."""
        feature = self.feature.copy()
        for modality, patch in removed:
            feature[self.places[modality]] -= self.shares[modality][patch]
        return feature


@dataclass(frozen=True)
class Term:
    """One part of the cosine: a part of the feature in one modality, or in all (None)."""

    part: str
    modality: str | None
    value: float
    by_patch: bool


@dataclass(frozen=True)
class Explained:
    """A cosine and what adds up to it.

    Attributes:
        cosine: of the two features.
        terms: they sum to the cosine.
        pairs: (N + 1, N + 1) per modality, what each pair of patches contributes; the last row and column are what is
            no patch's. They sum to the modality's term.
    """

    cosine: float
    terms: tuple[Term, ...]
    pairs: Mapping[str, Values]

    def by_patch(self, modality: str) -> tuple[Values, Values]:
        """(N,) what each patch of the first and of the second set contributes, over all partners."""
        pairs = self.pairs[modality]
        return pairs.sum(1)[:-1], pairs.sum(0)[:-1]

    def strongest(self, count: int) -> list[tuple[str, int, int, float]]:
        """Of each modality, the pairs of patches that carry most: modality, patch of either side, contribution."""
        found = []
        for m, pairs in self.pairs.items():
            inner = pairs[:-1, :-1]
            for flat in np.argsort(-inner, axis=None, kind="stable")[:count]:
                i, k = divmod(int(flat), inner.shape[1])
                found.append((m, i, k, float(inner[i, k])))
        return found


def take_apart(opened: OpenSet, settings: Settings) -> Apart:
    """The test feature of an image set, and what each patch put into it."""
    net = opened.model.net
    variant = runnable(opened.model, settings.variant)
    encoded, evidence = opened.encode().encoded, opened.evidence(settings.variant)
    with one_thread(), torch.inference_mode():
        traces, fused, _ = choose(opened.model, encoded, evidence, settings)
        feature = fused[0].double().numpy()
        linear = SELECTED in net.parts and not net.reduces_after and variant.selector != "sim"
        shares = {str(m): _shares(traces[m], evidence[m], variant) for m in MODALITIES} if linear else {}
    parts, places = net.part_slices, {}
    if linear:
        start, stop = parts[SELECTED].start, parts[SELECTED].stop
        width = (stop - start) // len(MODALITIES)
        places = {str(m): slice(start + i * width, start + (i + 1) * width) for i, m in enumerate(MODALITIES)}
        shares = {m: share[:, :width] for m, share in shares.items()}  # of the channels that are compared
    whole = tuple(part for part in net.selected_parts if part != SELECTED or not linear)
    kept = {str(m): traces[m].mask[0].numpy() for m in MODALITIES}
    return Apart(feature, parts, places, shares, kept, whole)


def explain(first: Apart, second: Apart) -> Explained:
    """The cosine of two features, taken apart."""
    scale = 1.0 / max(float(np.linalg.norm(first.feature) * np.linalg.norm(second.feature)), TINY)
    terms, pairs = [], {}
    for part, place in first.parts.items():
        if part == SELECTED and first.places:
            for m in first.places:
                pairs[m] = _pairs(first, second, m) * scale
                terms.append(Term(part, m, float(pairs[m].sum()), True))
        elif part in ("ori", SELECTED):
            thirds = zip(MODALITIES, np.split(first.feature[place], 3), np.split(second.feature[place], 3), strict=True)
            terms += [Term(part, str(m), float(a @ b) * scale, False) for m, a, b in thirds]
        else:
            terms.append(Term(part, None, float(first.feature[place] @ second.feature[place]) * scale, False))
    return Explained(cosine(first.feature, second.feature), tuple(terms), pairs)


def cosine(a: Values, b: Values) -> float:
    """Of two features."""
    return float(a @ b) / max(float(np.linalg.norm(a) * np.linalg.norm(b)), TINY)


def to_win(query: Apart, right: Values, wrong: Values) -> list[Patch] | None:
    """The fewest kept patches of the query without which the right result is nearer than the wrong one.

    Both cosines have the query's length below them, so the comparison is linear in the shares: taking those that speak
    most for the wrong one first is the smallest way. None when all of them together do not suffice.

    Args:
        query: the query.
        right, wrong: (D,) features of the two results.
    """
    towards = right / max(float(np.linalg.norm(right)), TINY) - wrong / max(float(np.linalg.norm(wrong)), TINY)
    lead = float(query.feature @ towards)
    votes = [
        (float(query.shares[m][i] @ towards[query.places[m]]), m, int(i))
        for m in query.places
        for i in np.flatnonzero(query.kept[m])
    ]
    removed = []
    for vote, m, i in sorted(votes):
        if lead > 0 or vote >= 0:
            break
        lead -= vote
        removed.append((m, i))
    return removed if lead > 0 else None


def _pairs(first: Apart, second: Apart, modality: str) -> Values:
    return _rows(first, modality) @ _rows(second, modality).T


def _rows(apart: Apart, modality: str) -> Values:
    """(N + 1, C) shares of the patches, and what is no patch's."""
    shares = apart.shares[modality]
    rest = apart.feature[apart.places[modality]] - shares.sum(0)
    return np.concatenate([shares, rest[None]])


def _shares(trace: Trace, evidence: Evidence, variant: Variant) -> Values:
    """(N, C) a_i p_i of one modality of one set."""
    patches = evidence.patches[0].double()
    weights = torch.zeros(len(patches), dtype=torch.float64)
    count = trace.tokens.shape[1]
    if variant.selector != "sdtps":
        weights += trace.decision[0].double() / count
        return (weights[:, None] * patches).numpy()
    rows, extra = _lengths(trace, variant)
    blend = trace.aggregation_weights
    kept = 1.0 / rows if blend is None else (blend[0].double() / rows[:, None]).sum(0)
    weights.scatter_add_(0, trace.keep[0], kept / count)
    if trace.dense_keep is not None and trace.dense_aggregation_weights is not None:
        dense = (trace.dense_aggregation_weights[0].double() / rows[:, None]).sum(0)
        weights.scatter_add_(0, trace.dense_keep[0], dense / count)
        extra = extra * 2  # the two extra tokens are averaged; the second one's weights are not on record
    weights.scatter_add_(0, trace.drop[0], trace.extra_weights[0].double() / extra / count)
    return (weights[:, None] * patches).numpy()


def _lengths(trace: Trace, variant: Variant) -> tuple[torch.Tensor, float]:
    """By what aggregated tokens and the extra token are divided: their lengths where the variant normalises them."""
    assert trace.aggregated is not None
    assert trace.extra is not None
    if not variant.global_token:
        return torch.ones(trace.aggregated.shape[1], dtype=torch.float64), 1.0
    return trace.aggregated[0].double().norm(dim=-1), max(float(trace.extra[0].double().norm()), TINY)
