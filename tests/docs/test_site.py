"""The site is built without a warning, from the documents alone, and asks no other host for anything."""

import functools
import json
import re
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sdtps.resources import PROJECT
from tests.harness import chromium

ASKS = re.compile(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=\"?(https?:)?//", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-W", "ignore", "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=240)
    return out


def test_no_page_asks_another_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 15
    assert [p.name for p in pages if ASKS.search(p.read_text(encoding="utf-8"))] == []
    assert [p.name for p in site.rglob("*.css") if re.search(r"url\(['\"]?(https?:)?//", p.read_text("utf-8"))] == []


def test_the_reference_comes_from_the_docstrings(site):
    text = (site / "api.html").read_text(encoding="utf-8")
    assert "From the tokens of your own model to every number" in text
    assert "aggr_ratio" in text


def test_search_knows_both_languages(site):
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    texts = " ".join(part["text"] for part in index["docs"])
    assert "sparse ratio" in texts
    assert "\u200b" in texts  # Chinese has no spaces: words are told apart by what cannot be seen
    assert "保留" in texts


@pytest.mark.browser
def test_a_reader_finds_words_of_both_languages(site):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, chromium() as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        for word, found in (("replicas", "Deployment"), ("保留比例", "指南"), ("忠实度", "指南")):
            page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
            field = page.locator("input.md-search__input")
            field.click()
            field.press_sequentially(word)
            field.press("End")  # searched on a key's release, of which Chinese characters have none here
            page.locator(".md-search-result__item h1", has_text=found).wait_for()
        server.shutdown()
