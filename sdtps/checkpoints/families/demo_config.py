"""What a DeMo training configuration says that its checkpoint does not: ratios, beta, picture size."""

import ast
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sdtps.support.errors import CheckpointError

MAX_BYTES = 128 * 1024  # DeMo's own files have 3 KB
LARGEST_SIDE = 4096  # of a picture
LEAST_SPREAD = 1e-6
SETTINGS = {
    "SDTPS_SPARSE_RATIO": ("sparse_ratio", 0.0, 1.0),
    "SDTPS_AGGR_RATIO": ("aggr_ratio", 0.0, 1.0),
    "SDTPS_BETA": ("beta", 0.0, 0.5),
}


class _PlainLoader(yaml.SafeLoader):
    """No tags and no aliases: ten lines of aliases can unfold to more than any memory holds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Every node but an alias."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("An alias.")
        return super().compose_node(parent, index)


@dataclass(frozen=True)
class DemoConfig:
    """The part of a DeMo YAML file that matters here.

    Attributes:
        settings: `sparse_ratio`, `aggr_ratio` and `beta`, as far as the file gives them.
        input_size: (height, width) of the test pictures.
        sie_coefficient: factor of the camera embedding.
        mean, std: normalisation of the pictures.
    """

    settings: dict[str, float] = field(default_factory=dict)
    input_size: tuple[int, int] | None = None
    sie_coefficient: float | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None


def read_demo_config(path: str | os.PathLike[str]) -> DemoConfig:
    """Read a DeMo YAML file; what it does not say stays None."""
    file = Path(path)
    if not os.path.isfile(file):  # false for names that no file can have, where pathlib would raise
        raise CheckpointError("config.not_found", "There is no configuration {name!r}; check the path.", name=file.name)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ValueError
        content = yaml.load(file.read_text(encoding="utf-8"), _PlainLoader)
        if not isinstance(content, dict):
            raise ValueError
    except (OSError, ValueError, RecursionError, yaml.YAMLError):
        raise CheckpointError(
            "config.unreadable", "{name!r} is not a DeMo configuration in YAML.", name=file.name
        ) from None
    model, pictures = _section(content, "MODEL"), _section(content, "INPUT")
    settings = {}
    for key, (name, low, high) in SETTINGS.items():
        value = _number(file.name, key, model.get(key))
        if value is not None and not low <= value <= high:
            raise _wrong(file.name, key, model[key])
        if value is not None:
            settings[name] = value
    size = _numbers(file.name, "SIZE_TEST", pictures.get("SIZE_TEST", pictures.get("SIZE_TRAIN")), 2, 1, LARGEST_SIDE)
    return DemoConfig(
        settings,
        None if size is None else (int(size[0]), int(size[1])),
        _number(file.name, "SIE_COE", model.get("SIE_COE")),
        _numbers(file.name, "PIXEL_MEAN", pictures.get("PIXEL_MEAN"), 3),
        _numbers(file.name, "PIXEL_STD", pictures.get("PIXEL_STD"), 3, LEAST_SPREAD),
    )


def _section(content: dict[str, Any], name: str) -> dict[str, Any]:
    section = content.get(name)
    return section if isinstance(section, dict) else {}


def _wrong(name: str, key: str, value: Any) -> CheckpointError:
    return CheckpointError(
        "config.value", "{name!r} sets {key} to {value}, which cannot be used.", name=name, key=key, value=str(value)
    )


def _number(name: str, key: str, value: Any) -> float | None:
    """A number, also where YAML took it for text, as it does with 1e-3."""
    if value is None:
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        raise _wrong(name, key, value) from None
    if not math.isfinite(number):
        raise _wrong(name, key, value)
    return number


def _numbers(
    name: str, key: str, value: Any, count: int, low: float = -math.inf, high: float = math.inf
) -> tuple[float, ...] | None:
    """A list, also in the quoted form `"[256, 128]"` that these files like."""
    written = value
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):  # the parser calls deep nesting a lack of memory
            raise _wrong(name, key, value) from None
    if value is None:
        return None
    if not isinstance(value, list | tuple) or len(value) != count:
        raise _wrong(name, key, written)
    numbers = tuple(_number(name, key, v) for v in value)
    found = tuple(n for n in numbers if n is not None and low <= n <= high)
    if len(found) != count:
        raise _wrong(name, key, written)
    return found
