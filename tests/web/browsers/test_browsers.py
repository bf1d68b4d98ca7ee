"""The same short flows in every browser that is here. `make browsers` insists on all three, `make test` on Firefox."""

import os
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tests.web.browsers import drivers
from tests.web.browsers.drivers import Hands, Missing, hands
from tests.web.browsers.flows import FLOWS, SHOWN
from tests.web.conftest import App

# Chromium has the whole suite; WebKitGTK is slow without a graphics card and has its turn in `make browsers`.
COMPLAINTS = "[...document.querySelectorAll('.lens-errors > *')].map((e) => e.textContent)"
ASKED = os.environ.get("SDTPS_BROWSERS", "firefox").split(",")


@pytest.fixture(scope="module", params=ASKED)
def page(request: pytest.FixtureRequest) -> Iterator[Hands]:
    try:
        with hands(request.param) as opened:
            yield opened
    except Missing as missing:
        if "SDTPS_BROWSERS" in os.environ:
            raise
        pytest.skip(str(missing))


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_works(page: Hands, app: App, flow: str) -> None:
    FLOWS[flow](page, app)
    assert page.ask(SHOWN) is not None, "the picture that was there is lost"
    assert page.ask(COMPLAINTS) == []


class Deaf(Hands):
    """A page on which nothing ever happens."""

    def open(self, url: str) -> None: ...

    def ask(self, expression: str) -> Any:
        return [0, 0, 1, 1] if "getBoundingClientRect" in expression else 0

    def pointer(self, moves: Sequence[tuple[float, float]], *, press: bool) -> None: ...

    def give(self, selector: str, paths: Sequence[str]) -> None: ...


@pytest.mark.parametrize("flow", FLOWS)
def test_a_flow_fails_where_nothing_happens(flow: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drivers, "PATIENCE", 0.0)
    served = SimpleNamespace(url="http://nowhere", files=lambda _name: ("rgb", "nir", "tir"))
    with pytest.raises((TimeoutError, AssertionError)):
        FLOWS[flow](Deaf(), served)
