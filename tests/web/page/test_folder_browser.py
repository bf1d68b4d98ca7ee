"""The folder browser and the rank list in Chromium: three layouts, every way to step, links, and who is right."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from sdtps.datasets import open_dataset
from tests.web.conftest import App
from tests.web.helpers import pictures, slider, wait_for_link, wait_for_settings, wait_idle

OpenPage = Callable[..., Page]


def control(page: Page, name: str) -> Locator:
    return page.locator(f"[data-browse={name}]")


def open_folder(page: Page, root: str = "0", split: str | None = None) -> None:
    page.locator("[data-option=offer] label").nth(1).click()
    control(page, "root").select_option(root)
    if split is not None:
        control(page, "split").select_option(split)
    page.wait_for_selector(".lens-row-name-only[data-record]")


def wait_for_position(page: Page, text: str) -> None:
    expect(page.locator(".lens-browse-position")).to_have_text(text)


def chosen_name(page: Page) -> str:
    """The name of the triplet whose pictures are on screen."""
    expect(page.locator(".lens-browse-thumb")).to_be_visible()
    wait_idle(page)
    selected = page.locator(".lens-row-name-only[aria-selected=true]")
    expect(page.locator(".lens-browse-facts b")).to_have_text(selected.inner_text())
    return selected.inner_text()


@pytest.mark.parametrize(
    ("root", "split", "facts"),
    [
        ("people", "test", "id 0 · cam 1"),
        ("wide", "query", "id 1 · cam 1"),
        ("scenes", "query3", "id 1 · cam 0 · scene 1"),
    ],
)
def test_every_layout_is_browsed(app: App, open_page: OpenPage, root: str, split: str, facts: str) -> None:
    page = open_page()
    before = pictures(page)
    open_folder(page, str(list(app.data).index(root)))
    expect(control(page, "split")).to_have_value(split)
    names = [r.name for r in open_dataset(app.data[root]).listing(split).records]
    wait_for_position(page, f"{len(names)} found")
    page.locator(".lens-row-name-only").first.click()
    assert chosen_name(page) == names[0]
    expect(page.locator(".lens-browse-facts")).to_contain_text(facts)
    wait_for_position(page, f"1 of {len(names)}")
    first = pictures(page)
    assert all(before[key] != first[key] for key in before)
    control(page, "next").click()
    assert chosen_name(page) == names[1]
    assert pictures(page) != first
    control(page, "previous").click()
    assert chosen_name(page) == names[0]
    assert pictures(page) == first


def test_keys_step_without_touching_the_grid(app: App, open_page: OpenPage) -> None:
    page = open_page()
    open_folder(page)
    page.locator(".lens-row-name-only").nth(1).click()
    wait_for_position(page, "2 of 15")
    page.locator(".lens-rows").focus()
    page.keyboard.press("ArrowDown")
    wait_for_position(page, "3 of 15")
    page.keyboard.press("ArrowLeft")
    wait_for_position(page, "2 of 15")
    control(page, "search").focus()
    page.keyboard.type(",")  # part of a text, not a step
    page.keyboard.press("Backspace")
    page.locator(".lens-grid").focus()
    chosen_name(page)
    page.keyboard.press("ArrowDown")  # the grid's own key
    assert page.locator(".lens-grid").get_attribute("data-patch") is not None
    wait_for_position(page, "2 of 15")
    page.keyboard.press(".")
    wait_for_position(page, "3 of 15")
    page.keyboard.press(",")
    page.keyboard.press(",")
    wait_for_position(page, "1 of 15")
    page.keyboard.press(",")
    wait_for_position(page, "1 of 15")
    page.keyboard.press("Escape")  # lets go of the patch, whose drawer covers the list
    chosen_name(page)


def test_identity_camera_search_and_random(app: App, open_page: OpenPage) -> None:
    page = open_page()
    open_folder(page)
    control(page, "pid").select_option("2")
    wait_for_position(page, "4 found")
    control(page, "cam").select_option("3")
    wait_for_position(page, "1 found")
    control(page, "next").click()
    assert chosen_name(page).startswith("000002_cam3")
    control(page, "cam").select_option("")
    wait_for_position(page, "3 of 4")  # the triplet on screen keeps its place
    control(page, "pid").select_option("")
    control(page, "search").fill("CAM2")
    wait_for_position(page, "4 found")
    control(page, "random").click()
    assert "_cam2" in chosen_name(page)
    control(page, "search").fill("nobody")
    wait_for_position(page, "no image set")
    assert control(page, "next").is_disabled()


def test_broken_partners_are_listed_behind_a_count(app: App, open_page: OpenPage) -> None:
    page = open_page()
    open_folder(page)
    expect(control(page, "broken")).to_have_text("1 broken")
    control(page, "broken").click()
    expect(page.locator(".lens-broken li")).to_have_text(re.compile(r"000003_cam4.* There is no NIR partner\."))
    open_folder(page, "1")
    expect(page.locator(".lens-broken")).to_be_hidden()


def test_a_broken_triplet_is_said_and_stepped_over(open_page: OpenPage) -> None:
    page = open_page()
    open_folder(page, "1")
    page.locator(".lens-row-name-only").nth(2).click()
    wait_for_position(page, "3 of 6")
    name = chosen_name(page)
    control(page, "next").click()
    expect(page.locator(".lens-errors p")).to_contain_text("damaged or cut off")
    expect(control(page, "broken")).to_have_text("1 broken")
    assert chosen_name(page) == name
    control(page, "next").click()
    wait_for_position(page, "5 of 6")
    assert chosen_name(page).startswith("0003_c1")
    expect(page.locator(".lens-errors p")).to_have_count(0)


def test_a_link_restores_the_triplet(app: App, open_page: OpenPage) -> None:
    page = open_page()
    open_folder(page, "2", "bounding_box_test")
    page.locator(".lens-row-name-only").nth(3).click()
    name = chosen_name(page)
    wait_for_link(page, "record=")
    assert "example=" not in page.url
    again = open_page(page.url.removeprefix(f"{app.url}/"))
    assert chosen_name(again) == name
    expect(control(again, "root")).to_have_value("2")
    expect(control(again, "split")).to_have_value("bounding_box_test")
    wait_for_position(again, "4 of 6")
    assert pictures(again) == pictures(page)


def test_a_link_to_a_triplet_that_is_not_here(open_page: OpenPage) -> None:
    page = open_page("?record=0123456789abcdef")
    expect(page.locator("[data-error=page]")).to_have_text(re.compile("not in the data folders"))
    wait_for_link(page, "example=day")


def test_an_example_takes_over_from_a_record(open_page: OpenPage) -> None:
    page = open_page()
    open_folder(page)
    page.locator(".lens-row-name-only").first.click()
    chosen_name(page)
    page.locator("[data-option=offer] label").nth(0).click()
    page.locator("[data-example=night]").click()
    wait_for_link(page, "example=night")
    assert "record=" not in page.url


def row_of_the_open_folder(open_page: OpenPage, position: int) -> tuple[Page, Locator, str]:
    """A page that lists the first folder, one of its rows, and the name there."""
    page = open_page()
    open_folder(page)
    wait_for_position(page, "15 found")
    row = page.locator(".lens-row-name-only").nth(position)
    return page, row, row.inner_text()


def test_a_row_pressed_while_the_list_is_asked_for_again_is_chosen(open_page: OpenPage) -> None:
    page, row, name = row_of_the_open_folder(open_page, 2)
    # One task of the browser: the answer to the first line cannot arrive before the second.
    row.evaluate(
        """(row) => {
            document.querySelector('[data-browse=split]').dispatchEvent(new Event('change'));
            row.click();
        }"""
    )
    assert chosen_name(page) == name
    wait_for_position(page, "3 of 15")


def test_a_row_drawn_anew_under_the_pointer_is_still_chosen(open_page: OpenPage) -> None:
    page, row, name = row_of_the_open_folder(open_page, 1)
    row.hover()
    page.mouse.down()
    page.locator(".lens-rows").dispatch_event("scroll")
    page.mouse.up()
    assert chosen_name(page) == name


def test_chinese(open_page: OpenPage) -> None:
    page = open_page(locale="zh-CN")
    open_folder(page)
    wait_for_position(page, "共 15 组")
    control(page, "broken").click()
    expect(page.locator(".lens-broken li")).to_contain_text("缺少 NIR 图像。")


def test_rank_list(app: App, open_page: OpenPage) -> None:
    page = open_page()
    page.locator("[data-view=rank]").click()
    expect(page.locator(".lens-rank-empty h2")).to_have_text(re.compile("not indexed"))
    page.locator("[data-rank=index]").click()
    page.wait_for_selector(".lens-rank-columns[data-shown]")
    # An example is a stranger: nobody is right or wrong.
    assert page.locator("[data-verdict=unknown]").count() == 10
    expect(page.locator(".lens-rank-summary")).to_contain_text("not from this data set")

    open_folder(page)
    page.locator(".lens-row-name-only").first.click()
    page.wait_for_selector("[data-verdict=wrong]")
    records = {r.name: r.pid for r in open_dataset(app.data["people"]).listing("test").records}
    columns = page.locator(".lens-rank-column:not([data-verdict=query])")
    last = -1.0
    for column in columns.all():
        verdict, name = column.get_attribute("data-verdict"), column.locator(".lens-rank-name").last.inner_text()
        assert verdict == ("right" if records[name] == 0 else "wrong")
        assert column.locator(".lens-rank-verdict").inner_text() == ("✓" if verdict == "right" else "✗")
        distance = float(column.locator(".lens-rank-distance").get_attribute("data-distance") or "nan")
        assert distance >= last
        last = distance
    expect(page.locator(".lens-rank-summary")).to_contain_text("14 image sets searched. 1 left out")

    first = columns.first.locator(".lens-rank-pictures")
    plain = first.locator("canvas").first.evaluate("c => c.toDataURL()")
    first.click()
    expect(first).to_have_attribute("aria-pressed", "true")
    assert first.locator("canvas").first.evaluate("c => c.toDataURL()") != plain
    first.click()
    expect(first).to_have_attribute("aria-pressed", "false")
    assert first.locator("canvas").first.evaluate("c => c.toDataURL()") == plain

    name = columns.first.locator(".lens-rank-name").last.inner_text()
    columns.first.locator("[data-rank=open]").click()
    expect(page.locator("[data-verdict=query] .lens-rank-name").last).to_have_text(name)
    expect(page.locator(".lens-browse-facts b")).to_have_text(name)

    # Other settings than the features': said, and the sliders can be moved there.
    slider(page, "sparse_ratio").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".lens-rank-state")).to_contain_text("the current settings differ")
    page.locator("[data-rank=use]").click()
    wait_for_settings(page, sparse_ratio=0.5)
    expect(page.locator("[data-rank=use]")).to_be_hidden()
    choose_another_gallery_before_the_list_came(page)


def choose_another_gallery_before_the_list_came(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if not held and "rank.list" in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/component_server/", hold)
    page.locator("[data-rank=length]").select_option("20")
    expect(page.locator(".lens-rank-columns")).to_have_class(re.compile("lens-stale"))
    wide = page.locator("[data-rank=gallery] option", has_text="wide").first.get_attribute("value")
    page.locator("[data-rank=gallery]").select_option(wide)
    expect(page.locator(".lens-rank-empty h2")).to_have_text(re.compile("not indexed"))
    with page.expect_response(lambda answer: "rank.list" in (answer.request.post_data or "")) as late:
        held[0].continue_()
    late.value.finished()
    page.evaluate("() => fetch('health').then(() => new Promise(requestAnimationFrame))")  # it was looked at
    assert page.locator(".lens-rank-summary").inner_text() == "", "no list of the gallery before"


def test_compare_calls_a_record_by_its_name(open_page: OpenPage) -> None:
    page = open_page()
    open_folder(page)
    page.locator(".lens-row-name-only").first.click()
    name = chosen_name(page)
    page.locator("[data-view=compare]").click()
    page.locator("[data-compare=pin]").click()
    slider(page, "beta").fill("0.4")
    wait_for_settings(page, beta=0.4)
    expect(page.locator(".lens-compare")).to_contain_text(f"A {name} · ")
    expect(page.locator(".lens-compare")).to_contain_text(f"B {name} · ")
    assert "own images" not in page.locator(".lens-compare").inner_text()
