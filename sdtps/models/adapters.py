"""From a trunk's features to tokens that three modalities share: adapters, pools, and what they read besides."""

import torch
import torch.nn.functional as F
from timm.layers import Attention
from torch import Tensor, nn

from sdtps.types import Grid

COLOURS = 15  # channels of `patch_colours`
PLACE_WAVES = (6, 4)  # down and across, of a code that is added to tokens
OWN_PLACE_WAVES = (10, 6)  # of a code that has channels of its own
DARKEST = 0.02  # keeps the logarithm of black finite


class AttentionPool(nn.Module):
    """A learned weighted mean of the patches; it stays in the patches' space, where cosines compare.

    Each head weighs the patches for its own share of the channels, so that one may read the coat, another the shoes.
    """

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attend = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, heads))

    def weights(self, patches: Tensor) -> Tensor:
        """(B, N, C) to (B, N, H), each head's weights summing to 1 over the patches."""
        weights: Tensor = self.attend(patches).softmax(dim=1)
        return weights

    def forward(self, patches: Tensor) -> Tensor:
        """(B, N, C) to (B, C)."""
        weights = self.weights(patches)
        by_head = patches.unflatten(-1, (self.heads, -1))  # (B, N, H, C/H)
        return (weights.unsqueeze(-1) * by_head).sum(1).flatten(1)


def patch_colours(images: Tensor, grid: Grid) -> Tensor:
    """(B, 3, H, W) images in 0 to 1 to (B, N, 15): mean, its logarithm, spread and edges of each patch, by channel.

    A garment's colour survives a change of light as a ratio, which is a difference of logarithms.
    """
    size = (grid.rows, grid.cols)
    mean = F.adaptive_avg_pool2d(images, size)
    spread = (F.adaptive_avg_pool2d(images.square(), size) - mean.square()).clamp(min=0).sqrt()
    across, down = images.diff(dim=3).abs(), images.diff(dim=2).abs()
    edges = [F.adaptive_avg_pool2d(d, size) for d in (F.pad(across, (0, 1)), F.pad(down, (0, 0, 0, 1)))]
    return torch.cat([mean, (mean + DARKEST).log(), spread, *edges], dim=1).flatten(2).transpose(1, 2)


class Adapter(nn.Module):
    """One modality's way from trunk features to tokens: two linear layers that know the picture's mean and spread.

    Dark or bright, warm or cold are relative to the picture; the statistics say to what, at next to no cost.

    Args:
        width: D, channels of the trunk's features.
        dim: C, channels of a token.
        colours: channels after the trunk's that are taken as they are: normalising would forget how bright they were.
        surround: the features are followed by those of each patch's surroundings, D + colours channels more.
        heads: of an attention between the two layers, by which a patch asks the others; 0 for none.
        spared: channels of a token that it leaves to others.
        gate: weigh what each patch looks like: where a picture shows nothing, its place is all that is left to compare.
    """

    def __init__(
        self,
        width: int,
        dim: int,
        colours: int = 0,
        surround: bool = False,
        heads: int = 0,
        spared: int = 0,
        gate: bool = False,
    ) -> None:
        super().__init__()
        self.widths = [width, colours] * (1 + surround)
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(sum(self.widths), dim)
        self.context = nn.Linear(2 * (width + colours), dim, bias=False)
        self.ask = nn.Sequential(nn.LayerNorm(dim), Attention(dim, heads, qkv_bias=True)) if heads else None
        self.outer = nn.Linear(dim, dim - spared)
        self.gate = nn.Linear(dim, 1) if gate else None

    def forward(self, features: Tensor) -> Tensor:
        """(B, N, D + colours [+ D + colours]) to (B, N, C - spared)."""
        deep, colours, *around = features.split(self.widths, dim=-1)
        x = torch.cat([self.norm(deep), colours], dim=-1)
        statistics = torch.cat([x.mean(1), x.std(1)], dim=-1)  # (B, 2D)
        if around:
            x = torch.cat([x, self.norm(around[0]), around[1]], dim=-1)
        x = F.gelu(self.inner(x) + self.context(statistics).unsqueeze(1))
        if self.ask is not None:
            x = x + self.ask(x)
        tokens: Tensor = self.outer(x)
        return tokens if self.gate is None else tokens * 2 * self.gate(x).sigmoid()


def surroundings(features: Tensor, grid: Grid) -> Tensor:
    """(B, N, D) features to (B, N, D): the mean of each patch and its up to eight neighbours."""
    maps = features.transpose(1, 2).unflatten(2, tuple(grid))
    return F.avg_pool2d(maps, 3, stride=1, padding=1, count_include_pad=False).flatten(2).transpose(1, 2)


def smooth_places(grid: Grid, dim: int) -> Tensor:
    """(N, C) unit vectors, one per patch, alike for neighbours: low cosine waves in random directions."""
    waves = _waves(grid, PLACE_WAVES)
    return F.normalize(waves @ torch.randn(waves.shape[1], dim), dim=-1)


def own_places(grid: Grid, dim: int) -> Tensor:
    """(N, C) unit vectors for channels of their own: each wave has one direction, so that none disturbs another.

    The product of a patch's code with a weighted mean of codes is then that weighting itself, a little blurred.
    """
    waves = _waves(grid, OWN_PLACE_WAVES)
    if waves.shape[1] > dim:
        raise ValueError(f"A code of its own takes at least {waves.shape[1]} channels.")
    return F.normalize(F.pad(waves, (0, dim - waves.shape[1])), dim=-1)


def _waves(grid: Grid, number: tuple[int, int]) -> Tensor:
    """(N, W) products of cosines down and across, without the constant one."""
    rows, cols = (((torch.arange(n) + 0.5) / n * torch.pi)[:, None] for n in grid)
    down, across = ((x * torch.arange(n)).cos() for x, n in zip((rows, cols), number, strict=True))
    return (down[:, None, :, None] * across[None, :, None]).flatten(2).flatten(0, 1)[:, 1:]
