"""Tokens of anybody's model through the one door: no checkpoint file, no backbone of ours.

The model that is made for them has a backbone that only knows its grid; what it would compute is given.
"""

import copy
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sdtps.algorithm.module import MultiModalSDTPS
from sdtps.algorithm.selector import Selector
from sdtps.checkpoints.load import ready, sha256_of_state
from sdtps.checkpoints.report import absent_parts, facts_of
from sdtps.images.read import Prepared, Source, prepare, read_triplet
from sdtps.models.backbone import HALF, Backbone, Tokens
from sdtps.models.reid import Encoded, ModelConfig, ReidModel
from sdtps.pipeline import Encoding, OpenSet
from sdtps.runs.probe import ALIASES, settings_of, shadow
from sdtps.runs.taps import find_module
from sdtps.support.errors import InputError
from sdtps.support.messages import Message
from sdtps.types import MODALITIES, Analysis, Grid, Settings, WeightsReport

PATCH = 16  # pixels of a patch where tokens alone are known
GREY = 127
TALL = 2.0  # height by width of a picture of a person
NAME = "given tokens"


class GivenTokens(Backbone):
    """Stands where a backbone would: it knows its grid, and its tokens were computed elsewhere."""

    def __init__(self, grid: Grid, dim: int) -> None:
        super().__init__()
        self.grid, self.dim = grid, dim
        self.input_size = (grid.rows * PATCH, grid.cols * PATCH)
        self.mean = self.std = HALF

    def forward(self, images: Tensor, camera: Tensor | None = None) -> Tokens:
        """Refused: there is nothing to compute pictures with."""
        del images, camera
        raise InputError("tokens.no_backbone", "These tokens came without a model, so no further picture can be read.")


def analyse_tokens(
    patches: Any,
    globals: Any,  # noqa: A002 - the module's own name for it
    module: nn.Module | None = None,
    settings: Settings | None = None,
    *,
    grid: Grid | tuple[int, int] | None = None,
    pictures: Sequence[Source | None] | None = None,
) -> Analysis:
    """From the tokens of your own model to every number; the analysis shows itself like any other.

    Args:
        patches: (N, C) or (1, N, C) patch tokens of one image set by modality, `"rgb"`, `"nir"`, `"tir"`, or three in
            this order, also stacked: (3, N, C), (3, 1, N, C) or (1, 3, N, C); tensors or arrays, row by row, without
            class and register tokens.
        globals: (C,) or (1, C) global vector by modality, or three of them likewise: (3, C).
        module: your SDTPS module, ours or the reference's, or a model that holds one; a `Selector`; None ranks by the
            attention maps alone. It is copied, and stays in the mode it is in.
        settings: ratios, beta, tau, variant; by default those of the module.
        grid: rows and columns; without it they are taken from the pictures' shape, or from that of a person.
        pictures: RGB, NIR, TIR as for `analyse`, to be shown beside the maps; grey without them.

    Raises:
        InputError: tokens whose shapes do not fit together.
    """
    encoded = Encoded(_tokens(patches, "patches", 2), _tokens(globals, "globals", 1))
    _, count, dim = encoded.patches["rgb"].shape
    if any(t.shape[1:] != (count, dim) for t in encoded.patches.values()) or any(
        v.shape[1:] != (dim,) for v in encoded.global_vectors.values()
    ):
        text = "The tokens of the three modalities differ in number or channels; give (N, C) patches and (C,) globals."
        raise InputError("tokens.differ", text)
    rgb, nir, tir = (None, None, None) if pictures is None else pictures
    given = None if pictures is None else read_triplet(rgb, nir, tir)
    notes: tuple[str, ...] = ()
    if grid is None:
        grid = _likely_grid(count, TALL if given is None else _aspect(given.pictures.values()))
        text = "{n} tokens came without a grid; {rows}x{cols} was assumed. Say grid=(rows, columns) if it is another."
        notes += (Message("tokens.grid", text, n=count, rows=grid.rows, cols=grid.cols),)
    grid = Grid(*grid)
    if grid.patches != count:
        text = "A grid of {rows}x{cols} has {cells} patches, and there are {n} tokens; leave class tokens out."
        raise InputError("tokens.grid_count", text, rows=grid.rows, cols=grid.cols, cells=grid.patches, n=count)
    model = ready(*_model_of(module, grid, dim), "cpu")
    size = model.net.backbone.input_size
    if given is None:
        notes += (Message("tokens.no_pictures", "No pictures were given; grey stands in for them."),)
    shown = {} if given is None else prepare(given, size).pixels
    blank = np.full((*size, 3), GREY, np.uint8)
    prepared = Prepared({str(m): blank if shown.get(m) is None else shown[m] for m in MODALITIES})
    key = (model.identity, _hash(encoded), "given")
    return OpenSet(model, prepared, None, notes, Encoding(key, encoded)).analyse(settings)


def _by_modality(given: Any, name: str, dimensions: int) -> dict[str, Any]:
    """What belongs to each modality, from a mapping, a sequence or a stack."""
    if isinstance(given, Mapping):
        lower = {str(key).lower(): value for key, value in given.items()}
        found = {m: lower[alias] for m, aliases in ALIASES.items() for alias in aliases if alias in lower}
        for m in MODALITIES:
            if m not in found:
                text = "There are no {name} for {modality}; give rgb, nir and tir."
                raise InputError("tokens.missing", text, name=name, modality=str(m))
        return found
    shape: tuple[int, ...] = getattr(given, "shape", ())
    stacked = given[0] if len(shape) == dimensions + 2 and shape[0] == 1 else given  # a batch of one around them
    try:
        return dict(zip(map(str, MODALITIES), stacked, strict=True))
    except (TypeError, ValueError):
        text = "{name} must be rgb, nir and tir by name, or three in this order, also stacked; these are {what}."
        what = f"of the shape {tuple(shape)}" if shape else f"a {type(given).__name__}"
        raise InputError("tokens.three", text, name=name, what=what) from None


def _tokens(given: Any, name: str, dimensions: int) -> dict[str, Tensor]:
    """One image set by modality, as a batch of one on the CPU in fp32."""
    found = {}
    for m, value in _by_modality(given, name, dimensions).items():
        try:
            tensor = torch.as_tensor(value).detach().float().cpu()
        except (TypeError, ValueError, RuntimeError):
            text = "{name} of {modality} are no tensor or array of numbers."
            raise InputError("tokens.numbers", text, name=name, modality=m) from None
        if tensor.dim() == dimensions:
            tensor = tensor.unsqueeze(0)
        if tensor.dim() != dimensions + 1 or len(tensor) != 1:
            text = "{name} of {modality} have the shape {shape}; give one image set: (N, C) patches, (C,) globals."
            raise InputError("tokens.shape", text, name=name, modality=m, shape=str(tuple(tensor.shape)))
        if not bool(tensor.isfinite().all()):
            text = "{name} of {modality} hold values that are not finite; check the model that made them."
            raise InputError("tokens.nan", text, name=name, modality=m)
        found[m] = tensor.contiguous()
    return found


def _aspect(pictures: Any) -> float:
    height, width = next(p.size for p in pictures if p is not None)
    return float(height / width)


def _likely_grid(count: int, aspect: float) -> Grid:
    """The rows and columns that make so many patches and come nearest to a shape."""
    pairs = [Grid(rows, count // rows) for rows in range(1, count + 1) if count % rows == 0]
    return min(pairs, key=lambda g: abs(np.log(g.rows / g.cols / aspect)))


def _model_of(module: nn.Module | None, grid: Grid, dim: int) -> tuple[ReidModel, WeightsReport]:
    """A model around a copy of the module, and the report that says what it is."""
    backbone = GivenTokens(grid, dim)
    with torch.random.fork_rng(devices=[]):  # what is drawn here is thrown away, and the caller's draws stay theirs
        own, trained = _selector_of(module, grid, dim)
        whole = not isinstance(own, MultiModalSDTPS)
        config = ModelConfig(
            NAME,
            NAME,
            backbone.input_size,
            variant=own.variant.name,
            predictor=whole or own.rgb_sparse is not None,
            aggregation=whole or own.rgb_aggr is not None,
        )
        net = ReidModel(backbone, config)
    net.sdtps = own
    state = own.state_dict()
    report = WeightsReport(
        NAME if module is None else f"{type(module).__name__} on {NAME}",
        sha256_of_state(state),
        True,
        len(state),
        family="tokens",
        absent=absent_parts(net),
        facts=facts_of(net),
        settings=trained,
    )
    return net, report


def _selector_of(module: nn.Module | None, grid: Grid, dim: int) -> tuple[Selector, dict[str, float]]:
    """The module as a selector of ours, and its ratios."""
    if module is None:
        return MultiModalSDTPS(dim, grid.patches, predictor=False, aggregation=False), {}
    if isinstance(module, Selector) and not isinstance(module, MultiModalSDTPS):
        return copy.deepcopy(module).float().cpu().eval(), {}
    found = module if isinstance(module, MultiModalSDTPS) else find_module(module)[1]
    settings = settings_of(found)
    own = copy.deepcopy(found) if isinstance(found, MultiModalSDTPS) else shadow(found, grid.patches, settings)
    own = own.float().cpu().eval()
    if own.embed_dim != dim:
        text = "The module takes tokens of {own} channels, and these have {dim}."
        raise InputError("tokens.channels", text, own=own.embed_dim, dim=dim)
    named = ("sparse_ratio", "aggr_ratio", "beta", "tau")
    return own, {name: float(getattr(settings, name)) for name in named}


def _hash(encoded: Encoded) -> str:
    digest = hashlib.sha256()
    for part in encoded:
        for tensor in part.values():
            digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
