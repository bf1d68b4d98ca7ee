"""The server as a process: signing in, the log, a taken port, a clean end."""

import json
import re
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sdtps.cli import page as program
from sdtps.cli import page_options
from sdtps.web.server import run as server
from sdtps.web.server.accounts import account_line
from sdtps.web.server.address import check_port
from tests.attack import connections, requests, signing
from tests.attack.target import Target
from tests.harness import Running, running_app
from tests.visitor import Refused, Visitor
from tests.web.conftest import App

EXAMPLE = {m: {"example": "day"} for m in ("rgb", "nir", "tir")}
PASSWORD = "correct horse"


def started(app: App, *more: str, descriptors: int | None = None):
    given = ("--weights", str(app.weights), "--examples", str(app.examples), "--device", "cpu", *more)
    return running_app(*given, descriptors=descriptors)


@pytest.fixture(scope="module")
def strict(app: App, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    accounts = tmp_path_factory.mktemp("auth") / "accounts"
    accounts.write_text(account_line("ada", PASSWORD))
    with started(app, "--auth", str(accounts), "--log-format", "json") as found:
        yield found


@pytest.fixture(scope="module")
def narrow(app: App) -> Iterator[Running]:
    with started(app, descriptors=1024) as found:
        yield found


def sign_in(visitor: Visitor, password: str = PASSWORD) -> int:
    return visitor.http.post("/login", data={"username": "ada", "password": password}).status_code


def signed_in(url: str) -> Visitor:
    visitor = Visitor.__new__(Visitor)
    visitor.session, visitor.http = "session-of-ada", httpx.Client(base_url=url, timeout=60)
    assert sign_in(visitor) == 200
    # Browsers send a cookie marked Secure to localhost; this client does not, and the other one is enough.
    visitor.component, visitor.event = visitor._look()
    return visitor


def test_without_signing_in_there_is_nothing_but_health(strict: Running) -> None:
    assert httpx.get(f"{strict.url}/health").json()["status"] == "ok"
    for address in ("/config", "/gradio_api/info", "/gradio_api/file=x", "/gradio_api/queue/data?session_hash=s"):
        assert httpx.get(strict.url + address).status_code == 401
    for address in ("/gradio_api/component_server", "/gradio_api/upload", "/gradio_api/queue/join"):
        assert httpx.post(strict.url + address, json={"data": []}).status_code == 401
    assert "lens_config" not in httpx.get(strict.url).text
    with httpx.Client(base_url=strict.url) as wrong:
        assert wrong.post("/login", data={"username": "ada", "password": "wrong horse"}).status_code == 400
        assert wrong.post("/login", data={"username": "eve", "password": PASSWORD}).status_code == 400
        assert wrong.get("/config").status_code == 401


def test_the_log_has_a_line_for_each_request_and_analysis_and_no_names(strict: Running, app: App) -> None:
    with signed_in(strict.url) as visitor:
        picture = Path(app.files("day")[0]).read_bytes()
        token = visitor.stage("rgb", picture)["pictures"]["rgb"]["token"]
        key = visitor.analyse({"rgb": {"token": token}})["key"]
        assert "error" in visitor.decide("no such key", {})
        visitor.decide(key, {"beta": 0.1})
        visitor.stage("rgb", b"not a picture")
        visitor.http.get("/gradio_api/file=/secret/place.png")
        injected = {"path": "/secret/place.png", "meta": {"_type": "gradio.FileData"}}
        with pytest.raises(RuntimeError):
            visitor.analyse({"rgb": injected})
    text = strict.log.read_text()
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert len(lines) == len(text.splitlines()), "nothing but JSON"
    by_task = {(line.get("task"), line.get("outcome")): line for line in lines}
    expected = {("stage", "ok"), ("stage", "input.not_image"), ("analyse", "ok"), ("decide", "ok")}
    assert expected | {("decide", "session.expired")} <= set(by_task)
    staged, analysed = by_task["stage", "ok"], by_task["analyse", "ok"]
    assert staged["session"] == analysed["session"]
    assert len(picture) < staged["received"] < len(picture) + 2000
    assert min(staged["ms"], analysed["ms"], staged["sent"]) > 0
    for secret in ("session-of-ada", "secret", "place", "x.png", PASSWORD, str(app.examples), "Traceback"):
        assert secret not in text


def test_listeners_leave_room_for_questions_where_descriptors_are_few(narrow: Running) -> None:
    assert connections.listeners(Target.of(narrow)) is None
    assert "Traceback" not in narrow.log.read_text()


def test_a_signal_ends_the_server_while_it_works(narrow: Running) -> None:
    """The last to use this server."""
    found = narrow
    with Visitor(found.url) as visitor:
        key = visitor.analyse(EXAMPLE)["key"]
        job = visitor.ask("export.supplement", key=key, settings={})
        assert "job" in job
        heartbeat = threading.Thread(target=_listen, args=(found.url,), daemon=True)
        heartbeat.start()
        assert "result" not in visitor.ask("job.poll", job=job["job"])
        found.process.send_signal(signal.SIGTERM)
        assert found.process.wait(20) == 0
        assert re.search(r"info stopping\n.*info stopped\n$", found.log.read_text(), re.DOTALL)


def _listen(url: str) -> None:
    with httpx.Client(timeout=None) as client, client.stream("GET", f"{url}/gradio_api/heartbeat/x") as stream:
        for _ in stream.iter_lines():
            pass


def test_a_taken_port_is_one_sentence_before_anything_is_loaded(monkeypatch) -> None:
    monkeypatch.setattr(program, "open_backend", lambda *_: pytest.fail("weights were loaded first"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = (
            rf"^Port {port} on 127\.0\.0\.1 is taken by another program; choose another port with --port, such as"
        )
        with pytest.raises(SystemExit, match=sentence):
            program.main(["--port", str(port)])


@pytest.mark.parametrize(("host", "port"), [("no.such.host.invalid", 7860), ("127.0.0.1", 99_999)])
def test_other_addresses_that_cannot_be_used(host: str, port: int) -> None:
    with pytest.raises(SystemExit, match=rf"^Port {port} on {host} cannot be used; check --host"):
        check_port(host, port)


def test_options_and_their_defaults(monkeypatch, capsys) -> None:
    options = page_options.parse_arguments([])
    assert (options.share, options.auth, options.embed_in, options.rate_limit) == (False, None, [], 0)
    assert (options.host_name, options.proxy) == ([], [])
    named = page_options.parse_arguments(["--host-name", "Lens.Example.org", "--proxy", "10.0.0.0/8", "--proxy", "::1"])
    assert (named.host_name, named.proxy) == (["lens.example.org"], ["10.0.0.0/8", "::1"])
    for refused in (["--host-name", "https://a.org"], ["--proxy", "somebody"]):
        with pytest.raises(SystemExit):
            page_options.parse_arguments(refused)
    monkeypatch.setenv("SDTPS_EMBED_IN", "https://a.org,https://b.org")
    monkeypatch.setenv("SDTPS_RATE_LIMIT", "600")
    monkeypatch.setenv("SDTPS_LOG_FORMAT", "json")
    options = page_options.parse_arguments([])
    assert (options.embed_in, options.rate_limit, options.log_format) == (
        ["https://a.org", "https://b.org"],
        600,
        "json",
    )
    monkeypatch.delenv("SDTPS_EMBED_IN")
    monkeypatch.setenv("SPACE_ID", "someone/lens")
    assert page_options.parse_arguments([]).embed_in == ["https://huggingface.co"]
    for wrong in ("example.org", "https://a.org/path", "https://a.org; script-src *"):
        with pytest.raises(SystemExit):
            page_options.parse_arguments(["--embed-in", wrong])
    assert "is not an origin such as https://example.org" in capsys.readouterr().err


def test_an_accounts_file_that_is_not_there_ends_in_one_sentence(tmp_path) -> None:
    with pytest.raises(SystemExit, match=r"^--auth: "):
        server._gate(str(tmp_path / "nowhere"))


def test_a_refusal_has_its_status_and_code(app: App) -> None:
    with Visitor(app.url) as visitor, pytest.raises(Refused, match="larger than 1 MB") as refused:
        visitor.ask("x" * 2**21)
    assert (refused.value.status, refused.value.code) == (413, "request.too_big")


def test_who_leaves_over_plain_http_has_left(strict: Running) -> None:
    assert signing.left_token(Target(strict.url), {"username": "ada", "password": PASSWORD}) is None


def test_a_stranger_at_a_server_that_asks_for_a_password(strict: Running) -> None:
    """The last of this file: it uses up the tries of this address."""
    with httpx.Client(base_url=strict.url) as client:
        answer = client.post("/login", data={"username": "ada", "password": PASSWORD})
        assert signing.loose_cookies(answer) is None
    target = Target.of(strict)
    assert requests.forged_log(target) is None
    assert signing.forwarded_addresses(target) is None
    text = strict.log.read_text()
    assert [line for line in text.splitlines() if not isinstance(json.loads(line), dict)] == []
