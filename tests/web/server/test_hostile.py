"""Hostile files over HTTP and in a real browser: the sentence that Python has, and the next good one works."""

import base64
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from sdtps.images.read import read_picture
from tests.hostile.cases import GOOD, Case
from tests.hostile.ends import complaint, end_of
from tests.hostile.pictures import PICTURES, REFUSED, saved
from tests.web.conftest import App, OpenPage
from tests.web.helpers import upload, wait_for_preview
from tests.web.server.test_api import call

SHOWN = ("text.png", "drawing.svg", "moving.webp", "nan.tif", "cut.jpg", "four-gigapixels.png", "one-pixel.png")
NAMES = ("<img src=x onerror=alert(1)>.png", '"><script>alert(1)</script>.png', "\u202egnp.exe.png", "x" * 200 + ".png")


def wrong_answer(app: App, case: Case) -> str | None:
    """What differs between the answer of the API and what Python says."""
    content = case.make()
    end, sentence = end_of(lambda: read_picture(content))
    kind, data = call(app, "analyse", rgb="data:image/png;base64," + base64.b64encode(content).decode())
    if end == GOOD:
        right = kind == "complete" and data[0]["grid"] == {"rows": 16, "cols": 8}
    elif case.name == "empty.png":
        right = data["error"] == "All three images are missing; give at least one."
    else:
        right = kind == "error" and data["error"] in (f"RGB: {sentence}", sentence) and not complaint(data["error"])
    return None if right else f"{case.name}: {kind} {str(data)[:200]}"


def test_every_picture_by_the_api(app: App) -> None:
    cases = [c for c in PICTURES if not c.name.startswith("forty")]
    with ThreadPoolExecutor(4) as senders:  # most of an answer's time is the queue's
        answers = senders.map(lambda case: wrong_answer(app, case), cases)
        assert [wrong for wrong in answers if wrong] == []
    assert httpx.get(f"{app.url}/health").json()["status"] == "ok"
    assert call(app, "analyse", rgb=base64.b64encode(saved("PNG")()).decode())[0] == "complete"


@pytest.mark.parametrize("text", ["é", "=" * 9, "data:image/png;base64,\u202e", "\0", "a"])
def test_text_that_is_no_base64(app: App, text: str) -> None:
    kind, data = call(app, "analyse", nir=text)
    assert kind == "error"
    assert complaint(data["error"]) is None


def test_a_sample_on_the_page(app: App, open_page: OpenPage, tmp_path: Path) -> None:
    cases = {case.name: case for case in REFUSED}
    page = open_page()
    for name in SHOWN:
        content = cases[name].make()
        sentence = end_of(lambda content=content: read_picture(content))[1]
        file = tmp_path / name
        file.write_bytes(content)
        upload(page, "rgb", str(file))
        page.wait_for_function(
            "text => document.querySelector('[data-error=rgb]')?.textContent.includes(text)", arg=sentence
        )
    for name in NAMES:
        file = tmp_path / name.replace("/", "_")
        file.write_bytes(b"hello")
        upload(page, "nir", str(file))
        page.locator("[data-error=nir]").wait_for()
    assert page.evaluate("document.querySelectorAll('img[onerror], img[src=x]').length") == 0
    good = tmp_path / "good.png"
    good.write_bytes(saved("PNG")())
    upload(page, "rgb", str(good))
    wait_for_preview(page, "rgb")
    assert page.locator("[data-error=rgb]").is_hidden()
