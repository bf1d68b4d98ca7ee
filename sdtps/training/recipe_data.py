"""What a recipe trains on, opened: pictures of a folder, or generated people as tokens of the frozen trunk."""

from pathlib import Path

import torch
from tqdm import tqdm

from sdtps.datasets import read_rgbnt201
from sdtps.models.backbone import HieraBackbone
from sdtps.training.initial import new_model
from sdtps.training.recipe import Recipe, Synthetic
from sdtps.training.sources import CachedTokens, FolderImages, Source
from sdtps.training.synth import edition
from sdtps.training.tokens import TokenSet, cache_synthetic


def open_source(recipe: Recipe, quiet: bool = False) -> Source:
    """The recipe's training data; generated people are cached as tokens on the way."""
    if recipe.folder is not None:
        return FolderImages(read_rgbnt201(recipe.folder, recipe.split))
    assert recipe.synthetic is not None
    return open_tokens(recipe, recipe.synthetic, quiet)


def open_tokens(recipe: Recipe, spec: Synthetic, quiet: bool = False) -> CachedTokens:
    """Generated people as tokens of the recipe's frozen trunk, made where they are not cached."""
    net = new_model(recipe, classes=0)
    backbone = net.backbone
    if not isinstance(backbone, HieraBackbone):
        raise ValueError("Training on cached tokens needs a Hiera backbone.")
    backbone.eval()
    folder = Path(spec.cache)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    made = f"{spec.style}{edition(spec.style)}-{spec.ids}x{spec.views}-block{backbone.frozen_blocks}"
    if backbone.colours:
        made += "-colours"
    if spec.bfloat16:
        made += "-bfloat16"
    if spec.distant:
        made += f"-distant{spec.distant:g}"
    for seed in tqdm(spec.seeds, desc="tokens", unit="world", disable=quiet):
        path = folder / f"{seed}-{made}.npz"
        if not path.exists():
            tokens = cache_synthetic(
                backbone, seed, spec.ids, spec.views, spec.style, bfloat16=spec.bfloat16, distant=spec.distant
            )
            tokens.save(path)
        paths.append(path)
    with torch.no_grad():  # not inference mode: the trainable blocks run on it
        blank = backbone.stem(torch.zeros(1, 3, *backbone.input_size))
    return CachedTokens(TokenSet.load(paths), blank, spec.patches, dark=spec.dark)
