"""Rows and columns from a position table that only has their product: 128 patches are 16x8 or 8x16.

The table itself knows: neighbours on the true grid have similar rows, and the end of one line has little to do with
the start of the next. Where it does not say (random values), what is known of the data set decides.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from sdtps.types import Grid

PERSON, VEHICLE = Grid(16, 8), Grid(8, 16)
ASPECTS = ((2, 1), (1, 2), (1, 1), (3, 1), (1, 3))  # rows to columns
CLEAR = 0.15  # random tables of 64 channels stay below it by three standard deviations


def possible_grids(patches: int) -> list[Grid]:
    """Grids of that many patches with a usual shape, the person's first."""
    grids = []
    for down, across in ASPECTS:
        unit = round((max(patches, 0) / (down * across)) ** 0.5)
        if unit and unit * unit * down * across == patches:
            grids.append(Grid(unit * down, unit * across))
    return grids


def grid_of_table(table: Tensor, grids: list[Grid]) -> Grid | None:
    """The grid on which a (N, W) position table, without its class row, is smooth; None when it is clear on none."""
    if len(grids) < 2:
        return None
    unit = F.normalize(table.float() - table.float().mean(0), dim=-1)
    ranked = sorted(((_smoothness(unit, g), i) for i, g in enumerate(grids)), reverse=True)
    (best, index), (second, _) = ranked[:2]
    return grids[index] if best - second > CLEAR else None


def _smoothness(unit: Tensor, grid: Grid) -> float:
    """Mean cosine of neighbours in a row and in a column, less that over the line ends."""
    image = unit.reshape(grid.rows, grid.cols, -1)
    across = (image[:, 1:] * image[:, :-1]).sum(-1).mean() if grid.cols > 1 else torch.zeros(())
    down = (image[1:] * image[:-1]).sum(-1).mean() if grid.rows > 1 else torch.zeros(())
    ends = (image[1:, 0] * image[:-1, -1]).sum(-1).mean() if grid.rows > 1 else torch.zeros(())
    return float(across + down - ends)
