"""Rendering needs OpenGL, which `make test` installs on Linux; elsewhere what draws is skipped."""

import sys

import pytest


@pytest.fixture(scope="session")
def renderer() -> None:
    """Asked for by tests that draw."""
    if sys.platform != "linux":
        pytest.skip("Rendering is tried on Linux only.")
    from sdtps.training.people.view.raster import open_context

    open_context()
