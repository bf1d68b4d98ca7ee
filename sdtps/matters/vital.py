"""Vital signs of a selector: does each of its parts do anything, beside what an untrained one would show?

effective        effective number of patches behind the modality's share of the feature: (sum t)^2 / sum t^2, with t a
                 patch's total weight over the aggregated tokens, or its mask
spread:MAP       standard deviation of the map over the patches, before it is normalised
saturation:MAP   share of patches at an end of the normalised map's range, within 1/50
fate:MAP         share of patches that change sides when the map is replaced by its mean: which map decides?
"""

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sdtps.algorithm.aggregation import TokenAggregation
from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selector import Selector
from sdtps.algorithm.trace import Evidence, Trace
from sdtps.models.reid import LoadedModel, build_selector
from sdtps.panels import score_weights
from sdtps.types import MODALITIES, Settings
from sdtps.variants import Score, get_variant

EFFECTIVE, SPREAD, SATURATION, FATE = "effective", "spread:", "saturation:", "fate:"
END = 0.02
UNTRAINED_SEED = 0
Table = NDArray[np.float32]


def signs(traces: Mapping[str, Trace], evidence: Mapping[str, Evidence], settings: Settings) -> tuple[Table, list[str]]:
    """(B, M, V) vital signs of a batch, and what the V are; the same columns for every batch of one plan."""
    rows, columns = [], [EFFECTIVE]
    for m in MODALITIES:
        trace, one = traces[m], evidence[m]
        found = {EFFECTIVE: _effective(trace)}
        for name, (raw, normal) in _maps(trace, one).items():
            found[SPREAD + name] = raw.std(dim=1)
            if name != "score":  # its range is not 0 to 1
                found[SATURATION + name] = ((normal < END) | (normal > 1 - END)).float().mean(1)
        for name, part in _parts(trace, one, settings).items():
            found[FATE + name] = _changed(trace, trace.score - part + part.mean(1, keepdim=True))
        columns = list(found)
        rows.append(torch.stack(list(found.values()), dim=-1))
    return torch.stack(rows, dim=1).numpy().astype(np.float32), columns


def untrained(model: LoadedModel) -> Selector | None:
    """The same selector with fresh weights, seeded; None where it has none."""
    if model.net.sdtps.empty:
        return None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(UNTRAINED_SEED)
        backbone = model.net.backbone
        return build_selector(model.net.config, backbone.dim, backbone.grid.patches).eval()


def movement(model: LoadedModel, initial: LoadedModel | None = None) -> dict[str, float]:
    """How far the weights are from where they began, by part.

    With the initial weights: |w - w0| / |w0| over all numbers of the part. Without them only what always begins at
    the same values can be told: norm layers at 1 and 0, and the aggregation's scale at 1; then the root mean square
    of what was added.
    """
    selector = model.net.sdtps
    if not isinstance(selector, MultiModalSDTPS) or selector.empty:
        return {}
    found = {}
    for kind, ending in (("predictor", "_sparse"), ("aggregation", "_aggr")):
        parts = {f"{m}{ending}": getattr(selector, f"{m}{ending}") for m in MODALITIES}
        if any(part is None for part in parts.values()):
            continue
        if initial is not None:
            found[kind] = _moved(parts, dict(initial.net.sdtps.named_modules()))
        else:
            away = torch.cat([_away(part) for part in parts.values()])
            if len(away):
                found[kind] = float(away.square().mean().sqrt())
    return found


def _moved(parts: Mapping[str, nn.Module], before: Mapping[str, nn.Module]) -> float:
    now, then = ([p.detach().flatten().double().cpu() for part in side for p in part.parameters()] for side in (
        parts.values(), [before[name] for name in parts]))  # fmt: skip
    a, b = torch.cat(now), torch.cat(then)
    return float((a - b).norm() / b.norm()) if a.shape == b.shape else float("nan")


def _away(part: nn.Module) -> Tensor:
    """What was added to numbers whose beginning is known."""
    found = [torch.zeros(0)]
    for layer in part.modules():
        if isinstance(layer, nn.LayerNorm):
            found += [layer.weight.detach().flatten() - 1.0, layer.bias.detach().flatten()]
        if isinstance(layer, TokenAggregation):
            found.append(layer.scale.detach().flatten() - 1.0)
    return torch.cat([f.double().cpu() for f in found])


def _effective(trace: Trace) -> Tensor:
    weights = trace.decision if trace.aggregation_weights is None else trace.aggregation_weights.sum(1)  # (B, ...)
    return weights.sum(1) ** 2 / weights.square().sum(1).clamp_min(1e-12)


def _maps(trace: Trace, evidence: Evidence) -> dict[str, tuple[Tensor, Tensor]]:
    """Each map as it was measured, and as it enters the score."""
    maps = {} if trace.predictor is None else {"predictor": (trace.predictor, trace.predictor)}
    maps["self"] = (evidence.raw_self, evidence.self_norm)
    pairs = zip(evidence.raw_cross.values(), evidence.cross_norm.values(), strict=True)
    return maps | {f"cross{i}": pair for i, pair in enumerate(pairs, 1)} | {"score": (trace.score, trace.score)}


def _parts(trace: Trace, evidence: Evidence, settings: Settings) -> dict[str, Tensor]:
    """(B, N) the terms that add up to the score; none for a selector that does not add."""
    variant = get_variant(settings.variant)
    if variant.selector == "soft":
        mixing = evidence.own["mixing"]  # (B, 3)
        maps = {"self": evidence.self_norm, **_numbered(evidence.cross_norm)}
        return {name: values * mixing[:, i : i + 1] for i, (name, values) in enumerate(maps.items())}
    if variant.selector != "sdtps":
        return {}
    weights = score_weights(settings)
    cosines = variant.score is Score.COSINES
    own, cross = (evidence.raw_self, evidence.raw_cross) if cosines else (evidence.self_norm, evidence.cross_norm)
    parts = {"self": own * weights.self_attention}
    parts |= {name: values * weights.cross_attention for name, values in _numbered(cross).items()}
    if trace.predictor is not None and not cosines:
        parts = {"predictor": trace.predictor * weights.predictor, **parts}
    return parts


def _numbered(cross: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"cross{i}": values for i, values in enumerate(cross.values(), 1)}


def _changed(trace: Trace, score: Tensor) -> Tensor:
    """(B,) share of patches on another side when these scores rank."""
    order = score.sort(dim=1, descending=True, stable=True).indices
    first = torch.arange(score.shape[1]) < trace.counts[:, None]
    mask = torch.zeros_like(trace.mask).scatter(1, order, first)
    return (mask != trace.mask).float().mean(1)
