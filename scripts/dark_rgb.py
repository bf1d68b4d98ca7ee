"""What cross-modal guidance adds in the dark: the RGB branch on generated nights with RGB below 10 of 255, by beta.

usage: python -m scripts.dark_rgb [--people 40] [--style rendered|drawn] [--weights FILE]
"""

import argparse

import numpy as np

import sdtps
from sdtps.images.masks import patch_share
from sdtps.metrics import auc, precision
from sdtps.training.synth import STYLES, generate

BETAS = (0.0, 0.25, 0.5)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=40)
    parser.add_argument("--style", choices=STYLES, default=STYLES[0])
    parser.add_argument("--weights")
    options = parser.parse_args()
    model = sdtps.load_model(options.weights) if options.weights else sdtps.load_model()
    rows: dict[float, list[tuple[float, float]]] = {beta: [] for beta in BETAS}
    for shot in generate(options.people, 1, seed=0, force=("night", "black_rgb"), style=options.style):
        if shot.rgb.mean() >= 10:
            continue
        people = patch_share(shot.person | shot.others, model.net.backbone.grid) >= 0.5
        for beta in BETAS:
            settings = sdtps.Settings(sparse_ratio=0.3, beta=beta)
            trace = sdtps.analyse(model, shot.rgb, shot.nir, shot.tir, settings)["rgb"]
            rows[beta].append((auc(people, trace.score), precision(people, trace.keep)))
    print("| beta | image sets | AUC of the RGB score | precision at 0.3 |\n|---|---|---|---|")
    for beta, found in rows.items():
        area, share = np.nanmean(found, axis=0)
        print(f"| {beta} | {len(found)} | {area:.3f} | {share:.3f} |")


if __name__ == "__main__":
    main()
