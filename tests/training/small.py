"""Small recipes that train in seconds: a tiny CLIP on a handful of generated pictures."""

from pathlib import Path

from sdtps.models.reid import ModelConfig
from sdtps.training.recipe import LossWeights, Phase, Recipe

CLIP = ModelConfig(
    kind="clip",
    name="vit_base_patch16_clip_quickgelu_224",
    backbone_options={
        "cameras": 4,
        "projection": 32,
        "timm_options": {"embed_dim": 64, "num_heads": 4, "depth": 2},
    },
    global_local=True,
)
PLAIN = LossWeights(cross_entropy=1.0, foreground=0.0, token=0.0, maps=0.0)


def folder_recipe(folder: Path, out: Path, **changes) -> Recipe:
    """Two steps on the pictures of a folder."""
    values = {
        "model": CLIP,
        "out": str(out),
        "folder": str(folder),
        "phases": (Phase(2, lr=1e-3, backbone_lr=1e-4, warm_up=0.0),),
        "loss": PLAIN,
        "identities": 2,
        "views": 2,
        "epoch_steps": 2,
        "sparse_ratio": 0.5,
        "aggr_ratio": 0.4,
        "beta": 0.25,
        "ema": 0.0,
    }
    return Recipe(**(values | changes))
