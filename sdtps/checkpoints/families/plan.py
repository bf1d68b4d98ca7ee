"""How a checkpoint becomes a model: the plan, what is known besides the tensors, and the choice of the grid."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from sdtps.checkpoints.families.demo_config import DemoConfig
from sdtps.checkpoints.families.grid_guess import PERSON, VEHICLE, grid_of_table, possible_grids
from sdtps.checkpoints.families.vit import Body
from sdtps.models.reid import ModelConfig
from sdtps.support.errors import CheckpointError
from sdtps.support.messages import Message
from sdtps.types import Grid

NAMES = {"rgbnt201": PERSON, "rgbnt100": VEHICLE, "msvr310": VEHICLE, "wmveid": VEHICLE, "msvwild": VEHICLE}
Clue = tuple[Grid, Message]


@dataclass(frozen=True)
class Hints:
    """What is known besides the tensors.

    Attributes:
        size: (height, width) of the pictures, where the user says it.
        config: the training configuration, where the user gives it.
        folder: names of the folders around the file, which often name the data set.
    """

    size: tuple[int, int] | None = None
    config: DemoConfig | None = None
    folder: str = ""


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
    facts: Mapping[str, int] = field(default_factory=dict)


def choose_grid(name: str, body: Body, hints: Hints, assumed: list[Message], clues: list[Clue]) -> Grid:
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
            return _grid_of_size(name, size, body)
    grids = possible_grids(body.patches)
    if not grids:
        raise CheckpointError(
            "weights.grid",
            "{name!r} has a position table of {patches} patches; say the size of its pictures with --size HxW.",
            name=name,
            patches=body.patches,
        )
    if len(grids) == 1:
        return grids[0]
    by_table = grid_of_table(body.table[body.prefix :], grids)
    reasons: list[Clue] = []
    if by_table:
        reasons.append((by_table, Message("grid.why.table", "on it, neighbours in the position table are alike")))
    reasons += clues
    for word, grid in NAMES.items():
        if word in f"{hints.folder}/{name}".lower():
            reasons.append((grid, Message("grid.why.name", "the name says {word}", word=word.upper())))
    reasons.append((grids[0], Message("grid.why.default", "nothing says which, and people are upright")))
    grid, why = next((g, w) for g, w in reasons if g in grids)
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


def _grid_of_size(name: str, size: tuple[int, int], body: Body) -> Grid:
    grid = Grid(max(1, size[0] // body.patch), max(1, size[1] // body.patch))
    if grid.patches != body.patches or size[0] % body.patch or size[1] % body.patch:
        raise CheckpointError(
            "weights.size",
            "Pictures of {height}x{width} have {asked} patches, but {name!r} was made for {patches}.",
            height=size[0],
            width=size[1],
            asked=grid.patches,
            name=name,
            patches=body.patches,
        )
    return grid
