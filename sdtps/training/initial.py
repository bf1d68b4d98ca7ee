"""The model that a recipe begins with: seeded, and with the weights of a file where it names one."""

from dataclasses import replace
from functools import lru_cache

import torch
from torch import Tensor

from sdtps.checkpoints.load import load_checkpoint
from sdtps.models.backbone import HieraBackbone, VitBackbone
from sdtps.models.reid import ReidModel, build_model
from sdtps.resources import EMBEDDED
from sdtps.training.recipe import Recipe

NAMED = 3  # tensors that a refusal names


def new_model(recipe: Recipe, classes: int) -> ReidModel:
    """The recipe's model, seeded, with its initial weights."""
    torch.manual_seed(recipe.seed)
    net = build_model(replace(recipe.built, num_classes=classes))
    if recipe.initial is not None:
        take_initial(net, recipe)
    return net


def take_initial(net: ReidModel, recipe: Recipe) -> None:
    """Copy what the recipe asks for out of its initial weights.

    A backbone that is not whole there is refused: it would begin at random in silence. Heads over other identities
    and a camera embedding for other cameras stay as they are.
    """
    assert recipe.initial is not None
    source = EMBEDDED if recipe.initial == "embedded" else recipe.initial
    given = _tensors(str(source), recipe.model.input_size)
    prefix = {"trunk": trunk_prefix(net), "backbone": "backbone.", "all": ""}[recipe.initial_parts]
    wanted = net.state_dict()
    fitting = {k: v for k, v in given.items() if k.startswith(prefix) and k in wanted and v.shape == wanted[k].shape}
    lacking = [k for k in wanted if k.startswith(trunk_prefix(net)) and k not in fitting]
    if lacking:
        more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
        raise ValueError(
            f"{recipe.initial!r} is no start for {recipe.model.name}: it lacks {', '.join(lacking[:NAMED])}{more} "
            "in that shape; name weights of the same architecture."
        )
    if recipe.initial_parts == "trunk":
        # Rounded as it will be stored: heads that learn on it then meet the same features in the shipped file.
        fitting = {k: v.half().float() for k, v in fitting.items()}
    net.load_state_dict(fitting, strict=False)


@lru_cache(maxsize=1)  # one training asks for the same file several times
def _tensors(source: str, size: tuple[int, int]) -> dict[str, Tensor]:
    """Tensors by this program's names; position tables come resized to the recipe's pictures."""
    net, _ = load_checkpoint(source, size=size, force=True)
    return net.state_dict()


def trunk_prefix(net: ReidModel) -> str:
    """Where the names of the pretrained part begin."""
    if isinstance(net.backbone, HieraBackbone):
        return "backbone.trunk."
    assert isinstance(net.backbone, VitBackbone)
    return "backbone.vit."
