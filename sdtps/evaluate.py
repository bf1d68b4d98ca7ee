"""Retrieval by the reference protocol, and how well the maps and the kept patches find people."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image

from sdtps import metrics
from sdtps.datasets import Record
from sdtps.inputs import prepare, read_triplet
from sdtps.learn.tokens import patch_share
from sdtps.model import LoadedModel
from sdtps.trace import Trace
from sdtps.types import MODALITIES, Grid, Settings
from sdtps.variants import get_variant

MAX_RANK = 50


@dataclass(frozen=True)
class Retrieval:
    """mAP and cumulative matching; `skipped` queries had no match in the gallery."""

    mean_average_precision: float
    cmc: NDArray[np.float64]  # (50,) share of queries with a match within the first r + 1
    queries: int
    skipped: int

    def rank(self, r: int) -> float:
        """Rank-r accuracy."""
        return float(self.cmc[min(r, len(self.cmc)) - 1])


def retrieval(
    query: NDArray[np.float32],
    query_pid: NDArray[np.int64],
    query_cam: NDArray[np.int64],
    gallery: NDArray[np.float32],
    gallery_pid: NDArray[np.int64],
    gallery_cam: NDArray[np.int64],
) -> Retrieval:
    """Squared Euclidean distance of L2-normalised features; gallery items of the same id and camera are dropped.

    Args:
        query: (Q, D) features, with (Q,) identities and cameras; the gallery the same.
    """
    q, g = (F.normalize(torch.from_numpy(np.ascontiguousarray(f)), dim=-1) for f in (query, gallery))
    distance = torch.cdist(q, g).square().numpy()
    precisions, hits, skipped = [], [], 0
    for i, row in enumerate(distance):
        allowed = ~((gallery_pid == query_pid[i]) & (gallery_cam == query_cam[i]))
        order = np.argsort(row[allowed], kind="stable")
        match = gallery_pid[allowed][order] == query_pid[i]
        if not match.any():
            skipped += 1
            continue
        places = np.flatnonzero(match)
        precisions.append(np.mean((np.arange(len(places)) + 1) / (places + 1)))
        hits.append(np.arange(MAX_RANK) >= places[0])
    if not hits:
        raise ValueError("No query has a match under another camera; the folder needs people seen by two cameras.")
    return Retrieval(float(np.mean(precisions)), np.mean(hits, axis=0), len(hits), skipped)


@dataclass(frozen=True)
class MapQuality:
    """How well one modality's maps find people, averaged over the triplets of a folder that have masks.

    Attributes:
        precision: share of the kept patches that people cover at least half.
        auc: per map (score, predictor, self, cross1, cross2), AUC of those patches against the rest.
        correlation: per pair of maps, Pearson correlation over the patches.
    """

    precision: float
    auc: dict[str, float]
    correlation: dict[str, float]


@dataclass(frozen=True)
class FolderFeatures:
    """Features of a folder, and the quality of its maps where masks exist."""

    features: NDArray[np.float32]  # (n, D)
    pid: NDArray[np.int64]
    cam: NDArray[np.int64]
    quality: dict[str, MapQuality]  # per modality; empty without masks


def extract(
    model: LoadedModel,
    records: Sequence[Record],
    settings: Settings | None = None,
    *,
    batch: int = 16,
    missing: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> FolderFeatures:
    """Test features of a folder, in batches.

    Args:
        model: loaded weights.
        records: the triplets.
        settings: ratios and beta at test time.
        batch: triplets per forward pass.
        missing: modalities to leave out.
        progress: called with (done, total).
    """
    settings = settings or Settings()
    variant = get_variant(settings.variant)
    net, backbone = model.net, model.net.backbone
    features: list[NDArray[np.float32]] = []
    rows: dict[str, list[MapQuality]] = {str(m): [] for m in MODALITIES}
    for start in range(0, len(records), batch):
        chunk = records[start : start + batch]
        triplets = [prepare(read_triplet(*r.paths).without(*missing), backbone.input_size) for r in chunk]
        images = torch.stack([t.tensor(backbone.mean, backbone.std) for t in triplets], dim=1).to(model.device)
        camera = torch.tensor([r.cam for r in chunk], device=model.device)
        with model.lock, torch.inference_mode(), model.autocast():
            encoded = net.encode(images, camera)
            evidence = net.sdtps.evidence(encoded.patches, encoded.global_vectors, variant)
            traces = {m: net.sdtps.decide(e, settings) for m, e in evidence.items()}
            features.append(net.test_feature(encoded, traces).float().cpu().numpy())
        for i, record in enumerate(chunk):
            if record.mask is not None:
                people = people_patches(record.mask, backbone.input_size, backbone.grid)
                for m, trace in traces.items():
                    rows[m].append(_map_quality(trace, i, people))
        if progress is not None:
            progress(min(start + batch, len(records)), len(records))
    return FolderFeatures(
        np.concatenate(features),
        np.array([r.pid for r in records]),
        np.array([r.cam for r in records]),
        {m: _mean_quality(found) for m, found in rows.items() if found},
    )


def evaluate_folder(found: FolderFeatures) -> Retrieval:
    """Every triplet is a query and the whole folder its gallery, as for RGBNT201."""
    return retrieval(found.features, found.pid, found.cam, found.features, found.pid, found.cam)


def _map_quality(trace: Trace, sample: int, people: NDArray[np.bool_]) -> MapQuality:
    cross1, cross2 = trace.cross_attention.values()
    tensors = {"score": trace.score, "self": trace.self_attention, "cross1": cross1, "cross2": cross2}
    if trace.predictor is not None:
        tensors["predictor"] = trace.predictor
    maps = {name: t[sample].cpu().numpy() for name, t in tensors.items()}
    pairs = combinations([name for name in maps if name != "score"], 2)
    return MapQuality(
        metrics.precision(people, trace.keep[sample].cpu().numpy()),
        {name: metrics.auc(people, values) for name, values in maps.items()},
        {f"{a}-{b}": metrics.correlation(maps[a], maps[b]) for a, b in pairs},
    )


def _mean_quality(found: Sequence[MapQuality]) -> MapQuality:
    def mean(values: Sequence[float]) -> float:
        known = [v for v in values if not np.isnan(v)]
        return float(np.mean(known)) if known else float("nan")

    return MapQuality(
        mean([q.precision for q in found]),
        {name: mean([q.auc[name] for q in found]) for name in found[0].auc},
        {pair: mean([q.correlation[pair] for q in found]) for pair in found[0].correlation},
    )


def people_patches(mask: Path, size: tuple[int, int], grid: Grid) -> NDArray[np.bool_]:
    """(N,) patches that people cover at least half; masks hold 255 for the person and 64 for others."""
    with Image.open(mask) as image:
        pixels = np.asarray(image.convert("L").resize(size[::-1], Image.Resampling.NEAREST))
    return patch_share(pixels > 32, grid) >= 0.5
