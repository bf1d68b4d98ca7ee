"""Attacks over the network against a real server: the quick ones of `make attack`."""

import pytest

from tests.attack import connections, files, requests
from tests.attack.target import Target
from tests.web.conftest import App

ATTACKS = (
    requests.foreign_origin,
    requests.rebinding,
    requests.simple_posts,
    requests.nested_json,
    requests.costly_cookies,
    requests.many_parts,
    requests.without_words,
    requests.one_visitor_for_all,
    requests.huge_figures,
    connections.crumbs,
    connections.half_sent,
    connections.broken_uploads,
    files.striped_pictures,
)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_the_server_holds(app: App, attack) -> None:
    assert app.server is not None
    assert attack(Target.of(app.server)) is None
