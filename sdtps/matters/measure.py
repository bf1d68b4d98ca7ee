"""Features of a data set under every replacement: the backbone runs once per image set, the rest is re-scored.

Chunks of image sets are independent: they run in this process or on a cluster, and both their tokens and their results
stay on disk, so that work that was stopped goes on, and other ratios need no backbone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from sdtps.algorithm.selector import Selector
from sdtps.algorithm.trace import Trace
from sdtps.datasets import UNKNOWN, Broken, Dataset, Record
from sdtps.matters.replacements import Batch, Plan, as_it_is, choose, people_of
from sdtps.matters.vital import signs, untrained
from sdtps.models.reid import Encoded, LoadedModel
from sdtps.pipeline import encode_batch, fused, runnable
from sdtps.retrieval.chunk_store import RESULTS, TOKENS, ChunkStore, pack_tokens, unpack_tokens
from sdtps.retrieval.engine import LOCAL, Engine
from sdtps.retrieval.feature_store import short_hash, subject
from sdtps.retrieval.features import open_sets
from sdtps.support.errors import InputError
from sdtps.support.messages import Message
from sdtps.support.progress import Progress
from sdtps.types import Settings

BATCH = 16
COMPARED = 64  # image sets that an untrained selector looks at
SCHEMA = 2
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Measured:
    """One split under every replacement. n image sets, R replacements.

    Attributes:
        records: the n image sets.
        broken: those that could not be read.
        still: (n, S) the parts of the test feature that no selection changes.
        moved: (R, n, V) the other parts, under each replacement of the plan.
        kept: (R, n) patches that take part, mean over the modalities.
        signs: (n, M, V) vital signs, see `vital`; `columns` says what they are.
        untrained: (u, M, V) the same of an untrained selector on the first image sets; empty where there is none.
    """

    records: tuple[Record, ...]
    broken: tuple[Broken, ...]
    still: Array
    moved: Array
    kept: Array
    signs: Array
    untrained: Array
    columns: tuple[str, ...]

    def features(self, replacement: int) -> Array:
        """(n, D) the test feature, its parts in another order, which no cosine notices."""
        return np.concatenate([self.still, self.moved[replacement]], axis=1)


@dataclass(frozen=True)
class _Chunk:
    """Some records, and the key of their tokens and results."""

    records: tuple[Record, ...]
    key: str
    first: int


@dataclass(frozen=True)
class _Rescoring:
    """What is done with one chunk."""

    plan: Plan
    dataset: Dataset
    cache: str | None
    keep_tokens: bool
    fresh: list[Selector | None] = field(default_factory=list)  # made once per process

    def __call__(self, model: LoadedModel, chunk: _Chunk) -> dict[str, NDArray[Any]]:
        """The arrays of one chunk, from the disk where they are there."""
        results = ChunkStore(RESULTS, self.cache)
        key = f"{chunk.key}-{short_hash([SCHEMA, _plain(self.plan)])}"
        found = results.get(key)
        if found is None:
            found = self._compute(model, chunk)
            results.put(key, found)
        return found

    def _compute(self, model: LoadedModel, chunk: _Chunk) -> dict[str, NDArray[Any]]:
        readable, sets, broken = open_sets(chunk.records, model, self.dataset.read)
        places = {record: i for i, record in enumerate(chunk.records)}
        text = np.array([f"{b.name}\n{b.why}" for b in broken], dtype=str)
        if not sets:
            return {"numbers": np.zeros(0, np.int64), "broken": text}
        tokens = ChunkStore(TOKENS, self.cache)
        there = tokens.get(chunk.key)
        encoded = encode_batch(sets) if there is None else unpack_tokens(there)
        if there is None and self.keep_tokens:
            tokens.put(chunk.key, pack_tokens(encoded))
        people = None
        if self.plan.person:
            masks = [r.mask for r in readable if r.mask is not None]
            self.dataset.check(*masks)
            people = people_of(sets, masks)
        batch = Batch(model, encoded, [r.name for r in readable], people)
        found = rescore(batch, self.plan)
        arrays: dict[str, NDArray[Any]] = found._asdict() | {"columns": np.array(found.columns)}
        if chunk.first < COMPARED:
            arrays["untrained"] = self._untrained(model, encoded)
        return arrays | {"numbers": np.array([places[r] for r in readable], np.int64), "broken": text}

    def _untrained(self, model: LoadedModel, encoded: Encoded) -> Array:
        if not self.fresh:
            self.fresh.append(untrained(model))
        selector, settings = self.fresh[0], self.plan.settings
        if selector is None or settings.variant != model.net.config.variant:
            return np.zeros((0, 3, 0), np.float32)
        with torch.inference_mode():
            evidence = selector.evidence(encoded.patches, encoded.global_vectors)
            return signs(selector.choose(evidence, settings), evidence, settings)[0]


class Rescored(NamedTuple):
    """A batch under every replacement; see `Measured`."""

    still: Array
    moved: Array
    kept: Array
    signs: Array
    columns: list[str]


def rescore(batch: Batch, plan: Plan) -> Rescored:
    """A batch under every replacement."""
    net, settings = batch.model.net, plan.settings
    moving = [s for part, s in net.part_slices.items() if part in net.selected_parts]
    resting = [s for part, s in net.part_slices.items() if part not in net.selected_parts]
    evidence = {name: batch.evidence(name) for name in dict.fromkeys(r.variant for r in plan.replacements())}
    own: dict[tuple[str, float], dict[str, Trace]] = {}
    features, kept = [], []
    with torch.inference_mode():
        for one in plan.replacements():
            place = (one.variant, one.sparse_ratio)
            if place not in own:
                own[place] = as_it_is(batch, settings, one, evidence[one.variant])
            traces = choose(batch, settings, one, evidence[one.variant], own[place])
            kept.append(torch.stack([traces[m].mask.float().sum(1) for m in traces]).mean(0).numpy())
            features.append(fused(batch.model, batch.encoded, traces, evidence[one.variant])[0].numpy())
        chosen = own[settings.variant, settings.sparse_ratio]
        vital, columns = signs(chosen, evidence[settings.variant], settings)
    moved = np.stack([_columns(f, moving) for f in features])
    return Rescored(_columns(features[0], resting), moved, np.stack(kept), vital, columns)


def _columns(feature: Array, wanted: Sequence[slice]) -> Array:
    return np.concatenate([np.zeros((len(feature), 0), np.float32), *(feature[:, s] for s in wanted)], axis=1)


def measure(
    model: LoadedModel,
    dataset: Dataset,
    split: str,
    plan: Plan,
    *,
    batch: int = BATCH,
    cache: str | None = None,
    engine: Engine = LOCAL,
    progress: Progress | None = None,
) -> Measured:
    """A split under every replacement of a plan.

    Args:
        model: loaded weights.
        dataset: the data set, and its `split`.
        plan: what is tried.
        batch: image sets per forward pass.
        cache: folder of tokens and results; see `default_folder`.
        engine: where it is computed.
        progress: called with (done, total); what it raises stops the work, which goes on from there next time.
    """
    for name in {r.variant for r in plan.replacements()}:
        runnable(model, name)  # before anything is computed
    records = dataset.listing(split).records
    prefix = f"{subject(model, dataset, split)}-{batch}"
    starts = range(0, len(records), batch)
    chunks = [_Chunk(tuple(records[i : i + batch]), f"{prefix}-{i}", i) for i in starts]
    work = _Rescoring(plan, dataset, cache, _tokens_fit(model, len(records)))
    found, listed, broken = [], [], []
    for chunk, arrays in zip(chunks, engine.run(model, work, chunks), strict=True):
        listed += [chunk.records[i] for i in arrays["numbers"]]
        named = (str(text).split("\n", 1) for text in arrays["broken"])
        broken += [Broken(name, Message("data.noted", "{text}", text=why)) for name, why in named]
        found += [arrays] if len(arrays["numbers"]) else []
        if progress is not None:
            progress(min(chunk.first + batch, len(records)), len(records))
    if not found:
        raise InputError("data.none", "None of the image sets could be read.")
    fresh = [a["untrained"] for a in found if "untrained" in a and a["untrained"].size]
    return Measured(
        tuple(listed),
        tuple(broken),
        np.concatenate([a["still"] for a in found]),
        np.concatenate([a["moved"] for a in found], axis=1),
        np.concatenate([a["kept"] for a in found], axis=1),
        np.concatenate([a["signs"] for a in found]),
        np.concatenate(fresh) if fresh else np.zeros((0, 3, 0), np.float32),
        tuple(str(c) for c in found[0]["columns"]),
    )


def plan_for(
    dataset: Dataset, settings: Settings, ratios: Sequence[float], seeds: int, variants: Sequence[str]
) -> Plan:
    """A plan, with the person's patches where every image set has a mask."""
    splits = dict.fromkeys((dataset.query, dataset.gallery))
    masked = all(r.mask is not None for split in splits for r in dataset.listing(split).records)
    return Plan(settings, tuple(ratios), seeds, tuple(variants), masked)


def labelled(dataset: Dataset) -> bool:
    """Whether the names tell identities."""
    return any(r.pid != UNKNOWN for r in dataset.listing(dataset.query).records)


def _tokens_fit(model: LoadedModel, count: int) -> bool:
    """Tokens of a data set that is larger than the budget would push each other out."""
    backbone = model.net.backbone
    return count * 3 * (backbone.grid.patches + 1) * backbone.dim * 4 < ChunkStore(TOKENS).max_bytes // 2


def _plain(plan: Plan) -> Any:
    others = {name: getattr(plan, name) for name in ("ratios", "seeds", "variants", "person")}
    return others | {"settings": plan.settings.as_dict()}
