"""The same short flows in every browser that is here. `make browsers` insists on all three, `make test` on Firefox."""

import os
from collections.abc import Iterator

import pytest

from tests.web.browsers.drivers import Hands, Missing, hands
from tests.web.browsers.flows import FLOWS
from tests.web.conftest import App

# Chromium has the whole suite; WebKitGTK is slow without a graphics card and has its turn in `make browsers`.
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
