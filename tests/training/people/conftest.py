"""Rendering needs OpenGL and body data; where they lack, tests that draw are skipped, the others run."""

import importlib.util

import pytest


def _lacks() -> str | None:
    for name in ("anny", "moderngl"):
        if importlib.util.find_spec(name) is None:
            return f"rendering needs the package {name}, which is not installed: pip install '.[synth]'"
    from sdtps.training.people.view.raster import open_context

    try:
        open_context()
    except RuntimeError as error:
        return str(error)
    return None


@pytest.fixture(scope="session")
def renderer() -> None:
    """Ask for it to be skipped where nothing can be drawn."""
    if why := _lacks():
        pytest.skip(why)
