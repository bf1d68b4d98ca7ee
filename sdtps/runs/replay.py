"""A recorded epoch as an open image set: the page draws it, moves its sliders and compares it like any other.

A run keeps what no slider changes (cosines, predictor, aggregation logits) and no weights. So scores, kept sets and
aggregation are computed as always, and what needs the network (features, faithfulness, rank lists) is refused.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.scoring import min_max_norm
from sdtps.algorithm.selector import SELECTORS, Selector
from sdtps.algorithm.trace import Branch, Evidence
from sdtps.images.read import prepare
from sdtps.models.backbone import HALF
from sdtps.models.reid import Encoded, LoadedModel, ModelConfig
from sdtps.pipeline import Encoding, OpenSet
from sdtps.runs.probe import NORMS
from sdtps.runs.reader import read_maps, read_pictures
from sdtps.runs.schema import Run, Watched
from sdtps.support.errors import InputError, LensError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Grid, Settings, WeightsReport
from sdtps.variants import Aggregation, Variant, get_variant

FAMILY = "recorded"
PLAYABLE = ("soft",)  # besides SDTPS: selectors whose choice reads maps alone
SETTINGS = ("sparse_ratio", "aggr_ratio", "beta", "tau", "variant")


def settings_of(run: Run) -> Settings:
    """The settings that a run was recorded at; the defaults for what it does not say."""
    knobs = run.settings.get("knobs")
    return Settings(**{k: run.settings[k] for k in SETTINGS if k in run.settings}, knobs=knobs or {})


def open_epoch(run: Run, epoch: int, probe: int = 0) -> OpenSet:
    """A watched image set as it stood after an epoch.

    Args:
        run: the run.
        epoch: one of its `watched_epochs`.
        probe: number of the image set.
    """
    if run.folder is None or run.grid is None or not 0 <= probe < len(run.probes):
        raise InputError("runs.unwatched", "{run!r} watched no such image set; record it with probe=.", run=run.name)
    if epoch not in run.watched_epochs:
        text = "{run!r} has no maps of epoch {epoch}; it was watched from {first} to {last}."
        ends = (run.watched_epochs or (0,))[0], (run.watched_epochs or (0,))[-1]
        raise InputError("runs.epoch", text, run=run.name, epoch=epoch, first=ends[0], last=ends[1])
    if (lacking := _unplayable(settings_of(run))) is not None:
        raise InputError(lacking)
    evidence = {m: _evidence(w, m) for m, w in read_maps(run.folder, epoch, probe).items()}
    size = tuple(run.about.get("size", (256, 128)))
    net: Any = _RecordedNet(evidence, run.grid, (int(size[0]), int(size[1])), settings_of(run))
    identity = hashlib.sha256(f"{run.folder.resolve()}\n{epoch}".encode()).hexdigest()
    report = WeightsReport(
        f"{run.name}, epoch {epoch}",
        identity,
        trained=True,
        loaded=0,
        family=FAMILY,
        absent=() if net.sdtps.rows else ("aggregation",),
        notes=(Message("runs.no_weights_note", "A recorded epoch: its maps, without the weights."),),
        facts={"cameras": 0, "grid": list(run.grid), "feature": []},
        settings={k: v for k, v in settings_of(run).as_dict().items() if k in SETTINGS[:4]},
    )
    model = LoadedModel(net, report, torch.device("cpu"), identity)
    tokens = {str(m): torch.zeros(1, run.grid.patches, 1) for m in MODALITIES}
    encoding = Encoding((identity, str(probe)), Encoded(tokens, {m: t[:, 0] for m, t in tokens.items()}))
    return OpenSet(model, prepare(read_pictures(run.folder, probe), net.backbone.input_size), encoding=encoding)


def _unplayable(settings: Settings) -> Message | None:
    """Why a run of this variant has curves and no grid: its choice needs the weights once more."""
    variant = get_variant(settings.variant)
    if variant.selector in ("sdtps", *PLAYABLE):
        return None
    text = "The variant {variant} needs tokens and weights, and a recorded epoch has neither."
    return Message("runs.lacks", text, variant=variant.name)


def _evidence(watched: Watched, modality: str) -> Evidence:
    others = next(m for m in MODALITIES if m == modality).others
    raw_self = torch.from_numpy(watched.raw_self.copy()).unsqueeze(0)
    raw_cross = {
        str(o): torch.from_numpy(c.copy()).unsqueeze(0) for o, c in zip(others, watched.raw_cross, strict=True)
    }
    nothing = torch.zeros(1, raw_self.shape[1], 1)
    own = {k: torch.from_numpy(v.copy()).unsqueeze(0) for k, v in watched.own.items()}
    if (norms := own.pop(NORMS, None)) is not None:
        self_norm, *cross = norms.unbind(1)
        cross_norm = dict(zip(raw_cross, cross, strict=True))
        return Evidence(nothing, nothing[:, 0], raw_self, raw_cross, self_norm, cross_norm, own=own)
    parts = (
        None if a is None else torch.from_numpy(a.copy()).unsqueeze(0) for a in (watched.predictor, watched.logits)
    )
    return Evidence(
        patches=nothing,
        global_vector=nothing[:, 0],
        raw_self=raw_self,
        raw_cross=raw_cross,
        self_norm=min_max_norm(raw_self),
        cross_norm={o: min_max_norm(c) for o, c in raw_cross.items()},
        branches=(Branch(*parts),),
    )


class _RecordedSelector(MultiModalSDTPS):
    """Decides from what was recorded; it has no parameters."""

    def __init__(self, patches: int, settings: Settings, rows: int, predictor: bool) -> None:
        super().__init__(4, patches, variant=settings.variant, predictor=False, aggregation=False)
        self._rows, self._predictor = rows, predictor

    @property
    def rows(self) -> int:
        """How many rows of logits were recorded."""
        return self._rows

    def supports(self, variant: Variant) -> Message | None:
        """Variants that read the recorded maps; none that compares with the mean patch or has a second branch."""
        if variant.selector != "sdtps" or variant.self_from_mean or variant.aggregation is Aggregation.DUAL:
            text = "The variant {variant} needs tokens and weights, and a recorded epoch has neither."
            return Message("runs.lacks", text, variant=variant.name)
        return None


def _selector(evidence: Evidence, patches: int, settings: Settings) -> Selector:
    """What decides from the evidence: SDTPS, or another selector whose choice reads no weights."""
    if not evidence.branches:
        further = SELECTORS[get_variant(settings.variant).selector]
        return further(1, patches, attention=False, **settings.knobs)
    branch = evidence.branches[0]
    rows = 0 if branch.logits is None else branch.logits.shape[1]
    return _RecordedSelector(patches, settings, rows, branch.predictor is not None)


@dataclass(frozen=True)
class _Frame:
    """What is asked of a backbone by those who only draw."""

    input_size: tuple[int, int]
    grid: Grid
    mean: tuple[float, float, float] = HALF
    std: tuple[float, float, float] = HALF
    dim: int = 1


class _RecordedNet(nn.Module):
    """Stands where a re-identification model stands; it answers with one recorded epoch."""

    def __init__(self, evidence: Mapping[str, Evidence], grid: Grid, size: tuple[int, int], settings: Settings) -> None:
        super().__init__()
        self._found = dict(evidence)
        self.backbone = _Frame(size, grid)  # type: ignore[assignment]
        self.sdtps = _selector(self._found["rgb"], grid.patches, settings).eval()
        self.config = replace(ModelConfig("recorded", "recorded", size), variant=settings.variant)
        self.parts: tuple[str, ...] = ()

    def selector(self, _variant: Variant) -> Selector:
        return self.sdtps

    def supports(self, variant: Variant) -> Message | None:
        return self.sdtps.supports(variant)

    def evidence(self, _encoded: Encoded, _variant: Variant) -> dict[str, Evidence]:
        return self._found

    def fuse(self, *_: Any) -> tuple[Tensor, dict[str, Tensor]]:
        return torch.zeros(1, 0), {}

    def encode(self, *_: Any) -> Encoded:
        raise no_weights()


def no_weights() -> LensError:
    """The sentence for what needs the network."""
    return LensError("runs.no_weights", "A recorded epoch holds maps and no weights; load its checkpoint for this.")
