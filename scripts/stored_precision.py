"""Does fp16 storage change what is kept? The shipped file against the fp32 weights it was rounded from.

On the shipped examples at several sparse ratios: how many kept sets differ, and how close to the cut the patches are
that changed sides. Training leaves the fp32 weights in `state.pt`.

usage: python -m scripts.stored_precision runs/embedded/state.pt [--weights FILE]
"""

import argparse
from dataclasses import replace

import numpy as np
import torch

import sdtps
from sdtps.metrics.faithfulness_table import example_cases
from sdtps.models.reid import LoadedModel, build_model
from sdtps.pipeline import OpenSet, encode_together
from sdtps.types import MODALITIES

RATIOS = (0.1, 0.3, 0.5, 0.7)
AVERAGE = "module."  # what torch's AveragedModel puts before each name


def unrounded(stored: LoadedModel, state_file: str) -> LoadedModel:
    """The model with the averaged fp32 weights of a training state; heads that were not shipped are left out."""
    average = torch.load(state_file, map_location="cpu", weights_only=True)["average"]
    net = build_model(stored.net.config)
    net.load_state_dict({name: average[AVERAGE + name] for name in net.state_dict()})
    return replace(stored, net=net.to(stored.device).eval())


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", help="state.pt of the training run")
    parser.add_argument("--weights", help="the stored file (default: the embedded model)")
    options = parser.parse_args()
    stored = sdtps.load_model(options.weights) if options.weights else sdtps.load_model()
    models = (stored, unrounded(stored, options.state))
    sets, changed = 0, []
    for case in example_cases():
        # Both carry one identity, so nothing may be cached.
        opened = [encode_together([OpenSet.of(model, case.read())])[0] for model in models]
        for ratio in RATIOS:
            settings = sdtps.Settings(sparse_ratio=ratio)
            half, full = (one.analyse(settings) for one in opened)
            for m in MODALITIES:
                sets += 1
                moved = np.flatnonzero(half[m].mask != full[m].mask)
                if len(moved):
                    cut = full[m].score[full[m].keep].min()
                    changed.append(float(np.abs(full[m].score[moved] - cut).max()))
    print(f"{len(changed)} of {sets} kept sets differ" + (f", within {max(changed):.4f} of the cut" if changed else ""))


if __name__ == "__main__":
    main()
