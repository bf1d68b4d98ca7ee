"""FRCA of the public fork: a block of convolutions and a channel attention in the frequency domain, instead of SDTPS.

    f   = conv3x3(leaky(conv3x3(x))),   v = mean of f over the patches, laid out as a nearly square grid
    A, phi = amplitude and phase of FFT2(v);   A' = A * c_A(A),  phi' = phi * c_phi(phi)
    out = ReLU(GroupNorm(depthwise3x3(f * sigmoid(IFFT2(A' e^(i phi'))) + x)))

It changes every patch and selects none, so there is nothing of it to mark in a picture.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sdtps.types import Grid

MOST_GROUPS = 32


def _pair(channels: int, side: int, slope: float) -> nn.Sequential:
    convolutions = (nn.Conv2d(channels, channels, side, padding=side // 2, bias=False) for _ in range(2))
    first, second = convolutions
    return nn.Sequential(first, nn.LeakyReLU(slope), second)


class Net(nn.Module):
    """Two convolutions under the reference's name."""

    def __init__(self, channels: int, slope: float) -> None:
        super().__init__()
        self.net = _pair(channels, 3, slope)


class Normalise(nn.Module):
    """Depthwise convolution, group norm and ReLU."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.dwconv = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
        groups = next(g for g in (MOST_GROUPS, 16, 8, 4, 2, 1) if channels % g == 0)
        self.gn = nn.GroupNorm(groups, channels)


class FourierChannelAttention(nn.Module):
    """FRCA of one modality under the reference's names.

    Args:
        channels: C.
        slope: of the leaky rectifiers; not stored in the weights.
    """

    def __init__(self, channels: int, slope: float = 0.1) -> None:
        super().__init__()
        self.clc3 = Net(channels, slope)
        self.clc1_amp, self.clc1_pha = _pair(1, 1, slope), _pair(1, 1, slope)
        self.dnru = Normalise(channels)

    def forward(self, patches: Tensor, grid: Grid) -> Tensor:
        """(B, N, C) to (B, N, C)."""
        x = patches.transpose(1, 2).unflatten(2, tuple(grid))
        features = self.clc3.net(x)
        channels = features.shape[1]
        rows = math.isqrt(channels)
        cols = math.ceil(channels / rows)
        means = F.pad(features.mean((2, 3)), (0, rows * cols - channels)).reshape(-1, 1, rows, cols)
        spectrum = torch.fft.fft2(means.float())
        size, phase = spectrum.abs(), spectrum.angle()
        changed = torch.polar(size * self.clc1_amp(size), phase * self.clc1_pha(phase))
        weight = torch.fft.ifft2(changed).real.flatten(1)[:, :channels].sigmoid()
        out = self.dnru.gn(self.dnru.dwconv(features * weight[:, :, None, None] + x)).relu()
        return out.flatten(2).transpose(1, 2)
