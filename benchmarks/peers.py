"""First analysis of a triplet beside the bare forward (the limit) and the tools people use now.

All see the same model, triplet, device and threads, and explain all three modalities. Peers start from the ready
tensor, while ours reads three files; a peer's target is the similarity of the embedding to a fixed one, for a
re-identification model has no class to explain.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import sdtps
from benchmarks.measure import Bar, Findings, Row, Work, compare, ratio, take_turns
from benchmarks.rollout import Rollout
from benchmarks.subjects import files, input_tensor, subjects
from sdtps import pipeline
from sdtps.models.backbone import Backbone, VitBackbone
from sdtps.models.reid import LoadedModel

LIMIT_BAR = Bar(1.15)
PEER_BAR = Bar(2.5, at_least=True)
NO_PEERS = "The peers are not installed: `make bench` installs them, and `python -m benchmarks` alone does not."
NO_ROLLOUT = "Attention rollout is defined for plain ViTs; the embedded trunk attends in windows and pools between."
NOTE = (
    "Peers explain the similarity of the embedding to a fixed vector, at the last block's first norm, used as their "
    "documentation shows. *Frozen* is their best case: every weight before the last block is frozen, so that the "
    "backward pass has one block. Attention rollout is this project's own reference implementation in "
    "`benchmarks/rollout.py` (attention of all blocks, averaged over heads), not a package."
)


class Embedder(nn.Module):
    """(3, 3, H, W) pictures, one per modality, to (3, C) embeddings: the form that peers expect."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone

    def forward(self, images: Tensor) -> Tensor:
        vectors: Tensor = self.backbone(images.unsqueeze(1)).global_vectors[:, 0]
        return vectors


class Similarity:
    """A peer's target: the cosine to a fixed vector."""

    def __init__(self, vector: Tensor) -> None:
        self.vector = vector

    def __call__(self, embedding: Tensor) -> Tensor:
        return F.cosine_similarity(embedding, self.vector, dim=-1)


def blocks_of(backbone: Any) -> nn.Sequential:
    """The transformer blocks."""
    blocks: nn.Sequential = backbone.vit.blocks if isinstance(backbone, VitBackbone) else backbone.trunk.blocks
    return blocks


def onto_grid(backbone: Any) -> Callable[[Tensor], Tensor]:
    """Tokens to (B, C, rows, cols), whatever the backbone's layout."""
    rows, cols = backbone.grid.rows, backbone.grid.cols
    prefix = backbone.vit.num_prefix_tokens if isinstance(backbone, VitBackbone) else 0

    def reshape(tokens: Tensor) -> Tensor:
        if tokens.ndim == 3:
            tokens = tokens[:, prefix:].unflatten(1, (rows, cols))
        return tokens.permute(0, 3, 1, 2)

    return reshape


def frozen_but_last(backbone: Any, frozen: bool) -> None:
    """Let gradients reach all weights, or only those of the last block."""
    for parameter in backbone.parameters():
        parameter.requires_grad_(not frozen)
    for parameter in blocks_of(backbone)[-1].parameters():
        parameter.requires_grad_(True)


def peers_of(model: LoadedModel) -> dict[str, Callable[[], Any]]:
    """The peers that are installed: each call gives (3, …) maps."""
    try:
        from pytorch_grad_cam import GradCAM
        from torchcam.methods import GradCAM as TorchGradCAM
    except ImportError:
        return {}
    backbone: Any = model.net.backbone
    embedder = Embedder(backbone).eval()
    images = input_tensor(model)[:, 0]
    layer, reshape = blocks_of(backbone)[-1].norm1, onto_grid(backbone)
    targets = [Similarity(torch.ones(backbone.dim)) for _ in range(3)]

    def grad_cam(frozen: bool) -> Any:
        frozen_but_last(backbone, frozen)
        with GradCAM(embedder, [layer], reshape_transform=reshape) as cam:
            return cam(input_tensor=images, targets=targets)

    def torch_cam() -> Any:
        frozen_but_last(backbone, False)
        with TorchGradCAM(embedder, layer, reshape_transform=reshape) as cam:
            return cam(scores=embedder(images), targets=targets)[0]

    return {
        "pytorch-grad-cam": lambda: grad_cam(False),
        "pytorch-grad-cam, frozen": lambda: grad_cam(True),
        "torch-cam": torch_cam,
    }


def contenders(model: LoadedModel) -> dict[str, Work]:
    """Ours, the limit, and who else can explain this model; each was run once, and its maps have the right shape."""
    pictures, images = files(), input_tensor(model)
    backbone: Any = model.net.backbone
    grid = (backbone.grid.rows, backbone.grid.cols)

    def ours() -> Any:
        pipeline.forget()
        return sdtps.analyse(model, *pictures)

    def limit() -> Any:
        with torch.inference_mode():
            return backbone(images)

    others: dict[str, Callable[[], Any]] = peers_of(model)
    if isinstance(backbone, VitBackbone):
        others["attention rollout"] = Rollout(backbone.vit, images[:, 0], grid)
    for name, work in others.items():
        shape = tuple(work().shape)
        if shape not in ((3, *grid), (3, *backbone.input_size)):
            raise RuntimeError(f"{name} gave maps of shape {shape}.")
    if ours().grid.patches != len(ours()["rgb"].score):
        raise RuntimeError("The analysis does not cover the grid.")
    return {"ours": ours, "bare forward": limit, **others}


def rows_of(name: str, model: LoadedModel, rounds: int) -> list[Row]:
    """The limit first, then how many times cheaper than each peer."""
    everyone = contenders(model)
    limit = everyone.pop("bare forward")
    # A pair of its own: what the peers leave behind in memory must not tip a ratio of a few percent.
    rows = [compare(f"first analysis / bare forward, {name}", everyone["ours"], limit, LIMIT_BAR, rounds)]
    times = take_turns(everyone, rounds, warm_up=1)
    for peer in times:
        if peer != "ours":
            bar = PEER_BAR if peer == "pytorch-grad-cam" else None
            rows.append(ratio(f"{peer} / first analysis, {name}", times[peer], times["ours"], bar))
    return rows


def run(quick: bool) -> Findings:
    """Every model beside every peer."""
    rows = [row for name, model in subjects().items() for row in rows_of(name, model, 3 if quick else 25)]
    absent = not any("pytorch-grad-cam" in row.name for row in rows)
    return Findings(tuple(rows), notes=(NOTE, NO_ROLLOUT, *([NO_PEERS] if absent else [])))
