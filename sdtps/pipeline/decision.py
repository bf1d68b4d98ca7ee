"""The cheap half: settings to traces and the test feature, on the CPU and without a lock, on every slider move."""

from collections.abc import Mapping
from functools import lru_cache

import torch
from torch import Tensor

from sdtps.algorithm.selection import gumbel_noise, selection_frequency, soft_decision
from sdtps.algorithm.trace import Evidence, Trace
from sdtps.models.reid import Encoded, LoadedModel
from sdtps.pipeline.encoding import evidence_of_batch
from sdtps.support.errors import SettingsError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Settings
from sdtps.variants import Variant, get_variant

DECISION_NOTES = ("aggregation.clamped", "score.flat")  # what settings bring about; all other notes are the set's


def runnable(model: LoadedModel, name: str) -> Variant:
    """The variant of that name; refused where the weights cannot run it."""
    variant = get_variant(name)
    if lacking := model.net.supports(variant):
        raise SettingsError(lacking)
    return variant


def decide_batch(model: LoadedModel, encoded: Encoded, settings: Settings) -> tuple[dict[str, Trace], Tensor]:
    """Traces by modality and the (B, D) test features of a batch, by the same steps as a single analysis."""
    evidence = evidence_of_batch(model, encoded, runnable(model, settings.variant))
    return choose(model, encoded, evidence, settings)[:2]


def choose(
    model: LoadedModel, encoded: Encoded, evidence: dict[str, Evidence], settings: Settings
) -> tuple[dict[str, Trace], Tensor, dict[str, Tensor]]:
    """From evidence to traces, the test feature and what its fusion says; all given and returned on the CPU."""
    selector = model.net.selector(get_variant(settings.variant))
    with torch.inference_mode():
        if model.device.type == "cpu":
            traces = selector.choose(evidence, settings)
        else:  # some selectors have weights
            there = {m: e.map(lambda t: t.to(model.device)) for m, e in evidence.items()}
            traces = {m: trace.map(Tensor.cpu) for m, trace in selector.choose(there, settings).items()}
    return traces, *fused(model, encoded, traces, evidence)


def fused(
    model: LoadedModel, encoded: Encoded, traces: Mapping[str, Trace], evidence: Mapping[str, Evidence]
) -> tuple[Tensor, dict[str, Tensor]]:
    """The test feature and what its fusion says, computed where the weights are; given and returned on the CPU."""
    with torch.inference_mode():
        if model.device.type == "cpu":
            return model.net.fuse(encoded, traces, evidence)

        def there(tensor: Tensor) -> Tensor:
            return tensor.to(model.device)

        feature, numbers = model.net.fuse(
            Encoded(*({m: there(t) for m, t in part.items()} for part in encoded)),
            {m: trace.map(there) for m, trace in traces.items()},
            {m: e.map(there) for m, e in evidence.items()},
        )
        return feature.cpu(), {name: values.cpu() for name, values in numbers.items()}


def what_if(traces: dict[str, Trace], settings: Settings) -> dict[str, tuple[Tensor, Tensor]]:
    """The soft decision and the frequency under noise, (N,) each, of selectors that have a tau."""
    scores = torch.cat([traces[m].score for m in MODALITIES])  # (M, N)
    soft = soft_decision(scores, settings.tau)
    noise = _noise(settings.seed, settings.draws, scores.shape[1])
    frequency = selection_frequency(scores, traces[MODALITIES[0]].keep.shape[1], settings.tau, noise)
    return {str(m): (soft[i], frequency[i]) for i, m in enumerate(MODALITIES)}


def decision_notes(model: LoadedModel, traces: dict[str, Trace], settings: Settings) -> list[Message]:
    """What these weights could not do as the settings ask."""
    notes = []
    first, rows, variant = traces[MODALITIES[0]], model.net.sdtps.rows, get_variant(settings.variant)
    if variant.needs_aggregation and 0 < rows < first.rows_asked:
        text = "The ratios ask for {asked} aggregated tokens, but these weights can make {rows}; {rows} are shown."
        notes.append(Message("aggregation.clamped", text, asked=first.rows_asked, rows=rows))
    if first.predictor is None and variant.needs_predictor and settings.beta == 0:
        text = "At beta 0 only the predictor ranks, and it is not in this checkpoint: the order below means nothing."
        notes.append(Message("score.flat", text))
    return notes


@lru_cache(maxsize=32)
def _noise(seed: int, draws: int, patches: int) -> Tensor:
    """(S, N) Gumbel noise, drawn once per seed so that a slider move changes only what it should."""
    return gumbel_noise(torch.rand(draws, patches, generator=torch.Generator().manual_seed(seed)))
