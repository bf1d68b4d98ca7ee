"""What self and cross maps say inside the person: do they follow their meaning, and more than the predictor does?

On generated people of a world that training never saw: rank correlation, over the patches that are mostly person, of a
self map with closeness to the person's mean colour, and of a cross map with how much a patch stands out to the other
modality.

usage: python -m scripts.map_meaning [--people 60] [--style rendered|drawn]
"""

import argparse
from collections import defaultdict
from itertools import product

import numpy as np
from numpy.typing import NDArray

import sdtps
from sdtps.images.masks import HALF, patch_share
from sdtps.metrics import correlation
from sdtps.training.synth import STYLES, generate
from sdtps.training.tokens import patch_typicality, patch_visibility
from sdtps.types import MODALITIES

FEWEST = 8  # patches; fewer have no order to speak of


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--style", choices=STYLES, default=STYLES[0])
    options = parser.parse_args()
    model = sdtps.load_model()
    grid = model.net.backbone.grid
    rows: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for shot in generate(options.people, 4, seed=0, style=options.style):
        person, others = patch_share(shot.person, grid), patch_share(shot.others, grid)
        inside = person >= HALF
        if inside.sum() < FEWEST:
            continue
        analysis = sdtps.analyse(model, shot.rgb, shot.nir, shot.tir)
        for m, o in product(MODALITIES, MODALITIES):
            trace, pixels = analysis[m], getattr(shot, o)
            if o is m:
                shown, meaning = trace.self_attention, patch_typicality(pixels, person, grid)
            else:
                shown, meaning = trace.cross_attention[o], patch_visibility(pixels, 1 - person - others, grid)
            assert trace.predictor is not None
            order = _rank(meaning[inside])
            rows[m, o].append(
                (correlation(_rank(shown[inside]), order), correlation(_rank(trace.predictor[inside]), order))
            )
    print("| patches of | compared with | meaning | the map | the predictor |\n|---|---|---|---|---|")
    for (own_name, other), found in rows.items():
        own, predictor = np.nanmean(found, axis=0)
        says = "typical colour" if other == own_name else f"stands out in {other.upper()}"
        print(f"| {own_name.upper()} | {other.upper()} | {says} | {own:.2f} | {predictor:.2f} |")


def _rank(values: NDArray[np.floating]) -> NDArray[np.floating]:
    return values.argsort().argsort().astype(np.float64)


if __name__ == "__main__":
    main()
