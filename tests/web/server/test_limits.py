"""Strangers at the door: closed routes, limits of size, rate and number, security headers, accounts."""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from sdtps.cli.main import main
from sdtps.support.errors import InputError
from sdtps.web.server import limits as guard
from sdtps.web.server.accounts import Hashed, account_line, read_accounts
from sdtps.web.server.headers import SecurityHeaders
from sdtps.web.server.limits import Crowd, Doors, RateLimit, SizeLimit
from tests.web.conftest import App, OpenPage

CALL = "/gradio_api/call/analyse"
PAGE = "<script>let a = 1;</script><script src='x.js'></script><script type='module'>\nlet b;\n</script>"


def client_of(*around: Middleware) -> TestClient:
    async def echo(request: Request) -> Response:
        return JSONResponse({"bytes": len(await request.body())})

    def full(_: Request) -> Response:
        return JSONResponse({"detail": "Queue is full. Max size is 32 and size is 32."}, 503)

    routes = [
        Route("/", lambda _: HTMLResponse(PAGE)),
        Route(CALL, full, methods=["POST"]),
        Route("/{path:path}", echo, methods=["GET", "POST"]),
    ]
    return TestClient(Starlette(routes=routes, middleware=list(around)))


@pytest.mark.parametrize(
    "address",
    [
        "/gradio_api/run/analyse",
        "/gradio_api/api/analyse",
        "/gradio_api/deep_link?session_hash=s",
        "/gradio_api/proxy=http://127.0.0.1/",
        "/gradio_api/process_recording",
        "/gradio_api/vibe-code",
        "/gradio_api/stream/x",
        "/monitoring",
    ],
)
def test_what_the_page_does_not_use_is_closed(app: App, address: str) -> None:
    for method in ("GET", "POST"):
        answer = httpx.request(method, app.url + address)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "request.closed")


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../etc/passwd", "app.py", "/proc/self/environ", "C:\\x"])
def test_files_outside_of_the_upload_folder_are_not_served(app: App, path: str) -> None:
    answer = httpx.get(f"{app.url}/gradio_api/file={path}")
    assert answer.status_code in (403, 404)
    assert "root:" not in answer.text
    assert "import" not in answer.text


@pytest.mark.parametrize("host", ["example.com", "127.0.0.1:1", "169.254.169.254", "[::1]:1"])
def test_no_address_is_fetched(app: App, host: str) -> None:
    direct = httpx.get(f"{app.url}/gradio_api/file=http://{host}/x.png")
    assert (direct.status_code, direct.json()["error"]["code"]) == (403, "api.address")
    named = {"path": f"http://{host}/x.png", "meta": {"_type": "gradio.FileData"}}
    event = httpx.post(f"{app.url}/gradio_api/call/v2/analyse", json={"rgb": named}).json()["event_id"]
    said = httpx.get(f"{app.url}{CALL}/{event}", timeout=60).text
    assert "event: error" in said
    assert "fetches no addresses" in said


def test_bodies_that_are_too_large_get_a_sentence(app: App) -> None:
    huge = httpx.post(f"{app.url}/gradio_api/upload", files={"files": b"x" * (25 * 2**20)}, timeout=60)
    assert huge.status_code == 413
    assert huge.json()["detail"] == "The request is larger than 24 MB, the most this server takes; send less."
    decide = httpx.post(f"{app.url}/gradio_api/component_server", content=b" " * (2**20 + 1))
    assert (decide.status_code, decide.json()["error"]["code"]) == (413, "request.too_big")


def test_a_body_without_a_declared_length_is_cut_off() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(17):
            yield b"x" * 2**16

    client = client_of(Middleware(SizeLimit, max_file=2**20))
    assert client.post("/x", content=pieces()).status_code == 413
    assert client.post("/x", content=b"short").json() == {"bytes": 5}
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    limits = {path: client.post(path, content=b"x" * (2**20 + 500), headers=form).status_code for path in
              ("/gradio_api/upload", "/gradio_api/component_server", "/login")}  # fmt: skip
    assert limits == {"/gradio_api/upload": 200, "/gradio_api/component_server": 200, "/login": 413}


def test_requests_per_minute_are_limited_by_address() -> None:
    now = [0.0]
    client = client_of(Middleware(RateLimit, per_minute=3, clock=lambda: now[0]))
    assert [client.get("/config").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = client.get("/config")
    assert refused.json()["detail"].startswith("Too many requests from this address; wait ")
    assert int(refused.headers["Retry-After"]) == 20 + 1
    assert client.get("/assets/x.js").status_code == client.get("/health").status_code == 200
    now[0] += 20
    assert [client.get("/config").status_code for _ in range(2)] == [200, 429]


def test_signing_in_is_limited_even_without_a_rate_limit_and_clients_are_forgotten(monkeypatch) -> None:
    client = client_of(Middleware(RateLimit, clock=lambda: 0.0))
    answers = [client.post("/login").status_code for _ in range(guard.LOGINS_PER_MINUTE + 1)]
    assert answers == [200] * guard.LOGINS_PER_MINUTE + [429]
    monkeypatch.setattr(guard, "MAX_CLIENTS", 5)
    limit = RateLimit(client.app, 1, clock=lambda: 0.0)
    for i in range(20):
        limit.check({"method": "GET", "client": (f"10.0.0.{i}", 1)}, "/config")
    assert len(limit._buckets) == 5


def test_a_crowd_and_a_full_queue_get_the_busy_sentence() -> None:
    client = client_of(Middleware(Crowd, most=0))
    for path in ("/gradio_api/component_server", CALL):
        answer = client.post(path)
        assert (answer.status_code, answer.json()["detail"]) == (503, "The server is busy; try again in a moment.")
    assert client.post("/login").status_code == 200


def test_other_methods_and_paths_behind_a_prefix() -> None:
    client = client_of(Middleware(Doors))
    assert client.request("DELETE", "/config").status_code == 404
    assert client.get("/gradio_api/info").status_code == 200
    behind = TestClient(client.app, root_path="/lens")
    assert behind.get("/lens/gradio_api/run/x").status_code == 404
    assert behind.get("/lens/gradio_api/info").status_code == 200


def test_headers_are_on_every_answer_and_scripts_are_allowed_by_hash(app: App) -> None:
    for address in ("/", "/config", "/gradio_api/file=/etc/passwd", "/monitoring", "/health"):
        headers = httpx.get(app.url + address).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Frame-Options"] == "SAMEORIGIN"
        scripts = next(r for r in headers["Content-Security-Policy"].split("; ") if r.startswith("script-src"))
        assert "unsafe-inline" not in scripts
        assert ("sha256-" in scripts) == (address == "/")


def test_only_named_origins_may_embed_the_page() -> None:
    client = client_of(Middleware(SecurityHeaders, embed_in=("https://example.org",)))
    headers = client.get("/").headers
    assert headers["Content-Security-Policy"].endswith("frame-ancestors 'self' https://example.org")
    assert "X-Frame-Options" not in headers
    for text in ("let a = 1;", "\nlet b;\n"):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in headers["Content-Security-Policy"]


def test_the_page_runs_under_its_policy_and_foreign_scripts_do_not(open_page: OpenPage) -> None:
    page = open_page("?example=day", allow="Content Security Policy")
    page.evaluate(
        """() => new Promise(failed => {
          document.body.insertAdjacentHTML('beforeend', '<img src="data:image/png,x" onerror="window.hacked = true">');
          document.body.lastChild.addEventListener('error', () => failed());
        })"""
    )
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (429, {"code": "server.rate", "values": {"seconds": 3}, "text": "wait"}, "请等待 3 秒后重试"),
        (413, {"code": "request.too_big", "values": {"limit": 24}, "text": "big"}, "请求大于 24 MB"),
        (401, None, "您已退出登录"),
    ],
)
def test_a_refusal_is_shown_in_the_readers_language(open_page: OpenPage, status: int, body: Any, sentence: str) -> None:
    page = open_page("?example=day", allow="Failed to load resource", locale="zh-CN")
    content = json.dumps({"error": body})
    page.route("**/component_server/**", lambda route: route.fulfill(status=status, body=content))
    page.locator("[data-setting=beta]").press("ArrowRight")
    page.wait_for_selector("[data-error=page]")
    assert sentence in page.locator("[data-error=page]").inner_text()


def test_accounts_know_right_from_wrong(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(
        "sys.stdin", type("Pipe", (), {"isatty": lambda _: False, "readline": lambda _: "sesame!!\n"})()
    )
    assert main(["password", "ada"]) == 0
    line = capsys.readouterr().out
    assert "sesame" not in line
    (tmp_path / "accounts").write_text(f"# people\n\n{line}{account_line('bob', 'other one')}\n")
    accounts = read_accounts(tmp_path / "accounts")
    assert accounts["ada"].matches("sesame!!")
    assert not accounts["ada"].matches("sesame!")
    assert not accounts["bob"].matches("sesame!!")
    assert str(Hashed.make("same")) != str(Hashed.make("same")), "each has its own salt"


@pytest.mark.parametrize("text", ["", "# nobody", "ada:secret", "ada", "ada:md5$1$1$1$eA==$eA=="])
def test_a_file_of_accounts_that_cannot_be_used_says_so(tmp_path, text: str) -> None:
    (tmp_path / "accounts").write_text(text)
    with pytest.raises(InputError, match="python -m sdtps password NAME"):
        read_accounts(tmp_path / "accounts")


@pytest.mark.parametrize(("name", "password"), [("a:b", "long enough"), ("", "long enough"), ("ada", "short")])
def test_names_and_passwords_that_cannot_be_used(name: str, password: str) -> None:
    with pytest.raises(ValueError, match="choose another"):
        account_line(name, password)
