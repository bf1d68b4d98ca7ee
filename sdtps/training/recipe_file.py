"""Plain values to dataclasses, strictly: what is not known, or of the wrong kind, is named in one sentence."""

import difflib
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


def read_plain(cls: type[T], values: Any, where: str) -> T:
    """A dataclass from a mapping of its fields.

    Args:
        cls: the dataclass.
        values: plain values, as YAML gives them.
        where: what to call it in a sentence, such as `phases[0]`.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"{where} must be a mapping of names to values, not {values!r}.")
    known = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"; did you mean {near[0]}?" if near else "."
            raise ValueError(f"{where} has no {name}{hint}")
    hints = get_type_hints(cls)
    place = "" if where == "recipe" else f"{where}."
    ready = {name: _value(hints[name], value, f"{place}{name}") for name, value in values.items()}
    for name, f in known.items():
        if name not in ready and f.default is MISSING and f.default_factory is MISSING:
            raise ValueError(f"{where} lacks {name}; add it.")
    try:
        return cls(**ready)
    except ValueError as error:
        if where == "recipe":
            raise
        raise ValueError(f"{where}: {error}") from None


def _value(kind: Any, value: Any, where: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return _one_of(get_args(kind), value, where)
    if origin is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{where} must be one of {', '.join(map(str, get_args(kind)))}, not {value!r}.")
        return value
    if origin is tuple:
        return _sequence(get_args(kind), value, where)
    if origin is not None:  # a mapping
        if not isinstance(value, Mapping):
            raise ValueError(f"{where} must be a mapping of names to values, not {value!r}.")
        inner = get_args(kind)[1]
        return {str(k): _value(inner, v, f"{where}.{k}") for k, v in value.items()}
    if is_dataclass(kind):
        return value if isinstance(value, kind) else read_plain(kind, value, where)  # type: ignore[arg-type]
    if kind is Any:
        return value
    return _simple(kind, value, where)


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """The first kind that the value fits; the sentence of the last one otherwise."""
    if value is None and type(None) in kinds:
        return None
    said = ValueError(f"{where} must not be empty.")
    for kind in (k for k in kinds if k is not type(None)):
        try:
            return _value(kind, value, where)
        except ValueError as error:
            said = error
    raise said


def _sequence(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        wanted = f"a list of {len(kinds)} numbers" if Ellipsis not in kinds else "a list"
        raise ValueError(f"{where} must be {wanted}, not {value!r}.")
    if Ellipsis not in kinds and len(value) != len(kinds):
        raise ValueError(f"{where} must hold {len(kinds)} values, not {len(value)}.")
    each = [kinds[0]] * len(value) if Ellipsis in kinds else kinds
    return tuple(_value(k, v, f"{where}[{i}]") for i, (k, v) in enumerate(zip(each, value, strict=True)))


def _simple(kind: type, value: Any, where: str) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and isinstance(value, str):
        try:
            return float(value)  # YAML reads 1e-3 without a dot as a text
        except ValueError:
            pass
    fits = number if kind is float else isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if not fits:
        raise ValueError(f"{where} must be {KINDS.get(kind, kind.__name__)}, not {value!r}.")
    return float(value) if kind is float else value
