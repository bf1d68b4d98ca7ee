"""Find the cases worth a figure: numbers of every image set of a split, and a map of their features.

ap             average precision of the set as a query in its own split
precision      share of the kept patches that people cover, mean over the modalities; where a mask is known
margin         cosine to the nearest right one minus cosine to the nearest wrong one
disagreement   1 - Jaccard overlap of the kept sets, mean over the pairs of modalities
darkness       1 - mean brightness of the RGB picture
outliers       patches with an outlier norm, mean over the modalities

What cannot be said is NaN. The map is the plane of the two largest principal components of the unit features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdtps.algorithm.trace import Trace
from sdtps.datasets import UNKNOWN, Dataset, Record
from sdtps.images.masks import people_patches
from sdtps.matters.judged import Labelled, judge
from sdtps.metrics.provenance import OUTLIER_LIMIT, norm_scores
from sdtps.models.reid import LoadedModel
from sdtps.pipeline import OpenSet, decide_batch, encode_batch
from sdtps.retrieval.chunk_store import TOKENS, ChunkStore, pack_tokens, unpack_tokens
from sdtps.retrieval.feature_store import short_hash, subject
from sdtps.retrieval.features import open_sets
from sdtps.retrieval.ranking import apart_labels, distances
from sdtps.support.errors import InputError
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Settings

COLUMNS = ("ap", "precision", "margin", "disagreement", "darkness", "outliers")
CASES = "cases"
SCHEMA = 1
BLOCK = 256
DIRECTIONS, ITERATIONS = 8, 8  # of the subspace that the principal components are found in
Array = NDArray[np.float32]


@dataclass(frozen=True)
class Survey:
    """A split, looked over. n image sets.

    Attributes:
        records: the n image sets.
        masks: (n, M, N) kept patches.
        table: (n, 6) the numbers, see `COLUMNS`.
        places: (n, 2) the map, between -1 and 1.
    """

    records: tuple[Record, ...]
    masks: NDArray[np.bool_]
    table: Array
    places: Array

    @property
    def bytes(self) -> int:
        """Memory of its arrays."""
        return int(self.masks.nbytes + self.table.nbytes + self.places.nbytes)


def survey(
    model: LoadedModel,
    dataset: Dataset,
    split: str,
    settings: Settings,
    *,
    batch: int = 16,
    cache: str | None = None,
    progress: Progress | None = None,
) -> Survey:
    """Look over a split; chunks stay on disk, so that stopped work goes on.

    Args:
        model: loaded weights.
        dataset: the data set, and its `split`.
        settings: ratios, beta and variant.
        batch: image sets per forward pass.
        cache: folder of tokens and results; see `default_folder`.
        progress: called with (done, total); may raise to stop.
    """
    records = dataset.listing(split).records
    prefix = f"{subject(model, dataset, split)}-{batch}"
    store, listed, found = ChunkStore(CASES, cache), [], []
    for start in range(0, len(records), batch):
        chunk = records[start : start + batch]
        key = f"{prefix}-{start}"
        whole = f"{key}-{short_hash([SCHEMA, settings.as_dict()])}"
        arrays = store.get(whole)
        if arrays is None:
            arrays = _look(model, dataset, chunk, settings, ChunkStore(TOKENS, cache), key)
            store.put(whole, arrays)
        if len(arrays["numbers"]):
            listed += [chunk[i] for i in arrays["numbers"]]
            found.append(arrays)
        if progress is not None:
            progress(min(start + batch, len(records)), len(records))
    if not found:
        raise InputError("data.none", "None of the image sets could be read.")
    features = np.concatenate([a["features"] for a in found])
    seen = np.concatenate([a["seen"] for a in found])
    searched = _searched(features, listed, dataset)
    table = np.column_stack([searched[:, 0], seen[:, 0], searched[:, 1], seen[:, 1:]]).astype(np.float32)
    return Survey(tuple(listed), np.concatenate([a["masks"] for a in found]), table, plane(features))


def _look(
    model: LoadedModel, dataset: Dataset, chunk: Sequence[Record], settings: Settings, tokens: ChunkStore, key: str
) -> dict[str, NDArray[Any]]:
    readable, sets, _ = open_sets(chunk, model, dataset.read)
    if not sets:
        return {"numbers": np.zeros(0, np.int64)}
    there = tokens.get(key)
    encoded = encode_batch(sets) if there is None else unpack_tokens(there)
    if there is None:
        tokens.put(key, pack_tokens(encoded))
    traces, features = decide_batch(model, encoded, settings)
    masks = np.stack([traces[m].mask.numpy() for m in MODALITIES], axis=1)  # (B, M, N)
    norms = {m: encoded.patches[m].norm(dim=-1).numpy() for m in MODALITIES}
    seen = [
        [
            _precision(model, dataset, record, traces, i),
            _disagreement(masks[i]),
            _darkness(opened),
            float(np.mean([(norm_scores(norms[m][i]) > OUTLIER_LIMIT).sum() for m in MODALITIES])),
        ]
        for i, (record, opened) in enumerate(zip(readable, sets, strict=True))
    ]
    places = {record: i for i, record in enumerate(chunk)}
    return {
        "features": features.numpy(),
        "masks": masks,
        "seen": np.array(seen, np.float32),
        "numbers": np.array([places[r] for r in readable], np.int64),
    }


def _precision(model: LoadedModel, dataset: Dataset, record: Record, traces: dict[str, Trace], sample: int) -> float:
    if record.mask is None:
        return float("nan")
    dataset.check(record.mask)
    backbone = model.net.backbone
    people = people_patches(record.mask, backbone.input_size, backbone.grid)
    kept = [traces[m].mask[sample].numpy() for m in MODALITIES]
    return float(np.mean([people[k].mean() for k in kept if k.any()]))


def _disagreement(masks: NDArray[np.bool_]) -> float:
    pairs = [(a & b).sum() / max(1, (a | b).sum()) for a, b in combinations(masks, 2)]
    return 1.0 - float(np.mean(pairs))


def _darkness(opened: OpenSet) -> float:
    pixels = opened.prepared.pixels[MODALITIES[0]]
    return float("nan") if pixels is None else 1.0 - float(pixels.mean()) / 255.0


def _searched(features: Array, records: Sequence[Record], dataset: Dataset) -> NDArray[np.float64]:
    """(n, 2) average precision and margin; NaN without another view of the person."""
    found = np.full((len(records), 2), np.nan)
    pid = np.array([r.pid for r in records], np.int64)
    apart = apart_labels(records, dataset.layout.apart)
    if (pid == UNKNOWN).all():
        return found
    sets = Labelled(features, pid, apart)
    try:
        judged = judge(sets, sets)
    except ValueError:  # nobody is seen twice
        return found
    found[judged.query, 0] = judged.by_query()[:, 0]
    for start in range(0, len(records), BLOCK):
        for i, row in enumerate(distances(features[start : start + BLOCK], features), start):
            same = pid == pid[i]
            right, wrong = same & (apart != apart[i]), ~same
            if pid[i] != UNKNOWN and right.any() and wrong.any():
                found[i, 1] = (row[wrong].min() - row[right].min()) / 2  # squared distance is 2 - 2 cos
    return found


def plane(features: Array, seed: int = 0) -> Array:
    """(n, D) features to (n, 2) places between -1 and 1: the two largest principal components of the unit features."""
    unit = features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
    centred = unit - unit.mean(0)
    start = np.random.default_rng(seed).normal(size=(centred.shape[1], min(DIRECTIONS, *centred.shape)))
    basis = start.astype(np.float32)
    for _ in range(ITERATIONS):
        basis, _ = np.linalg.qr(centred.T @ (centred @ basis))
    _, _, turned = np.linalg.svd(centred @ basis, full_matrices=False)
    places = centred @ (basis @ turned.T)[:, :2]
    if places.shape[1] < 2:
        places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    sign = np.sign(places[np.abs(places).argmax(0), np.arange(2)])  # the same side every time
    return (places * np.where(sign == 0, 1, sign) / max(float(np.abs(places).max()), 1e-12)).astype(np.float32)
