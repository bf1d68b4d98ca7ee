"""What the selection is replaced with: the same number of patches, chosen in another way.

as it is   the selector's own choice
all        every patch takes part; nothing is dropped
random     a uniform draw for each image set and modality, many times
centre     the patches nearest to the middle of the picture
inverted   the worst-scored ones: what would have been dropped
person     the patches that people cover most, ties by score; where the data set has masks
variant    another way to score or to aggregate, by its name

Only the choice changes: scores, aggregation network, number of tokens and the extra token's weights stay, and the
backbone runs once for all of them.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from sdtps.algorithm.trace import Evidence, Trace
from sdtps.images.masks import people_share
from sdtps.matters.defaults import RATIOS, SEEDS
from sdtps.metrics.removal import centre_order
from sdtps.models.reid import Encoded, LoadedModel
from sdtps.pipeline import OpenSet, evidence_of_batch, runnable
from sdtps.support.errors import SettingsError
from sdtps.types import MODALITIES, Grid, Settings
from sdtps.variants import get_variant


class Kind(StrEnum):
    """How patches are chosen instead."""

    AS_IS = "as it is"
    ALL = "all"
    RANDOM = "random"
    CENTRE = "centre"
    INVERTED = "inverted"
    PERSON = "person"
    VARIANT = "variant"


@dataclass(frozen=True)
class Replacement:
    """One way to choose, at one ratio; `seed` counts the random draws."""

    kind: Kind
    sparse_ratio: float
    variant: str
    seed: int = 0

    @property
    def row(self) -> tuple[str, float]:
        """Which row of the table it belongs to: draws of one ratio share one."""
        name = self.variant if self.kind is Kind.VARIANT else str(self.kind)
        return name, self.sparse_ratio


@dataclass(frozen=True)
class Plan:
    """Everything that is tried.

    Attributes:
        settings: ratios, beta and variant of "as it is".
        ratios: further sparse ratios, where the variant reads it.
        seeds: random draws at the settings' own ratio, and a third of them at the others.
        variants: other variants that these weights can run.
        person: person masks are known for every image set.
    """

    settings: Settings
    ratios: tuple[float, ...] = RATIOS
    seeds: int = SEEDS
    variants: tuple[str, ...] = ()
    person: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.seeds <= 1000:
            text = "The number of random draws must lie between 1 and 1000, not at {value}."
            raise SettingsError("matters.seeds", text, value=self.seeds)
        for ratio in self.ratios:
            replace(self.settings, sparse_ratio=ratio)  # checks it

    def replacements(self) -> tuple[Replacement, ...]:
        """All of them, those at the settings' own ratio first."""
        own, name = self.settings.sparse_ratio, self.settings.variant
        read = "sparse_ratio" in get_variant(name).reads
        ratios = [own, *(r for r in dict.fromkeys(self.ratios) if r != own and read)]
        found = [Replacement(Kind.ALL, own, name)]
        for ratio in ratios:
            seeds = self.seeds if ratio == own else max(1, self.seeds // 3)
            kinds = [Kind.AS_IS, Kind.CENTRE, Kind.INVERTED, *([Kind.PERSON] if self.person else [])]
            found += [Replacement(kind, ratio, name) for kind in kinds]
            found += [Replacement(Kind.RANDOM, ratio, name, seed) for seed in range(seeds)]
        found += [Replacement(Kind.VARIANT, own, v) for v in dict.fromkeys(self.variants) if v != name]
        return tuple(found)


@dataclass(frozen=True)
class Batch:
    """Some image sets after the backbone, with what a replacement may ask about them.

    Attributes:
        model: loaded weights.
        encoded: (B, N, C) tokens and (B, C) global vectors per modality.
        names: (B,) what each set is called: random draws hang on it, so that they do not hang on the batch.
        people: (B, N) share of each patch that people cover; None without masks.
    """

    model: LoadedModel
    encoded: Encoded
    names: Sequence[str]
    people: Tensor | None = None

    def evidence(self, variant: str) -> dict[str, Evidence]:
        """What no setting changes."""
        return evidence_of_batch(self.model, self.encoded, runnable(self.model, variant))


def as_it_is(
    batch: Batch, settings: Settings, replacement: Replacement, evidence: Mapping[str, Evidence]
) -> dict[str, Trace]:
    """The selector's own choice, by the ratio and the variant of a replacement."""
    settings = _settings(settings, replacement)
    return batch.model.net.selector(get_variant(settings.variant)).choose(evidence, settings)


def choose(
    batch: Batch,
    settings: Settings,
    replacement: Replacement,
    evidence: Mapping[str, Evidence],
    own: Mapping[str, Trace],
) -> Mapping[str, Trace]:
    """The traces of a batch with its selection replaced.

    Args:
        batch: the image sets.
        settings: of "as it is".
        replacement: how patches are chosen instead.
        evidence: of the replacement's variant.
        own: the selector's own choice there, see `as_it_is`.
    """
    if replacement.kind in (Kind.AS_IS, Kind.VARIANT):
        return own
    settings = _settings(settings, replacement)
    orders = {m: _order(batch, own[m], str(m), replacement) for m in own}
    selector = batch.model.net.selector(get_variant(settings.variant))
    return selector.choose_ordered(evidence, settings, orders, whole=replacement.kind is Kind.ALL)


def _settings(settings: Settings, replacement: Replacement) -> Settings:
    return replace(settings, sparse_ratio=replacement.sparse_ratio, variant=replacement.variant)


def _order(batch: Batch, trace: Trace, modality: str, replacement: Replacement) -> Tensor:
    """(B, N) patches of one modality, the first to keep first."""
    if replacement.kind is Kind.RANDOM:
        draws = [random_order(name, modality, replacement.seed, trace.score.shape[1]) for name in batch.names]
        return torch.stack(draws)
    if replacement.kind is Kind.CENTRE:
        return torch.from_numpy(centre_order(_grid(batch))).expand(trace.order.shape)
    if replacement.kind is Kind.INVERTED:
        return trace.order.flip(1)
    if replacement.kind is Kind.PERSON:
        assert batch.people is not None
        by_share = batch.people.gather(1, trace.order).sort(dim=1, descending=True, stable=True).indices
        return trace.order.gather(1, by_share)
    return trace.order


def random_order(name: str, modality: str, seed: int, patches: int) -> Tensor:
    """(N,) a uniform permutation that hangs on nothing but these."""
    place = [str(m) for m in MODALITIES].index(modality)
    rng = np.random.default_rng([seed, place, zlib.crc32(name.encode())])
    return torch.from_numpy(rng.permutation(patches))


def people_of(sets: Sequence[OpenSet], masks: Sequence[Path]) -> Tensor:
    """(B, N) share of each patch that people cover, from their mask files."""
    backbone = sets[0].model.net.backbone
    shares = [people_share(mask, backbone.input_size, backbone.grid) for mask in masks]
    return torch.from_numpy(np.stack(shares))


def _grid(batch: Batch) -> Grid:
    grid: Grid = batch.model.net.backbone.grid
    return grid
