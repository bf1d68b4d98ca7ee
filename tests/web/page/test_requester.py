"""Slider requests over a slow line: a few in flight, the newest always sent, an older answer never over a newer one."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from sdtps.web.static import STATIC

pytestmark = pytest.mark.browser

# Answers come when the test says so; `step` lets time pass and promises settle.
SETUP = """
  window.calls = []; window.shown = [];
  window.ask = latestWinsInFlight(
    (request) => new Promise((resolve) => { calls.push({ request, resolve: () => resolve(request) }); }),
    async (answer) => { shown.push(answer); },
  );
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page()
    opened.clock.install(time=0)
    opened.clock.pause_at(1000)
    opened.add_script_tag(content=(STATIC / "js" / "requester.js").read_text() + SETUP)
    yield opened
    opened.close()


def drag(page: Page, *values: int, pause: int = 100) -> None:
    """One request per pause."""
    for value in values:
        page.evaluate("value => { ask(value); }", value)
        page.clock.run_for(pause)


def answer(page: Page, value: int) -> None:
    page.evaluate(
        "async (value) => { calls.find((c) => c.request === value).resolve(); await null; await null; }", value
    )


def sent(page: Page) -> list[int]:
    return page.evaluate("calls.map((c) => c.request)")


def shown(page: Page) -> list[int]:
    return page.evaluate("shown")


def first_answered(page: Page, after: int = 100) -> None:
    """The first answer tells how quick the line is."""
    drag(page, 0, pause=after)
    answer(page, 0)
    assert shown(page) == [0]


def test_a_slow_line_carries_a_few_requests_at_once(page: Page) -> None:
    first_answered(page, after=500)
    drag(page, 1, 2, 3, 4, 5, 6)
    assert sent(page) == [0, 1, 2, 3, 4]
    answer(page, 1)
    assert sent(page) == [0, 1, 2, 3, 4, 6], "the newest takes the free place; the fifth was overtaken"


def test_an_older_answer_never_covers_a_newer_one(page: Page) -> None:
    first_answered(page)
    drag(page, 1, 2, 3)
    answer(page, 2)
    answer(page, 1)
    answer(page, 3)
    assert shown(page) == [0, 2, 3]


def test_a_near_server_gets_one_request_at_a_time(page: Page) -> None:
    first_answered(page)
    drag(page, 1, 2, 3, pause=10)
    assert sent(page) == [0, 1]
    answer(page, 1)
    assert sent(page) == [0, 1, 3]
    answer(page, 3)
    assert shown(page) == [0, 1, 3]


def test_a_busy_server_is_not_asked_more(page: Page) -> None:
    first_answered(page)
    drag(page, 1, pause=900)
    answer(page, 1)
    drag(page, 2, 3, 4)
    assert sent(page) == [0, 1, 2], "nine times the quickest answer: the server is slow, not the line"
    answer(page, 2)
    assert sent(page) == [0, 1, 2, 4]
