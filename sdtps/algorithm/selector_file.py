"""A selector of one's own from a Python file, `--selector my_selector.py`. The file is run as a program."""

import importlib.util
import os
from pathlib import Path

from sdtps.algorithm.selector import SELECTORS, Selector
from sdtps.support.errors import SettingsError


def load_selector(path: str | os.PathLike[str]) -> list[type[Selector]]:
    """Run a file that registers one selector or several, and give them back.

    Args:
        path: a Python file whose classes are decorated with `sdtps.algorithm.selector.register`.

    Raises:
        SettingsError: a file that is not there, cannot be run, or registers nothing.
    """
    file = Path(path)
    if not file.is_file() or file.suffix != ".py":
        raise SettingsError("selector.file", "There is no Python file {name!r}; check the path.", name=file.name)
    before = set(SELECTORS)
    spec = importlib.util.spec_from_file_location(f"sdtps_selector_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a user's file raises
        text = "{name!r} could not be run ({line}); correct it and try again."
        line = f"{type(error).__name__}: {error}"
        raise SettingsError("selector.run", text, name=file.name, line=line) from error
    found = [SELECTORS[name] for name in SELECTORS if name not in before]
    if not found:
        text = "{name!r} registers no selector; decorate its class with @register."
        raise SettingsError("selector.none", text, name=file.name)
    return found
