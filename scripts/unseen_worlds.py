"""How each map finds people, and people their other views, in worlds that training never saw, by two generators.

usage: python -m scripts.unseen_worlds [--weights FILE] [--styles rendered drawn] [--seed 1] [--ids 50]

Area under the curve of the fused score at three betas, of the predictor, self and cross maps, against the patches that
people cover at least half; Rank-1 and mAP across cameras. Runs on cached trunk tokens.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

import sdtps
from scripts.transfer import centre_prior, tokens_of
from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.metrics import auc
from sdtps.models.adapters import surroundings
from sdtps.models.backbone import HieraBackbone
from sdtps.models.reid import ReidModel
from sdtps.training.synth import STYLES
from sdtps.training.tokens import TokenSet
from sdtps.types import MODALITIES

BETAS = (0.0, 0.25, 0.5)
BATCH = 50


def measure(net: ReidModel, found: TokenSet) -> tuple[dict[tuple[str, str], float], NDArray[np.float32]]:
    """Mean area by (modality, map), and the (n, D) features by which people are compared."""
    backbone = net.backbone
    module = net.sdtps
    assert isinstance(backbone, HieraBackbone)
    assert isinstance(module, MultiModalSDTPS)
    people: NDArray[np.bool_] = np.asarray((found.person + found.others) >= 0.5)
    counted: NDArray[np.bool_] = np.asarray(people.any(1) & ~people.all(1))
    areas: dict[tuple[str, str], list[float]] = defaultdict(list)
    compared = []
    for start in range(0, len(found), BATCH):
        index = np.arange(start, min(start + BATCH, len(found)))
        stem = found.stem(index)
        features = torch.cat([stem.tokens.flatten(1, 2), stem.skips], dim=-1)
        if backbone.surround:
            features = torch.cat([features, surroundings(features, backbone.grid)], dim=-1)
        encoded = net.reduce(backbone.adapt(features.unflatten(0, (len(MODALITIES), len(index)))))
        for beta in BETAS:
            module.beta = beta
            traces = module(encoded.patches, encoded.global_vectors)
            for m in MODALITIES:
                trace = traces[m]
                maps = {f"score at {beta:g}": trace.score}
                if beta == 0.25:
                    crosses = trace.raw_cross_attention.values()
                    maps |= {"predictor": trace.predictor, "self": trace.raw_self_attention}
                    maps |= {f"cross {k}": cross for k, cross in enumerate(crosses, 1)}
                for name, values in maps.items():
                    pairs = zip(people[index], values.numpy(), counted[index], strict=True)
                    areas[m, name] += [auc(p, v) for p, v, c in pairs if c]
            if beta == 0.25:
                compared.append(net.test_feature(encoded, traces).numpy())
    return {key: float(np.mean(values)) for key, values in areas.items()}, np.concatenate(compared)


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
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ids", type=int, default=50)
    parser.add_argument("--cache", type=Path, default=Path("runs/tokens"))
    options = parser.parse_args()
    net = (sdtps.load_model(options.weights) if options.weights else sdtps.load_model()).net.eval()
    backbone = net.backbone
    assert isinstance(backbone, HieraBackbone)
    names = [*(f"score at {b:g}" for b in BETAS), "predictor", "self", "cross 1", "cross 2"]
    for style in options.styles:
        found = tokens_of(backbone, style, options.seed, options.ids, 4, options.cache)
        with torch.inference_mode():
            areas, features = measure(net, found)
        first, average = rank(features, found.pid, found.cam)
        print(f"\n{style}, world {options.seed}: {len(found)} image sets, Rank-1 {first:.3f}, mAP {average:.3f}\n")
        print(f"| | {' | '.join(names)} | centre prior |\n|---|{'---|' * (len(names) + 1)}")
        for m in MODALITIES:
            values = " | ".join(f"{areas[m, name]:.3f}" for name in names)
            print(f"| {m.upper()} | {values} | {centre_prior(found, backbone.grid):.3f} |")


if __name__ == "__main__":
    main()
