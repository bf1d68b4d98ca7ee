"""Trained on one generator's people, tested on another's: a plain head on frozen trunk tokens, area under the curve.

usage: python -m scripts.transfer [--ids 50] [--steps 500] [--seeds 2]

The head reads a patch's token and the mean of its neighbourhood and tells people from street; one per modality. It is
the smallest thing that shows whether a generator teaches what holds elsewhere.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from sdtps.metrics import auc
from sdtps.models.adapters import surroundings
from sdtps.models.backbone import HieraBackbone
from sdtps.models.reid import ModelConfig
from sdtps.training.initial import new_model
from sdtps.training.recipe import Recipe, Synthetic
from sdtps.training.synth import STYLES, edition
from sdtps.training.tokens import TokenSet, cache_synthetic
from sdtps.types import MODALITIES, Grid

TRAIN_SEEDS, TEST_SEED = (2000, 2001, 2002, 2003), 1
BATCH, PATCHES = 64, 32


def head(dim: int) -> nn.Module:
    """A patch and its surroundings to a logit."""
    return nn.Sequential(nn.LayerNorm(2 * dim), nn.Dropout(0.2), nn.Linear(2 * dim, 64), nn.GELU(), nn.Linear(64, 1))


def tokens_of(backbone: HieraBackbone, style: str, seed: int, ids: int, views: int, folder: Path) -> TokenSet:
    """One world's tokens, from the cache where they are."""
    path = folder / f"{seed}-{style}{edition(style)}-{ids}x{views}-block{backbone.frozen_blocks}-colours.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        cache_synthetic(backbone, seed, ids, views, style=style).save(path)
    return TokenSet.load([path])


def centre(grid: Grid) -> NDArray[np.float64]:
    """(N,) a map that knows nothing but that people stand in the middle."""
    y, x = np.mgrid[0 : grid.rows, 0 : grid.cols]
    return np.asarray(-(((y + 0.5) / grid.rows - 0.5) ** 2 + ((x + 0.5) / grid.cols - 0.5) ** 2).ravel())


def centre_prior(found: TokenSet, grid: Grid) -> float:
    """Mean area of that map."""
    people = (found.person + found.others) >= 0.5
    return float(np.mean([auc(p, centre(grid)) for p in people if p.any() and not p.all()]))


def features(found: TokenSet, modality: int, backbone: HieraBackbone) -> Tensor:
    """(n, N, 2D) tokens of stage 3 beside the mean of their neighbourhoods."""
    flat = torch.from_numpy(found.tokens[:, modality]).float().flatten(1, 2)
    return torch.cat([flat, surroundings(flat, backbone.grid)], dim=-1)


def fit(data: Tensor, share: Tensor, steps: int, seed: int) -> nn.Module:
    """Cross-entropy with the share of people in each patch."""
    torch.manual_seed(seed)
    net = head(data.shape[-1] // 2)
    optimiser = torch.optim.AdamW(net.parameters(), 1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        index, columns = torch.randint(len(data), (BATCH, 1)), torch.randperm(data.shape[1])[:PATCHES]
        loss = F.binary_cross_entropy_with_logits(net(data[index, columns]).squeeze(-1), share[index, columns])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net.eval()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("runs/tokens"))
    parser.add_argument("--ids", type=int, default=50, help="people per world; four worlds are trained on")
    parser.add_argument("--test-ids", type=int, default=50)
    parser.add_argument("--worlds", type=int, default=len(TRAIN_SEEDS))
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    config = ModelConfig(kind="hiera", name="sam2_hiera_tiny", input_size=(256, 128),
                         backbone_options={"adapter_dim": 64, "colours": True})  # fmt: skip
    recipe = Recipe(model=config, out="runs", initial="embedded", initial_parts="trunk", synthetic=Synthetic())
    backbone = new_model(recipe, 0).backbone
    assert isinstance(backbone, HieraBackbone)
    backbone.eval()
    print("| trained on | tested on | RGB | NIR | TIR | centre prior |\n|---|---|---|---|---|---|", flush=True)
    tests = {s: tokens_of(backbone, s, TEST_SEED, options.test_ids, 4, options.cache) for s in STYLES}
    for style in STYLES:
        worlds = [
            tokens_of(backbone, style, seed, options.ids, 4, options.cache) for seed in TRAIN_SEEDS[: options.worlds]
        ]
        share = torch.from_numpy(np.concatenate([w.person + w.others for w in worlds])).float().clamp(0, 1)
        found: dict[str, list[list[float]]] = {s: [] for s in STYLES}
        for m in range(len(MODALITIES)):
            data = torch.cat([features(w, m, backbone) for w in worlds])
            nets = [fit(data, share, options.steps, seed) for seed in range(options.seeds)]
            for tested, test in tests.items():
                people = (test.person + test.others) >= 0.5
                counted = people.any(1) & ~people.all(1)
                with torch.inference_mode():
                    logits = [n(features(test, m, backbone)).squeeze(-1).numpy() for n in nets]
                areas = [[auc(p, s) for p, s in zip(people[counted], lg[counted], strict=True)] for lg in logits]
                found[tested].append([float(np.mean(areas))])
        for tested, values in found.items():
            prior = centre_prior(tests[tested], backbone.grid)
            print(f"| {style} | {tested} | {' | '.join(f'{v[0]:.3f}' for v in values)} | {prior:.3f} |", flush=True)


if __name__ == "__main__":
    main()
