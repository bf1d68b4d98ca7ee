"""What a training configuration of DeMo, its fork or Signal says that the checkpoint does not."""

import ast
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sdtps.support.errors import CheckpointError
from sdtps.variants import VARIANTS

MAX_BYTES = 128 * 1024  # DeMo's own files have 3 KB
LARGEST_SIDE = 4096  # of a picture
LEAST_SPREAD = 1e-6
DEFAULT_SIE = 3.0  # of the reference, where a file does not set SIE_COE
MOST = 1024  # of counts such as TOPK
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
        sie_coefficient: factor of the camera embedding; the reference's default where the file leaves it out.
        mean, std: normalisation of the pictures.
        variant: which SDTPS was trained, where the file says it under SDTPS_VARIANT.
        global_local: whether the GLOBAL_LOCAL reduction was used.
        stride: of the patches.
        topk, keep_ratio: of Signal's selection; a ratio of 0 means that the union stays as it is.
        dgaf_tau, dgaf_heads: of DGAF.
        frca_slope, frca_heads: of FRCA.
    """

    settings: dict[str, float] = field(default_factory=dict)
    input_size: tuple[int, int] | None = None
    sie_coefficient: float | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    variant: str | None = None
    global_local: bool | None = None
    stride: int | None = None
    topk: int | None = None
    keep_ratio: float | None = None
    dgaf_tau: float | None = None
    dgaf_heads: int | None = None
    frca_slope: float | None = None
    frca_heads: int | None = None


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
        value = _within(file.name, key, model.get(key), low, high)
        if value is not None:
            settings[name] = value
    size = _numbers(file.name, "SIZE_TEST", pictures.get("SIZE_TEST", pictures.get("SIZE_TRAIN")), 2, 1, LARGEST_SIDE)
    return DemoConfig(
        settings,
        None if size is None else (int(size[0]), int(size[1])),
        DEFAULT_SIE if model.get("SIE_COE") is None else _number(file.name, "SIE_COE", model["SIE_COE"]),
        _numbers(file.name, "PIXEL_MEAN", pictures.get("PIXEL_MEAN"), 3),
        _numbers(file.name, "PIXEL_STD", pictures.get("PIXEL_STD"), 3, LEAST_SPREAD),
        variant=_variant(file.name, model.get("SDTPS_VARIANT")),
        global_local=_switch(file.name, "GLOBAL_LOCAL", model.get("GLOBAL_LOCAL")),
        stride=_stride(file.name, model.get("STRIDE_SIZE")),
        topk=_count(file.name, "TOPK", model.get("TOPK")),
        keep_ratio=_keep_ratio(file.name, model),
        dgaf_tau=_within(file.name, "DGAF_TAU", model.get("DGAF_TAU"), LEAST_SPREAD, math.inf),
        dgaf_heads=_count(file.name, "DGAF_NUM_HEADS", model.get("DGAF_NUM_HEADS")),
        frca_slope=_within(file.name, "FRCA_NEGATIVE_SLOPE", model.get("FRCA_NEGATIVE_SLOPE"), 0.0, 1.0),
        frca_heads=_count(file.name, "FRCA_CROSS_ATTN_HEADS", model.get("FRCA_CROSS_ATTN_HEADS")),
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


def _within(name: str, key: str, value: Any, low: float, high: float) -> float | None:
    number = _number(name, key, value)
    if number is not None and not low <= number <= high:
        raise _wrong(name, key, value)
    return number


def _count(name: str, key: str, value: Any) -> int | None:
    number = _within(name, key, value, 1, MOST)
    if number is not None and number != int(number):
        raise _wrong(name, key, value)
    return None if number is None else int(number)


def _switch(name: str, key: str, value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise _wrong(name, key, value)


def _variant(name: str, value: Any) -> str | None:
    if value is not None and value not in VARIANTS:
        raise _wrong(name, "SDTPS_VARIANT", value)
    return None if value is None else str(value)


def _stride(name: str, value: Any) -> int | None:
    both = _numbers(name, "STRIDE_SIZE", value, 2, 1, LARGEST_SIDE)
    if both is not None and both[0] != both[1]:
        raise _wrong(name, "STRIDE_SIZE", value)
    return None if both is None else int(both[0])


def _keep_ratio(name: str, model: dict[str, Any]) -> float | None:
    """Signal's exact share; its file switches it by another key, which is off by default."""
    switch = _switch(name, "FIXED_KEEP_RATIO", model.get("FIXED_KEEP_RATIO"))
    ratio = _within(name, "KEEP_RATIO", model.get("KEEP_RATIO"), 0.0, 1.0)
    if switch is None:
        return None
    return (0.75 if ratio is None else ratio) if switch else 0.0


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
