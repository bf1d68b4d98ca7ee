"""Image sets that are watched while a model trains: read once, run through it after each epoch, and written down."""

import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selector import SELECTORS, Selector
from sdtps.algorithm.trace import Evidence, Trace
from sdtps.images.read import Prepared, Triplet, prepare, read_triplet
from sdtps.runs.schema import PROBES, Watched
from sdtps.runs.taps import Tap, attribute, kind_of
from sdtps.support.errors import InputError, LensError
from sdtps.types import MODALITIES, Settings

ALIASES = {"rgb": ("rgb", "vis"), "nir": ("nir", "ni"), "tir": ("tir", "ti", "th")}
DEMO_KEYS = ("RGB", "NI", "TI")
JPEG_QUALITY = 85
LARGEST = 98_000  # bytes of one set's maps in a file; above that, aggregation logits are left out
OWN = "own."  # before the name of what a selector besides SDTPS computes
NORMS = "norms"
Source = str | os.PathLike[str] | Triplet | Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True)
class Probe:
    """One watched image set at the model's size."""

    name: str
    prepared: Prepared


def read_probe(source: Source, size: tuple[int, int]) -> Probe:
    """An image set: a folder with pictures or folders named rgb, nir and tir, a `Triplet`, or three pictures."""
    if isinstance(source, Triplet):
        return Probe("image set", prepare(source, size))
    if isinstance(source, Mapping):
        source = [source.get(m) for m in MODALITIES]
    if not isinstance(source, str | os.PathLike):
        return Probe("image set", prepare(read_triplet(*source), size))
    folder = Path(source)
    found: list[Path | None] = []
    for names in ALIASES.values():
        fitting = [f for f in sorted(folder.glob("*")) if f.stem.lower().rsplit("_", 1)[-1] in names]
        files = [f for place in fitting for f in (sorted(place.glob("*")) if place.is_dir() else [place])]
        found.append(files[0] if files else None)
    if not any(found):
        text = "{folder!r} holds no pictures named rgb, nir and tir; give a folder with one image set in it."
        raise InputError("recorder.probe", text, folder=folder.name)
    rgb, nir, tir = found
    return Probe(folder.resolve().name, prepare(read_triplet(rgb, nir, tir), size))


def write_pictures(probes: Sequence[Probe], folder: Path) -> None:
    """Keep the watched pictures with the run."""
    for number, probe in enumerate(probes):
        place = folder / PROBES / str(number)
        place.mkdir(parents=True, exist_ok=True)
        for m in MODALITIES:
            if (pixels := probe.prepared.pixels[m]) is not None:
                Image.fromarray(pixels).save(place / f"{m}.jpg", quality=JPEG_QUALITY)


def default_forward(model: nn.Module) -> Callable[[Tensor], Any]:
    """How a model takes (M, B, 3, H, W) pictures: ours as they are, DeMo's as a mapping with a camera label."""
    if hasattr(model, "backbone") and hasattr(model, "encode"):
        return model

    def run(images: Tensor) -> Any:
        camera = torch.zeros(images.shape[1], dtype=torch.long, device=images.device)
        pictures = dict(zip(DEMO_KEYS, images, strict=True))
        try:
            return model(pictures, cam_label=camera, view_label=camera)
        except TypeError:
            return model(pictures)

    return run


@contextmanager
def evaluating(model: nn.Module) -> Any:
    """Evaluation mode without gradients; every part goes back to the mode it was in."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes.items():
            module.training = mode


def watch(
    model: nn.Module,
    tap: Tap,
    run: Callable[[Tensor], Any],
    images: Tensor,
    settings: Settings,
) -> list[dict[str, Watched]]:
    """What the model's selection makes of B image sets, by modality: one mapping per set.

    The maps are computed by this package from the tokens that reach the module and from the module's weights, so that
    the reference's module and ours give the same numbers.

    Args:
        model: in any mode.
        tap: on its selector.
        run: takes the pictures.
        images: (M, B, 3, H, W).
        settings: ratios, beta and variant.
    """
    tap.tokens = None
    with evaluating(model):
        run(images)
    if tap.tokens is None or [len(t) for t in tap.tokens] != [3, 3]:
        text = "The selector was not reached with three sets of patches and three global vectors; give `forward`."
        raise LensError("recorder.no_tokens", text)
    patches, vectors = ({str(m): t.float().cpu() for m, t in zip(MODALITIES, part, strict=True)} for part in tap.tokens)
    module = shadow(tap.module, patches["rgb"].shape[1], settings, tap.kind)
    with torch.no_grad():
        evidence = module.evidence(patches, vectors)
        sets = []
        for i in range(images.shape[1]):
            one = {m: e.map(lambda t, i=i: t[i : i + 1]) for m, e in evidence.items()}
            traces = module.choose(one, settings)
            sets.append({m: _watched(one[m], traces[m]) for m in one})
    return sets


def shadow(module: nn.Module, patches: int, settings: Settings, kind: str = "sdtps") -> Selector:
    """Our selector with the weights of another that has the same parameter names."""
    state = {k: v.detach().float().cpu() for k, v in module.state_dict().items()}
    with torch.random.fork_rng(devices=[]):  # a module draws its first weights, and training's draws must stay its own
        if kind == "sdtps":
            width = state["rgb_sparse.score_predictor.0.weight"].shape[1]
            ratios = (settings.sparse_ratio, settings.aggr_ratio, settings.beta)
            blends = any("_aggr." in name for name in state)
            copy: Selector = MultiModalSDTPS(width, patches, *ratios, settings.variant, aggregation=blends)
        else:
            options = soft_options(state) if kind == "soft" else {}
            width = getattr(module, "embed_dim", None) or _width(kind, state)
            copy = SELECTORS[kind](width, patches, **options, **getattr(module, "trained_knobs", {}))
    copy.load_state_dict(state, strict=False)
    return copy.eval()


def soft_options(state: Mapping[str, Tensor]) -> dict[str, bool]:
    """With which attention a soft selector was built, from the names of its weights."""
    return {
        "attention": any(".q_proj." in name for name in state),
        "shared": any("_shared_attn." in name for name in state),
    }


def _width(kind: str, state: Mapping[str, Tensor]) -> int:
    """C, from the weights of a reference's module."""
    if kind == "sim":
        return len(state["token_selection.W_q.weight"])
    return state["rgb_sparse.modal_weight_mlp.0.weight"].shape[1] // len(MODALITIES)


def settings_of(module: nn.Module) -> Settings:
    """Ratios, beta, tau, knobs and variant as the module says them; the defaults for the rest."""
    bare = Settings()
    names = ("sparse_ratio", "aggr_ratio", "beta", "tau")
    values: dict[str, Any] = {name: attribute(module, name, getattr(bare, name)) for name in names}
    if not isinstance(getattr(module, "tau", None), int | float):
        values["tau"] = attribute(module, "gumbel_tau", bare.tau)
    kind = kind_of(module) or "sdtps"
    usual = (bare.variant if hasattr(module, "rgb_aggr") else "first") if kind == "sdtps" else kind
    variant = getattr(getattr(module, "variant", None), "name", usual)
    return Settings(**values, variant=variant, knobs=dict(getattr(module, "trained_knobs", {})))


def _watched(evidence: Evidence, trace: Trace) -> Watched:
    branch = evidence.branches[0] if evidence.branches else None
    total = trace.maps.get("attention") if trace.weights is None else trace.weights
    blended = None if total is None else _array(total)
    if trace.aggregation_weights is not None:
        blended = np.zeros(trace.score.shape[1], np.float32)
        blended[trace.keep[0].numpy()] = trace.aggregation_weights[0].sum(0).numpy()
    own = {} if branch is not None else _own(evidence)
    return Watched(
        raw_self=_array(evidence.raw_self),
        raw_cross=np.stack([_array(c) for c in evidence.raw_cross.values()]),
        predictor=None if branch is None or branch.predictor is None else _array(branch.predictor),
        logits=None if branch is None or branch.logits is None else _array(branch.logits),
        aggregation=blended,
        kept=trace.mask[0].numpy(),
        own=own,
    )


def _own(evidence: Evidence) -> dict[str, NDArray[np.float32]]:
    """What a selector besides SDTPS decides from: its normalised maps, and its own that are no larger than a map."""
    norms = torch.stack([evidence.self_norm, *evidence.cross_norm.values()], dim=1)  # (1, 3, N)
    small = {k: t for k, t in evidence.own.items() if t.numel() <= evidence.raw_self.numel()}
    return {k: _array(t) for k, t in {NORMS: norms, **small}.items()}


def _array(tensor: Tensor) -> NDArray[np.float32]:
    return np.array(tensor[0].float().numpy())


def pack(sets: Sequence[Mapping[str, Watched]], light: bool) -> dict[str, NDArray[Any]]:
    """The maps of several sets as named arrays, for one .npz file; see `Recorder` on what is light.

    Modalities are stacked: an archive spends some 200 bytes on every array beside its numbers.
    """
    kind = np.float16 if light else np.float32
    packed: dict[str, NDArray[Any]] = {}
    for i, found in enumerate(sets):
        each = [found[m] for m in MODALITIES]
        packed[f"{i}/cosines"] = np.stack([np.concatenate([w.raw_self[None], w.raw_cross]) for w in each]).astype(kind)
        packed[f"{i}/kept"] = np.stack([np.packbits(w.kept) for w in each])
        for name, precision in (("predictor", kind), ("aggregation", np.float16), ("logits", np.float16)):
            maps = [getattr(w, name) for w in each]
            if all(values is not None for values in maps) and not (light and name == "logits"):
                packed[f"{i}/{name}"] = np.stack(maps).astype(precision)
        if sum(len(zlib.compress(v.tobytes())) for k, v in packed.items() if k.startswith(f"{i}/")) > LARGEST:
            packed.pop(f"{i}/logits", None)
        shared = set(each[0].own).intersection(*(w.own for w in each))
        packed |= {f"{i}/{OWN}{name}": np.stack([w.own[name] for w in each]).astype(kind) for name in sorted(shared)}
    return packed


def unpack(archive: Mapping[str, NDArray[Any]], number: int) -> dict[str, Watched]:
    """The maps of one set out of a file's arrays."""
    part = {k.partition("/")[2]: v for k, v in archive.items() if k.startswith(f"{number}/")}
    cosines = part["cosines"].astype(np.float32)
    kept = np.unpackbits(part["kept"], axis=1)[:, : cosines.shape[2]].astype(bool)
    rest = {k: part[k].astype(np.float32) for k in ("predictor", "logits", "aggregation") if k in part}
    own = {k.removeprefix(OWN): v.astype(np.float32) for k, v in part.items() if k.startswith(OWN)}
    return {
        str(m): Watched(
            raw_self=cosines[j, 0],
            raw_cross=cosines[j, 1:],
            kept=kept[j],
            own={k: v[j] for k, v in own.items()},
            **{k: rest[k][j] if k in rest else None for k in ("predictor", "logits", "aggregation")},
        )
        for j, m in enumerate(MODALITIES)
    }
