"""The identity loss of the reference, for training and for the story of its gradients."""

import torch
import torch.nn.functional as F
from torch import Tensor


def batch_hard_triplet(feature: Tensor, pid: Tensor) -> Tensor:
    """Soft-margin triplet loss with the hardest positive and negative of the batch; feature (B, D), pid (B,)."""
    distance = torch.cdist(feature, feature)  # (B, B)
    same = pid[:, None] == pid[None]
    farthest_same = distance.masked_fill(~same, -torch.inf).amax(1)
    nearest_other = distance.masked_fill(same, torch.inf).amin(1)
    return F.softplus(farthest_same - nearest_other).mean()
