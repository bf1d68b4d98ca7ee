"""Does it matter, find cases and explain a match in Chromium, on the shipped gallery."""

import csv
import re
from pathlib import Path
from statistics import median

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import OpenPage
from tests.web.helpers import field, wait_for_settings

pytestmark = pytest.mark.browser

GALLERY, SETS = "gallery · test (48)", 48
HALF_DIGIT = 0.00005  # what rounding to four digits can hide
SIGNED = r"([+−]\d+\.\d)"


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def saved(page: Page, button: Locator) -> Path:
    with page.expect_download() as download:
        button.click()
    return Path(download.value.path())


def test_does_it_matter_gives_a_verdict_with_its_interval_and_the_report_to_take_home(open_page: OpenPage) -> None:
    page = open_page()
    page.locator("[data-view=matters]").click()
    chosen = {"gallery": {"label": GALLERY}, "ratios": {"value": "own"}, "draws": {"value": "3"}}
    for name, option in chosen.items():
        page.locator(f"[data-matters={name}]").select_option(**option)
    assert "Default" not in page.locator("[data-matters=variant]").inner_text(), "it is the chosen one"
    assert "With Gumbel training" in page.locator("[data-matters=variant]").inner_text()
    page.locator("[data-matters=run]").click()
    expect(page.get_by_role("progressbar", name="Measuring …")).to_be_visible()
    expect(page.locator("[data-matters=cancel]")).to_have_text("Cancel")
    page.wait_for_selector("[data-report]")

    row = page.locator("[data-row=random]")
    value, low, high = (number(n) for n in re.findall(SIGNED, row.locator("td").last.inner_text()))
    assert low <= value <= high
    verdict = page.locator(".lens-matters-verdict")
    sentence = (
        rf"^Keeping 64 chosen patches is worth {SIGNED} mAP over 64 random ones, 95 % interval {SIGNED} to {SIGNED}"
    )
    told = re.match(sentence, verdict.inner_text())
    assert told is not None
    assert [number(n) for n in told.groups()] == [value, low, high]
    # Which word the verdict has follows from the digits.
    shown = "better" if low > 0 else "worse" if high < 0 else "open"
    assert verdict.get_attribute("data-verdict") == shown
    assert ("not shown on 12 identities" in verdict.inner_text()) == (shown == "open")
    own, other = (
        number(page.locator(f"[data-row='{name}'] td").nth(1).inner_text()) for name in ("as it is", "random")
    )
    assert own - other == pytest.approx(value, abs=0.11)
    assert row.locator("svg circle").count() == 1
    assert page.locator("[data-sign='fate:predictor'] td").count() == 4

    page.locator(".lens-figure-saver select:visible").select_option("csv")
    with saved(page, page.locator("[data-matters=save]")).open(encoding="utf-8") as stream:
        (line,) = [line for line in csv.DictReader(stream) if line["choice"] == "random"]
    assert [round(100 * float(line[f"gain mAP{part}"]), 1) for part in ("", " low", " high")] == [value, low, high]

    stale = page.locator(".lens-matters .lens-badge").first
    expect(stale).to_be_hidden()
    field(page, "sparse_ratio").fill("0.3")
    wait_for_settings(page, sparse_ratio=0.3)
    expect(stale).to_be_visible()
    page.locator("[data-choice=language]").click()
    expect(verdict).to_contain_text("95 % 区间")


def cases(page: Page) -> list[tuple[str, float]]:
    """Names and numbers of all that is listed, in order."""
    listed = int(page.locator(".lens-cases-body").get_attribute("data-listed") or 0)
    tiles = page.locator(".lens-cases-tile")
    more = page.locator("[data-cases=more]")
    while tiles.count() < listed:
        more.click()
    texts = tiles.evaluate_all(
        "all => all.map(t => [t.querySelector('.lens-rank-name').title, t.querySelector('b').innerText])"
    )
    return [(name, float(value)) for name, value in texts]


def lasso(page: Page, left: float, right: float) -> int:
    """Draw around a part of the map, given in shares of its width; how many are listed then."""
    page.locator("[data-option='cases.drag'] input[value=lasso]").check(force=True)
    page.locator(".lens-cases-map").scroll_into_view_if_needed()
    box = page.locator(".lens-cases-map").bounding_box()
    assert box is not None
    corners = [(left, 0.0), (right, 0.0), (right, 1.0), (left, 1.0), (left, 0.0)]
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()
    found = int(page.locator(".lens-cases-body").get_attribute("data-listed") or 0)
    page.locator("[data-cases=all]").click()
    return found


def test_cases_are_found_collected_and_their_matches_explained(open_page: OpenPage) -> None:
    page = open_page(viewport={"width": 1366, "height": 900})
    page.locator("[data-view=cases]").click()
    page.locator("[data-cases=gallery]").select_option(label=GALLERY)
    page.locator("[data-cases=run]").click()
    page.wait_for_selector(".lens-cases-tiles[data-shown]")
    values = [value for _, value in cases(page)]
    assert len(values) == SETS
    assert values == sorted(values)
    page.wait_for_function(
        """() => { const all = [...document.querySelectorAll('.lens-cases-tile img')];
          return all.every(i => i.src.startsWith('data:image/jpeg')) && all[0].naturalWidth > 0; }"""
    )

    # Another number sorts and colours; the bar tells its ends; a bound filters.
    canvas = page.locator(".lens-cases-map")
    before = canvas.evaluate("c => c.toDataURL()")
    page.locator("[data-cases=column]").select_option("darkness")
    page.wait_for_function("before => document.querySelector('.lens-cases-map').toDataURL() !== before", arg=before)
    page.locator("[data-option='cases.order'] input[value=down]").check(force=True)
    dark = [value for _, value in cases(page)]
    assert dark == sorted(dark, reverse=True)
    ends = page.locator(".lens-cases-scale span").all_inner_texts()
    assert (float(ends[0]), float(ends[-1])) == (dark[-1], dark[0])
    bound = page.locator("[data-cases=low]")
    bound.fill(str(median(dark)))
    bound.press("Tab")
    expect(page.locator(".lens-cases-body")).to_have_attribute("data-listed", str(sum(v >= median(dark) for v in dark)))
    bound.fill("")
    bound.press("Tab")
    expect(page.locator(".lens-cases-body")).to_have_attribute("data-listed", str(SETS))

    assert lasso(page, 0.01, 0.99) == SETS
    halves = lasso(page, 0.01, 0.5), lasso(page, 0.5, 0.99)
    assert min(halves) > 0
    assert sum(halves) == SETS

    # Two of them become one figure, with the rows that were chosen.
    boxes = page.locator(".lens-cases-tile input")
    boxes.nth(0).check()
    boxes.nth(2).check()
    page.locator("[data-cases=row-nir]").uncheck()
    send = page.locator("[data-cases=figure]")
    expect(send).to_have_text("Send 2 to a figure")
    page.locator(".lens-cases-figure select").select_option("svg")
    drawing = saved(page, send).read_text(encoding="utf-8")
    assert drawing.count(">RGB<") == 2
    assert ">NIR<" not in drawing

    # Where a wrong one is barely nearer than the nearest right one, and why.
    page.locator("[data-cases=column]").select_option("margin")
    page.locator("[data-option='cases.order'] input[value=up]").check(force=True)
    beaten = [(value, name) for name, value in cases(page) if value < 0]
    _, narrowest = max(beaten)
    page.locator(f".lens-cases-tile:has([title='{narrowest}']) .lens-cases-open").click()
    page.locator("[data-view=rank]").click()
    page.locator("[data-rank=gallery]").select_option(label=GALLERY)
    page.locator("[data-rank=index]").click()
    expect(page.locator("[data-verdict=query] .lens-rank-name").last).to_have_text(narrowest)
    explain_a_wrong_match(page)


def shown_match(page: Page, before: str | None) -> str:
    """What the panel is about, once that is another thing."""
    page.wait_for_function(
        "before => (document.querySelector('.lens-match').dataset.shown || null) !== before", arg=before
    )
    return page.locator(".lens-match").get_attribute("data-shown") or ""


def explain_a_wrong_match(page: Page) -> None:
    page.locator("[data-verdict=wrong] [data-rank=explain]").first.click()
    about = shown_match(page, None)
    match = page.locator(".lens-match")
    expect(match).to_be_in_viewport()
    heading = re.fullmatch(r"Why place (\d+): cosine (\d\.\d{4})", match.locator("h3").inner_text())
    assert heading is not None
    place, cosine = int(heading[1]), float(heading[2])
    parts = [float(t) for t in match.locator("[data-term=part] .lens-number").all_inner_texts()]
    assert sum(parts) == pytest.approx(cosine, abs=(len(parts) + 1) * HALF_DIGIT)
    assert float(match.locator("[data-term=sum] .lens-number").inner_text()) == cosine
    assert match.locator("figure").count() == 3
    assert match.locator("figure svg line").count() > 0

    # A click takes the strongest patch of the query away, which changes the cosine; a second one puts it back.
    frame = match.locator("figure").first.locator("svg rect").first.bounding_box()
    assert frame is not None
    page.mouse.click(frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2)
    about = shown_match(page, about)
    said = match.locator("[data-match=after]").inner_text()
    told = re.match(r"Without 1 patch: cosine (\d\.\d{4}), place (\d+) \(was (\d+)\)\.", said)
    assert told is not None
    assert int(told[3]) == place
    assert float(told[1]) != cosine
    page.locator("[data-match='match.reset']").click()
    about = shown_match(page, about)
    expect(match.locator("[data-match=after]")).to_have_count(0)

    # What would have to go: without it, a right one stands before this one.
    promise = match.locator("[data-match=win]").inner_text()
    assert "would have to go" in promise
    page.locator("[data-match='match.win.take']").click()
    shown_match(page, about)
    said = match.locator("[data-match=after]").inner_text()
    places = re.search(r"place (\d+) \(was (\d+)\)\. First correct match now at place (\d+) \(was (\d+)\)", said)
    assert places is not None
    mine, was, right, right_was = map(int, places.groups())
    assert was == place < right_was
    assert right < mine
    told = re.search(r"stand first \(now at place (\d+)\)|place (\d+) \(now (\d+)\)", promise)
    assert told is not None
    assert [int(n) for n in told.groups() if n] == ([right_was] if right == 1 else [right, right_was])


def test_the_folder_browser_sorts_and_filters_by_what_was_measured(open_page: OpenPage) -> None:
    page = open_page()
    page.locator("[data-option=offer] input[value=folder]").check(force=True)
    rows = page.locator(".lens-row-name-only[data-record]")
    expect(rows.first).to_be_visible()
    # Nothing is measured yet: choosing a number leads to the tab that measures it.
    page.locator("[data-browse=sort]").select_option("darkness")
    expect(page.locator("[data-cases=run]")).to_be_visible()
    expect(page.locator("[data-cases=column]")).to_have_value("darkness")
    page.locator("[data-cases=run]").click()
    page.wait_for_selector(".lens-cases-tiles[data-shown]")
    by_tab = cases(page)
    expect(rows.first).to_contain_text(f"{by_tab[0][1]:.3f}")
    assert rows.all_inner_texts()[:4] == [f"{value:.3f} {name}" for name, value in by_tab[:4]]
    page.locator("[data-browse=direction]").click()
    expect(rows.first).to_contain_text(by_tab[-1][0])
    bound = sorted(value for _, value in by_tab)[4]
    page.locator("[data-browse=low]").fill(str(bound + 0.0005))
    page.locator("[data-browse=low]").press("Tab")
    left = sum(value > bound for _, value in by_tab)
    expect(page.locator(".lens-browse-position")).to_have_attribute("data-total", str(left))
    # The steps follow the order.
    page.locator("[data-browse=next]").click()
    expect(page.locator(".lens-browse-facts b")).to_have_text(by_tab[-1][0])
