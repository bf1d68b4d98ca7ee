"""How a checkpoint becomes a model: the plan, what is known besides the tensors, and the choice of the grid."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import Tensor

from sdtps.checkpoints.families.demo_config import DemoConfig
from sdtps.checkpoints.families.grid_guess import PERSON, VEHICLE, grid_of_table, possible_grids
from sdtps.checkpoints.families.vit import Body
from sdtps.models.reid import ModelConfig
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import Message
from sdtps.types import Grid

NAMES = {"rgbnt201": PERSON, "rgbnt100": VEHICLE, "msvr310": VEHICLE, "wmveid": VEHICLE, "msvwild": VEHICLE}
SIZES = ((256, 128), (128, 256))  # of the data sets' pictures, the person's first
Clue = tuple[Grid, Message]


@dataclass(frozen=True)
class Hints:
    """What is known besides the tensors.

    Attributes:
        size: (height, width) of the pictures, where the user says it.
        config: the training configuration, where the user gives it.
        folder: names of the folders around the file, which often name the data set.
        force: take what can be taken from a file that cannot be run as it was trained.
    """

    size: tuple[int, int] | None = None
    config: DemoConfig | None = None
    folder: str = ""
    force: bool = False


@dataclass(frozen=True)
class Plan:
    """How a checkpoint becomes a model.

    Attributes:
        family: see `WeightsReport.family`.
        config: the architecture.
        tensors: the file's tensors by the model's names.
        theirs: a name of the model → its name in the file.
        made: names of the model whose tensors are not in the file but follow from it.
        unused: name in the file → the part it belongs to.
        unexpected: name in the file that nothing is known of → the part it lies in.
        assumed: what the file does not say.
        notes: what was done to it, or is not done with it.
        facts: what the shapes say besides the configuration.
        settings: ratios, beta and tau of the training, as far as they are known.
    """

    family: str
    config: ModelConfig
    tensors: dict[str, Tensor]
    theirs: Callable[[str], str] = str
    made: frozenset[str] = frozenset()
    unused: Mapping[str, str] = field(default_factory=dict)
    unexpected: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[Message, ...] = ()
    notes: tuple[Message, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, float] = field(default_factory=dict)


class Geometry(NamedTuple):
    """How pictures are cut: the grid, the (height, width) of a picture, and the step from patch to patch."""

    grid: Grid
    size: tuple[int, int]
    stride: int


def choose_grid(name: str, body: Body, hints: Hints, assumed: list[Message], clues: list[Clue]) -> Geometry:
    """The grid of a position table: as told, as the table shows, as the data set suggests, or the person's.

    Args:
        name: the file's name.
        body: the ViT with its table.
        hints: what the user says.
        assumed: gets a sentence when the choice is not certain.
        clues: grids that the checkpoint's own data set suggests, surest first.
    """
    for size in (hints.size, hints.config.input_size if hints.config else None):
        if size is not None:
            return _of_size(name, size, body, assumed)
    side = body.patch
    found = {g: Geometry(g, (g.rows * side, g.cols * side), side) for g in possible_grids(body.patches)}
    found = found or {g.grid: g for g in _overlapping(body)}
    if not found:
        raise CheckpointError(
            "weights.grid",
            "{name!r} has a position table of {patches} patches; say the size of its pictures with --size HxW.",
            name=name,
            patches=body.patches,
        )
    grids = list(found)
    grid = grids[0] if len(grids) == 1 else _likely(name, body, hints, assumed, clues, grids)
    _say_overlap(found[grid], body, assumed)
    return found[grid]


def _likely(name: str, body: Body, hints: Hints, assumed: list[Message], clues: list[Clue], grids: list[Grid]) -> Grid:
    by_table = grid_of_table(body.table[body.prefix :], grids)
    reasons: list[Clue] = []
    if by_table:
        reasons.append((by_table, Message("grid.why.table", "on it, neighbours in the position table are alike")))
    reasons += clues
    for word, grid in NAMES.items():
        if word in f"{hints.folder}/{name}".lower():
            reasons.append((grid, Message("grid.why.name", "the name says {word}", word=word.upper())))
    reasons.append((grids[0], Message("grid.why.default", "nothing says which, and people are upright")))
    grid, why = next((g, why) for clue, why in reasons for g in grids if g == clue or _as_upright(g, clue, grids))
    assumed.append(
        Message(
            "weights.assumed.grid",
            "{patches} patches can be {all}; {rows}x{cols} is assumed: {why}. Say otherwise with --size.",
            patches=body.patches,
            all=" or ".join(f"{g.rows}x{g.cols}" for g in grids),
            rows=grid.rows,
            cols=grid.cols,
            why=why,
        )
    )
    return grid


def _as_upright(grid: Grid, clue: Grid, grids: list[Grid]) -> bool:
    """Whether a clue that is of another size, as with overlapping patches, lies or stands like the grid."""
    return clue not in grids and (grid.rows > grid.cols) == (clue.rows > clue.cols)


def _overlapping(body: Body) -> list[Geometry]:
    """Cuts of the data sets' pictures into patches that overlap, the person's first."""
    cuts = (_cut(size, body.patch, stride) for stride in range(body.patch - 1, 3, -1) for size in SIZES)
    return [cut for cut in cuts if cut.grid.patches == body.patches]


def _cut(size: tuple[int, int], patch: int, stride: int) -> Geometry:
    rows, cols = ((side - patch) // stride + 1 for side in size)
    return Geometry(Grid(max(1, rows), max(1, cols)), size, stride)


def _of_size(name: str, size: tuple[int, int], body: Body, assumed: list[Message]) -> Geometry:
    fitting = [
        c for c in (_cut(size, body.patch, s) for s in range(body.patch, 3, -1)) if c.grid.patches == body.patches
    ]
    whole = [c for c in fitting if c.stride < body.patch or not (size[0] % body.patch or size[1] % body.patch)]
    if not whole:
        raise CheckpointError(
            "weights.size",
            "Pictures of {height}x{width} have {asked} patches, but {name!r} was made for {patches}.",
            height=size[0],
            width=size[1],
            asked=_cut(size, body.patch, body.patch).grid.patches,
            name=name,
            patches=body.patches,
        )
    _say_overlap(whole[0], body, assumed)
    return whole[0]


def _say_overlap(cut: Geometry, body: Body, assumed: list[Message]) -> None:
    if cut.stride < body.patch:
        text = (
            "The position table has {rows}x{cols} places: patches of {patch} pixels that begin every {stride} pixels "
            "and overlap. A square in a map is as wide as that step."
        )
        values = {"rows": cut.grid.rows, "cols": cut.grid.cols, "patch": body.patch, "stride": cut.stride}
        assumed.append(Message("weights.assumed.stride", text, **values))
