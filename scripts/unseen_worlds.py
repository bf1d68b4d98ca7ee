"""How each map finds people, and people their other views, in worlds that training never saw, by two generators.

usage: python -m scripts.unseen_worlds [--weights FILE] [--styles rendered drawn] [--seeds 1 2] [--ids 50]

Rank-1 and mAP across the cameras of each world, and, as a mean over the worlds of a generator, the area under the curve
of the fused score at three betas, of the predictor, self and cross maps, against the patches that people cover at least
half.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

import sdtps
from scripts.transfer import centre
from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.images.masks import HALF, patch_share
from sdtps.metrics import auc
from sdtps.models.reid import Encoded, ReidModel
from sdtps.training.synth import STYLES, SynthSample, generate
from sdtps.types import MODALITIES, Grid

BETAS = (0.0, 0.25, 0.5)
BATCH = 20


def encoded(net: ReidModel, shots: Sequence[SynthSample]) -> Encoded:
    """Image sets through the backbone as it runs on the page, mirror images included."""
    backbone = net.backbone
    mean, std = (torch.tensor(v)[:, None, None] for v in (backbone.mean, backbone.std))
    pixels = np.stack([[getattr(s, m) for s in shots] for m in MODALITIES])
    images = (torch.from_numpy(pixels).permute(0, 1, 4, 2, 3) / 255 - mean) / std
    return net.reduce(backbone(images))


def measure(net: ReidModel, world: Sequence[SynthSample]) -> tuple[dict[tuple[str, str], float], NDArray[np.float32]]:
    """Mean area by (modality, map), and the (n, D) features by which people are compared."""
    module = net.sdtps
    assert isinstance(module, MultiModalSDTPS)
    areas: dict[tuple[str, str], list[float]] = defaultdict(list)
    compared = []
    for start in range(0, len(world), BATCH):
        shots = world[start : start + BATCH]
        people = [people_patches(s, net.backbone.grid) for s in shots]
        tokens = encoded(net, shots)
        for beta in BETAS:
            module.beta = beta
            traces = module(tokens.patches, tokens.global_vectors)
            for m in MODALITIES:
                trace = traces[m]
                maps = {f"score at {beta:g}": trace.score}
                if beta == 0.25:
                    crosses = trace.raw_cross_attention.values()
                    maps |= {"predictor": trace.predictor, "self": trace.raw_self_attention}
                    maps |= {f"cross {k}": cross for k, cross in enumerate(crosses, 1)}
                    maps["centre prior"] = torch.from_numpy(centre(net.backbone.grid)).expand(len(shots), -1)
                for name, values in maps.items():
                    pairs = zip(people, values.numpy(), strict=True)
                    areas[m, name] += [auc(p, v) for p, v in pairs if p.any() and not p.all()]
            if beta == 0.25:
                compared.append(net.test_feature(tokens, traces).numpy())
    return {key: float(np.mean(values)) for key, values in areas.items()}, np.concatenate(compared)


def people_patches(shot: SynthSample, grid: Grid) -> NDArray[np.bool_]:
    """(N,) whether people, bystanders too, cover at least half of a patch."""
    return np.asarray(patch_share(shot.person | shot.others, grid) >= HALF)


def rank(features: NDArray[np.float32], pid: NDArray[np.int64], cam: NDArray[np.int64]) -> tuple[float, float]:
    """Rank-1 and mAP by cosine; pictures of the same person by the same camera do not count."""
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    cosines = unit @ unit.T
    firsts, precisions = [], []
    for i in range(len(pid)):
        allowed = (pid != pid[i]) | (cam != cam[i])
        right = (pid[allowed] == pid[i])[np.argsort(-cosines[i, allowed])]
        places = np.flatnonzero(right)
        firsts.append(right[0])
        precisions.append(float((np.arange(1, len(places) + 1) / (places + 1)).mean()))
    return float(np.mean(firsts)), float(np.mean(precisions))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights")
    parser.add_argument("--styles", nargs="+", choices=STYLES, default=list(STYLES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--ids", type=int, default=50)
    parser.add_argument("--views", type=int, default=4)
    options = parser.parse_args()
    net = (sdtps.load_model(options.weights) if options.weights else sdtps.load_model()).net.eval()
    names = [*(f"score at {b:g}" for b in BETAS), "predictor", "self", "cross 1", "cross 2", "centre prior"]
    for style in options.styles:
        found, ranks = [], []
        for seed in options.seeds:
            world = list(generate(options.ids, options.views, seed=seed, style=style))
            with torch.inference_mode():
                areas, features = measure(net, world)
            found.append(areas)
            ranks.append(rank(features, *(np.array([getattr(s, k) for s in world]) for k in ("pid", "cam"))))
            print(f"{style}, world {seed}: Rank-1 {ranks[-1][0]:.3f}, mAP {ranks[-1][1]:.3f}", flush=True)
        first, average = np.mean(ranks, axis=0)
        print(f"\n{style}, all {len(ranks)} of {len(world)} sets: Rank-1 {first:.3f}, mAP {average:.3f}\n")
        print(f"| | {' | '.join(names)} |\n|---|{'---|' * len(names)}")
        for m in MODALITIES:
            means = (np.mean([areas[m, name] for areas in found]) for name in names)
            print(f"| {m.upper()} | {' | '.join(f'{mean:.3f}' for mean in means)} |", flush=True)


if __name__ == "__main__":
    main()
