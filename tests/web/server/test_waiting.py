"""The page before the page."""

import httpx

from sdtps.web.server.address import check_port
from sdtps.web.server.waiting import Waiting
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
