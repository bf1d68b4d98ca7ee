"""Models for tests of the recorder: ours in small, and one with the reference's parameter names and calls."""

import torch
from torch import Tensor, nn

from sdtps.models.reid import ReidModel, build_model
from tests.conftest import tiny_vit_config

KEYS = ("RGB", "NI", "TI")
MODALITIES = ("rgb", "nir", "tir")


def ours(classes: int = 5, **options) -> ReidModel:
    torch.manual_seed(0)
    return build_model(tiny_vit_config(num_classes=classes, **options))


class _Sparse(nn.Module):
    """The predictor under the reference's names; the ratio and beta are kept here, as the reference does."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.sparse_ratio, self.beta = 0.5, 0.25
        self.score_predictor = nn.Sequential(nn.Linear(dim, dim // 4), nn.GELU(), nn.Linear(dim // 4, 1), nn.Sigmoid())


class _Aggregation(nn.Module):
    def __init__(self, dim: int, rows: int) -> None:
        super().__init__()
        hidden = int(0.2 * dim)
        self.weight = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, rows))
        self.scale = nn.Parameter(torch.ones(1, 1, 1))


class ReferenceSelection(nn.Module):
    """Six tensors in, three token sets and three masks out; its own arithmetic."""

    def __init__(self, dim: int, rows: int) -> None:
        super().__init__()
        for m in MODALITIES:
            self.add_module(f"{m}_sparse", _Sparse(dim))
            self.add_module(f"{m}_aggr", _Aggregation(dim, rows))

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        patches, vectors = tensors[:3], tensors[3:]
        tokens, masks = [], []
        for i, m in enumerate(MODALITIES):
            part, p = getattr(self, f"{m}_sparse"), patches[i]
            maps = [torch.cosine_similarity(p, v.unsqueeze(1), dim=-1) for v in vectors]
            low_high = [
                (c - c.amin(1, keepdim=True)) / (c.amax(1, keepdim=True) - c.amin(1, keepdim=True) + 1e-8) for c in maps
            ]
            others = [n for j, n in enumerate(low_high) if j != i]
            b = part.beta
            score = (1 - 2 * b) * part.score_predictor(p).squeeze(-1) + b * (sum(others) + 2 * low_high[i])
            k = p.shape[1] // 2
            order = score.sort(dim=1, descending=True).indices
            keep, drop = order[:, :k], order[:, k:]
            kept, left = (p.gather(1, x.unsqueeze(-1).expand(-1, -1, p.shape[2])) for x in (keep, drop))
            extra = score.gather(1, drop).softmax(1).unsqueeze(1) @ left
            aggregation = getattr(self, f"{m}_aggr")
            weights = (aggregation.weight(kept).transpose(1, 2) * aggregation.scale).softmax(-1)
            tokens.append(torch.cat([weights @ kept, extra], 1))
            masks.append(torch.zeros_like(score).scatter(1, keep, 1.0))
        return (*tokens, *masks)


class ReferenceModel(nn.Module):
    """DeMo's call: a mapping of pictures and a camera label; the module is called with six tensors."""

    def __init__(self, like: ReidModel) -> None:
        super().__init__()
        self.BACKBONE = like.backbone
        dim = like.backbone.dim
        self.sdtps = ReferenceSelection(dim, like.sdtps.rows)
        self.sdtps.load_state_dict(like.sdtps.state_dict())
        self.classifier = nn.Linear(3 * dim, 5, bias=False)
        self.classifier_sdtps = nn.Linear(3 * dim, 5, bias=False)

    def forward(self, x: dict[str, Tensor], cam_label: Tensor | None = None, view_label: Tensor | None = None):
        tokens = self.BACKBONE(torch.stack([x[k] for k in KEYS]))
        found = self.sdtps(*tokens.patches, *tokens.global_vectors)
        sdtps = torch.cat([t.mean(1) for t in found[:3]], dim=-1)
        ori = torch.cat(list(tokens.global_vectors), dim=-1)
        return self.classifier(ori), self.classifier_sdtps(sdtps)
