"""The page before the page."""

import contextlib
import socket
import threading
import time

import httpx

from sdtps.web.server.address import check_port
from sdtps.web.server.waiting import MOST, Waiting
from tests.harness import free_port


def test_everything_is_answered_with_come_back_later_until_the_port_is_given_up() -> None:
    port = free_port()
    with Waiting("127.0.0.1", port) as waiting, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        health = client.get("/health")
        assert (health.status_code, health.json()) == (503, {"status": "starting", "doing": "packages"})
        assert health.headers["Retry-After"] == "2"
        waiting.doing = "weights"
        assert client.get("/health?x=1").json()["doing"] == "weights"
        page = client.get("/?sparse_ratio=0.3")
        assert (page.status_code, page.headers["Content-Type"]) == (503, "text/html; charset=utf-8")
        assert "<title>SDTPS Lens</title>" in page.text
        assert all(word in page.text for word in ("Reading the weights", "正在读取权重"))
        assert client.post("/gradio_api/queue/join", json={}).status_code == 503
        assert (client.head("/").status_code, client.head("/").content) == (503, b"")
    waiting.close()  # twice does no harm
    check_port("127.0.0.1", port)  # raises SystemExit while it is taken


def test_it_listens_where_the_page_will(monkeypatch) -> None:
    port = free_port()
    with Waiting("localhost", port):
        assert httpx.get(f"http://localhost:{port}/health").status_code == 503


def test_a_crowd_takes_few_places_and_no_question_waits_for_it(monkeypatch) -> None:
    monkeypatch.setattr("sdtps.web.server.waiting.SECONDS", 600)  # so that nobody goes by himself
    port = free_port()
    with Waiting("127.0.0.1", port), contextlib.ExitStack() as crowd:
        silent = [
            crowd.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)) for _ in range(MOST + 20)
        ]
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 503
        assert silent[0].recv(1) == b"", "the oldest made room"
        while sum("process_request_thread" in t.name for t in threading.enumerate()) > MOST:
            time.sleep(0.02)  # ends with the test's own time limit if they stay
