"""The document: compressed for who can read that, described in our own words, and no slider waits for compression."""

import re

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from sdtps.web.server.compression import Compression
from sdtps.web.server.document import DESCRIPTION, described
from sdtps.web.server.gate.routes import SERVER_FUNCTIONS
from tests.web.conftest import App

TAG = {"etag": '"x"'}
PAGE = "<html><head><meta charset='utf-8'></head><body>" + "patch " * 2000 + "</body></html>"


@pytest.fixture
def client() -> TestClient:
    async def numbers(_: Request) -> Response:
        return JSONResponse({"numbers": [1] * 2000})

    routes = [
        Route("/", lambda _: HTMLResponse(PAGE)),
        Route("/assets/a.js", lambda _: Response("let a;\n" * 500, media_type="text/javascript", headers=TAG)),
        Route("/assets/small.js", lambda _: PlainTextResponse("let a;", media_type="text/javascript")),
        Route("/assets/a.png", lambda _: Response(b"0" * 4000, media_type="image/png")),
        Route(SERVER_FUNCTIONS, numbers),
    ]  # fmt: skip
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Compression)]))


def test_the_document_and_scripts_are_compressed_once_for_all(client: TestClient) -> None:
    for path in ("/", "/assets/a.js", "/assets/a.js"):
        plain = client.get(path, headers={"accept-encoding": "identity"})
        packed = client.get(path, headers={"accept-encoding": "gzip, br"})
        assert packed.text == plain.text
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain.content) / 5
        assert "Accept-Encoding" in packed.headers["vary"]
        assert "Accept-Encoding" in plain.headers["vary"]
        assert "content-encoding" not in plain.headers
    assert packed.headers["etag"] == 'W/"x"'


def test_what_does_not_shrink_or_must_not_wait_is_left_as_it_is(client: TestClient) -> None:
    for path in ("/assets/small.js", "/assets/a.png", SERVER_FUNCTIONS):
        answer = client.get(path, headers={"accept-encoding": "gzip"})
        assert answer.status_code == 200
        assert "content-encoding" not in answer.headers, path


def test_the_description_is_our_own() -> None:
    foreign = '<meta property="og:title" content="Gradio" />\n<meta\n name="twitter:image"\n content="https://elsewhere/x.jpg"\n/>'
    page = described(f'<head><meta charset="utf-8" />{foreign}</head>'.encode(), "http://here/lens/").decode()
    assert "Gradio" not in page
    assert "elsewhere" not in page
    assert page.count(DESCRIPTION) == 2
    assert 'content="http://here/lens/preview.jpg"' in page


def test_the_page_is_served_so(app: App) -> None:
    with httpx.Client(base_url=app.url) as http:
        packed = http.get("/", headers={"accept-encoding": "gzip"})
        plain = http.get("/", headers={"accept-encoding": "identity"})
        assert packed.text.partition("<script")[0] == plain.text.partition("<script")[0]
        assert int(packed.headers["content-length"]) < len(plain.content) / 2
        assert "githubusercontent" not in plain.text
        assert re.search(r"<title>SDTPS Lens</title>", plain.text)
        picture = http.get("/preview.jpg")
        assert picture.headers["content-type"] == "image/jpeg"
        assert len(picture.content) < 200_000
