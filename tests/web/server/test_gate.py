"""The layers of the gate, each by itself: names, origins, bodies, failures, cookies, addresses, the log, signing in."""

import asyncio
import errno
import json
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from sdtps.web.server.access_log import LineFormatter
from sdtps.web.server.accounts import TRIES_PER_MINUTE, Hashed, signing_in
from sdtps.web.server.gate.aliases import ALIAS, Aliases
from sdtps.web.server.gate.bodies import SizeLimit
from sdtps.web.server.gate.cookies import Cookies
from sdtps.web.server.gate.identity import address_of
from sdtps.web.server.gate.layers import GateOptions, gate
from sdtps.web.server.gate.routes import OTHER, route_name
from sdtps.web.server.limits import StreamLimit
from sdtps.web.session.visitor import Visitor, answering
from tests.harness import finished

FUNCTIONS = "/gradio_api/component_server/"
OWN = "http://127.0.0.1:7860"


def client_of(url: str = OWN, **options: Any) -> TestClient:
    async def echo(request: Request) -> Response:
        return JSONResponse({"bytes": len(await request.body())}, headers={"Access-Control-Allow-Origin": "*"})

    def fails(request: Request) -> Response:
        kinds = {"key": KeyError, "bug": RuntimeError, "disk": OSError}
        arguments = (errno.ENOSPC, "/secret") if request.query_params["kind"] == "disk" else ("/secret",)
        raise kinds[request.query_params["kind"]](*arguments)

    def bare(request: Request) -> Response:
        return PlainTextResponse("/secret", int(request.query_params["status"]))

    routes = [
        Route("/gradio_api/cancel", fails, methods=["POST"]),
        Route("/gradio_api/reset", bare, methods=["POST"]),
        Route("/{path:path}", echo, methods=["GET", "POST", "OPTIONS"]),
    ]
    app = gate(Starlette(routes=routes), GateOptions(**options))
    return TestClient(app, base_url=url, raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("bound", "names", "host", "status"),
    [
        ("127.0.0.1", (), "localhost:7860", 200),
        ("127.0.0.1", (), "127.0.0.1", 200),
        ("127.0.0.1", (), "[::1]:7860", 200),
        ("127.0.0.1", (), "evil.example", 421),
        ("127.0.0.1", (), "192.0.2.7", 421),
        ("127.0.0.1", (), "localhost.evil.example", 421),
        ("127.0.0.1", (), "", 421),
        ("127.0.0.1", ("lens.example.org",), "lens.example.org", 200),
        ("0.0.0.0", (), "192.0.2.7:7860", 200),
        ("0.0.0.0", (), "evil.example", 421),
        ("0.0.0.0", (".gradio.live",), "abc.gradio.live", 200),
        ("0.0.0.0", (".gradio.live",), "gradio.live.evil.example", 421),
    ],
)
def test_only_known_names_are_answered(bound, names, host, status) -> None:
    answer = client_of(host=bound, names=names).get("/config", headers={"Host": host})
    assert answer.status_code == status
    assert status == 200 or answer.json()["error"]["code"] == "request.host"


@pytest.mark.parametrize(
    ("origin", "names", "status"),
    [
        (OWN, (), 200),
        ("http://127.0.0.1:3000", (), 403),
        ("http://localhost:7860", (), 403),
        ("https://evil.example", (), 403),
        ("null", (), 403),
        ("http://[", (), 403),
        ("https://lens.example.org", ("lens.example.org",), 200),
        ("https://lens.example.org.evil.example", ("lens.example.org",), 403),
    ],
)
def test_only_own_pages_may_ask(origin, names, status) -> None:
    client = client_of(names=names)
    for method in ("GET", "POST", "OPTIONS"):
        answer = client.request(method, "/config", headers={"Origin": origin})
        assert answer.status_code == status
        assert "access-control-allow-origin" not in answer.headers


def test_a_proxy_that_ends_tls_changes_the_scheme_and_not_the_name() -> None:
    client = client_of("http://lens.example.org", names=("lens.example.org",))
    assert client.post(FUNCTIONS, json={}, headers={"Origin": "https://lens.example.org"}).status_code == 200


def test_links_from_other_sites_open_the_page_and_their_pictures_and_forms_do_not() -> None:
    client = client_of()
    foreign = {"Sec-Fetch-Site": "cross-site"}
    assert client.get("/", headers=foreign | {"Sec-Fetch-Mode": "navigate"}).status_code == 200
    assert client.get("/config", headers=foreign | {"Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert client.post(FUNCTIONS, headers=foreign | {"Sec-Fetch-Mode": "navigate"}).status_code == 403
    assert client.post(FUNCTIONS, content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415


def test_shapes_that_cost_more_than_they_weigh_are_refused_while_they_arrive() -> None:
    client, json_type = client_of(), {"Content-Type": "application/json"}
    brackets = client.post("/gradio_api/call/analyse", content=b"[]," * 20_000, headers=json_type)
    assert (brackets.status_code, brackets.json()["error"]["code"]) == (413, "request.structure")
    text = json.dumps({"data": ["data:image/png;base64," + "A" * 300_000] * 3}).encode()
    assert client.post("/gradio_api/call/analyse", content=text, headers=json_type).json() == {"bytes": len(text)}
    parts = client.post(FUNCTIONS, files=[("file", (f"{i}", b"x")) for i in range(17)])
    assert (parts.status_code, parts.json()["error"]["code"]) == (413, "request.parts")
    assert client.post(FUNCTIONS, data={"slot": "rgb"}, files={"file": b"x" * 700_000}).status_code == 200


@pytest.mark.parametrize(
    "kind",
    [
        "multipart/form-data; boundary=other; boundary=edge",
        "multipart/form-data; boundary=edge; boundary=other",
        "Multipart/Form-Data; Boundary=edge",
        "multipart/form-data; boundary=other; charset=x; BOUNDARY=edge",
        "multipart/form-data; boundary=edge; charset=punycode",
    ],
)
def test_a_form_is_counted_by_the_boundary_it_is_read_with(kind) -> None:
    part = b"--edge\r\nContent-Disposition: form-data; name=file; filename=x\r\n\r\n\r\n"
    read = []

    async def form(request: Request) -> Response:
        read.append(request.headers["content-type"])
        return JSONResponse({"parts": len(await request.form())})

    app = gate(Starlette(routes=[Route(FUNCTIONS, form, methods=["POST"])]), GateOptions())
    client = TestClient(app, base_url=OWN, raise_server_exceptions=False)
    for count in (2, 999):
        answer = client.post(FUNCTIONS, content=part * count + b"--edge--", headers={"Content-Type": kind})
        assert answer.json().get("parts", 0) <= 2
    assert set(read) <= {'multipart/form-data; boundary="edge"', 'multipart/form-data; boundary="other"'}


class Sender:
    """Sends a body piece by piece, and then hangs, hangs up or ends."""

    def __init__(self, *pieces: bytes, then: str) -> None:
        self.pieces, self.then = list(pieces), then
        self.said: list[Any] = []

    async def receive(self) -> Any:
        if self.pieces:
            return {"type": "http.request", "body": self.pieces.pop(0), "more_body": True}
        if self.then == "hangs":
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, event: Any) -> None:
        self.said.append(event)

    def to(self, app: Any) -> list[Any]:
        scope = {"type": "http", "method": "POST", "path": FUNCTIONS, "headers": [], "query_string": b""}
        finished(app(scope, self.receive, self.send))
        return self.said


def test_a_sender_who_hangs_gets_a_sentence_and_one_who_hangs_up_leaves_nothing(tmp_path) -> None:
    reached: list[str] = []

    async def inner(*_: Any) -> None:
        reached.append("the application")

    limit = SizeLimit(inner, 2**20, tmp_path, pause=0.02)
    start = Sender(b"x" * 400_000, then="hangs").to(limit)[0]
    assert start["status"] == 408
    assert Sender(b"x" * 400_000, then="hangs up").to(limit) == []
    assert (reached, list(tmp_path.iterdir()), limit.arrivals.held) == ([], [], {})


def test_who_hangs_makes_room_for_who_asks(tmp_path) -> None:
    said: list[int] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await JSONResponse({})(scope, receive, send)

    async def send(app: Any, first: int, *, ends: bool) -> None:
        started = False

        async def receive() -> Any:
            nonlocal started
            if started:
                await asyncio.Event().wait()
            started = True
            return {"type": "http.request", "body": b"x" * first, "more_body": not ends}

        async def answered(event: Any) -> None:
            if event["type"] == "http.response.start":
                said.append(event["status"])

        await app(
            {"type": "http", "method": "POST", "path": FUNCTIONS, "headers": [], "query_string": b""}, receive, answered
        )

    async def crowd() -> None:
        limit = SizeLimit(inner, 2**20, tmp_path)
        limit.arrivals.most = 1_000_000  # half of it for one address
        hanging = [asyncio.create_task(send(limit, 240_000, ends=False)) for _ in range(2)]
        await asyncio.sleep(0.05)
        await asyncio.wait_for(send(limit, 100_000, ends=True), 5)
        await asyncio.wait(hanging, return_when=asyncio.FIRST_COMPLETED, timeout=5)
        assert [task.done() for task in hanging] == [True, False]
        hanging[1].cancel()

    finished(crowd())
    assert sorted(said) == [200, 408]


def test_a_body_must_keep_its_pace_at_any_moment(tmp_path) -> None:
    async def inner(*_: Any) -> None:
        raise AssertionError("nothing arrived")

    class Trickle(Sender):
        async def receive(self) -> Any:
            await asyncio.sleep(0.01)
            return {"type": "http.request", "body": b"x", "more_body": True}

    assert Trickle(then="").to(SizeLimit(inner, 2**20, tmp_path, pause=5, base=0.1))[0]["status"] == 408


def test_a_full_disk_is_said_in_so_many_words(tmp_path, monkeypatch) -> None:
    class Full(tempfile.SpooledTemporaryFile):  # type: ignore[type-arg]
        def write(self, _: bytes) -> int:
            raise OSError(errno.ENOSPC, "/secret")

    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", Full)
    answer = client_of(folder=tmp_path).post(FUNCTIONS, json={})
    assert (answer.status_code, answer.json()["error"]["code"]) == (507, "disk.full")


@pytest.mark.parametrize(
    ("address", "status", "code"),
    [
        ("/gradio_api/cancel?kind=key", 400, "request.malformed"),
        ("/gradio_api/cancel?kind=bug", 500, "server.failed"),
        ("/gradio_api/cancel?kind=disk", 507, "disk.full"),
        ("/gradio_api/reset?status=403", 403, "request.forbidden"),
        ("/gradio_api/reset?status=422", 422, "request.malformed"),
        ("/gradio_api/reset?status=500", 500, "server.failed"),
        ("/gradio_api/call/nothing", 404, "request.function"),
        ("/gradio_api/run/x", 404, "request.closed"),
        ("/gradio_api/upload_progress?upload_id=x", 404, "request.closed"),
        ("/gradio_api/queue/other", 404, "request.closed"),
    ],
)
def test_every_failure_has_its_sentence(address, status, code, caplog) -> None:
    caplog.set_level(logging.CRITICAL)
    answer = client_of().post(address)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["detail"].endswith(".")
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("url", "embedded", "expected"),
    [
        ("http://x", False, ["access-token-unsecure-1=t; HttpOnly; Max-Age=43200; Path=/; SameSite=Lax"]),
        ("https://x", False, ["access-token-1=t; HttpOnly; Max-Age=43200; Path=/; SameSite=Lax; Secure"]),
        ("https://x", True, ["access-token-1=t; HttpOnly; Max-Age=43200; Path=/; SameSite=None; Secure"]),
    ],
)
def test_cookies_are_for_this_site_this_scheme_and_a_limited_time(url, embedded, expected) -> None:
    def sign_in(_: Request) -> Response:
        answer = PlainTextResponse("")
        answer.set_cookie("access-token-1", "t", httponly=True, samesite="none", secure=True)
        answer.set_cookie("access-token-unsecure-1", "t", httponly=True)
        return answer

    client = TestClient(Cookies(Starlette(routes=[Route("/", sign_in)]), embedded), base_url=url)
    assert client.get("/").headers.get_list("set-cookie") == expected


def test_cookies_of_others_are_not_even_read() -> None:
    app = Cookies(Starlette(routes=[Route("/", lambda request: JSONResponse(request.cookies))]))
    sent = f'{"x" * 9}="{chr(92) * 30_000}"; access-token-1=t; access-token-2="t"; a=b'  # which takes seconds to read
    started = time.process_time()
    assert TestClient(app).get("/", headers={"Cookie": sent}).json() == {"access-token-1": "t"}
    assert time.process_time() - started < 0.5


def test_who_leaves_is_known_by_the_plain_copy_and_both_are_taken_back() -> None:
    def leave(request: Request) -> Response:
        answer = JSONResponse(request.cookies)
        answer.delete_cookie("access-token-1")
        answer.delete_cookie("access-token-unsecure-1")
        return answer

    routes = [Route(path, leave) for path in ("/logout", "/token")]
    client = TestClient(Cookies(Starlette(routes=routes)), headers={"Cookie": "access-token-unsecure-1=t"})
    answer = client.get("/logout")
    assert answer.json() == {"access-token-1": "t"}
    taken = [cookie.partition("=")[0] for cookie in answer.headers.get_list("set-cookie")]
    assert taken == ["access-token-1", "access-token-unsecure-1"]
    assert client.get("/token").json() == {"access-token-unsecure-1": "t"}, "no route tells it to scripts"


def test_addresses_of_one_network_are_one_visitor() -> None:
    assert address_of(("2001:db8:1:2:3:4:5:6", 1)) == address_of(("2001:db8:1:2::9", 2)) == "2001:db8:1:2::/64"
    assert address_of(("2001:db8:1:3::9", 2)) != "2001:db8:1:2::/64"
    assert address_of(("::ffff:192.0.2.7", 1)) == address_of(("192.0.2.7", 1)) == "192.0.2.7"
    assert address_of(None) == "unknown"


def test_streams_are_counted_by_address() -> None:
    limit = StreamLimit(client_of().app, most=2)
    scope = {"type": "http", "method": "GET", "client": ("192.0.2.7", 1)}
    limit.open["192.0.2.7"] = 2
    for path in ("/gradio_api/heartbeat/x", "/gradio_api/mcp/sse"):
        assert limit.check(scope, path).status_code == 429
    assert limit.check(scope | {"client": ("192.0.2.8", 1)}, "/gradio_api/heartbeat/x") is None
    assert limit.check(scope, "/config") is None
    limit.open.update({f"198.51.100.{i}": 1 for i in range(limit.total)})
    full = limit.check(scope | {"client": ("192.0.2.8", 1)}, "/gradio_api/heartbeat/x")
    assert full.status_code == 503, "the rest of the connections is for those who ask"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "/"),
        ("/health", "/health"),
        ("/gradio_api/queue/join", "/gradio_api/queue/join"),
        ("/gradio_api/queue/x\nforged", OTHER),
        ("/gradio_api/call/v2/analyse", "/gradio_api/call/analyse"),
        ("/gradio_api/call/analyse/3f0a", "/gradio_api/call/analyse"),
        ("/gradio_api/call/\x1b[31m", "/gradio_api/call"),
        ("/gradio_api/file=/secret/place", "/gradio_api/file="),
        ("/gradio_api/component_server/", "/gradio_api/component_server"),
        ("/secret", OTHER),
        ("/x" * 30_000, OTHER),
    ],
)
def test_the_log_knows_routes_and_nothing_else(path, name) -> None:
    assert route_name(path) == name


def test_a_record_is_one_line_whatever_is_in_it() -> None:
    record = logging.LogRecord("sdtps.x", logging.INFO, "", 0, "two\nlines \x1b[31m", (), None)
    record.facts = {"a": "b\nforged"}
    assert "\n" not in LineFormatter("text").format(record)
    assert "\x1b" not in LineFormatter("text").format(record)
    assert "\n" not in LineFormatter("json").format(record)


def test_a_name_rests_when_it_was_tried_too_often_but_its_owner_gets_in(monkeypatch) -> None:
    monkeypatch.setattr(Hashed, "matches", lambda _, password: password == "right")
    now = [0.0]
    check = signing_in({"ada": Hashed(1, 1, 1, b"", b"")}, clock=lambda: now[0])

    def tried(password: str, address: str) -> bool:
        with answering(Visitor(address)):
            return finished(check("ada", password))

    assert tried("right", "192.0.2.1")
    for i in range(TRIES_PER_MINUTE):
        assert not tried("wrong", f"198.51.100.{i}")
    with pytest.raises(HTTPException) as refused:
        tried("right", "198.51.100.99")
    assert refused.value.status_code == 429
    assert tried("right", "192.0.2.1")
    now[0] += 61
    assert tried("right", "198.51.100.99")


def test_visitors_never_see_where_temporary_files_are() -> None:
    folder = Path("/somewhere/of/mine")

    async def echo(request: Request) -> Response:
        seen = {"path": request.url.path, "body": (await request.body()).decode()}
        return JSONResponse(seen | {"made": f"{folder}/ab/figure.pdf"})

    client = TestClient(Aliases(Starlette(routes=[Route("/{path:path}", echo, methods=["GET", "POST"])]), folder))
    answer = client.get(f"/gradio_api/file={ALIAS}/ab/figure.pdf")
    assert answer.json()["made"] == f"{ALIAS}/ab/figure.pdf"
    assert str(folder) not in answer.text
    sent = client.post("/gradio_api/call/analyse", json={"path": f"{ALIAS}/ab/x.png"})
    assert str(folder) not in sent.text
    whole: Any = client.app
    inner = Aliases(whole.app, None)
    assert f"{folder}/ab" in TestClient(inner).get("/").text
