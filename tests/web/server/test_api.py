"""The public API: five named endpoints, the same limits and sentences as the page, and no path of the server."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from PIL import Image

from sdtps.cli import page as program
from sdtps.export.bundle import read_bundle
from tests.harness import free_port, serving_app
from tests.web.conftest import App


@pytest.fixture(scope="module")
def client(app: App) -> Client:
    return Client(app.url, verbose=False)


def encoded(path: str) -> str:
    return base64.b64encode(Path(path).read_bytes()).decode()


def call(app: App, name: str, **values: Any) -> tuple[str, Any]:
    """What curl does: post by name, then read the event."""
    event = httpx.post(f"{app.url}/gradio_api/call/v2/{name}", json=values, timeout=60).json()["event_id"]
    text = httpx.get(f"{app.url}/gradio_api/call/{name}/{event}", timeout=120).text
    kind, data = text.strip().split("\n")[-2:]
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_only_the_named_endpoints_are_public(app: App) -> None:
    info = httpx.get(f"{app.url}/gradio_api/info").json()
    assert set(info["named_endpoints"]) == {"/analyse", "/figure", "/bundle", "/weights", "/health"}
    assert info["unnamed_endpoints"] == {}
    names = [p["parameter_name"] for p in info["named_endpoints"]["/analyse"]["parameters"]]
    assert names[:5] == ["rgb", "nir", "tir", "sparse_ratio", "aggr_ratio"]
    assert all(p["type"] for p in info["named_endpoints"]["/figure"]["parameters"])


def test_health_by_a_plain_get(app: App) -> None:
    answer = httpx.get(f"{app.url}/health")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert len(answer.json()["weights"]) >= 3


def test_weights_are_listed_with_their_report(app: App, client: Client, model) -> None:
    listed = client.predict(api_name="/weights")
    assert listed[0]["name"] == app.weights.name
    assert listed[0]["sha256"] == model.weights.sha256
    assert [w["complete"] for w in listed[:3]] == [True, False, True]


def test_figure_arrives_as_a_file(app: App, client: Client) -> None:
    pictures = map(handle_file, app.files("day"))
    path = client.predict(*pictures, format="pdf", columns=["input", "kept"], api_name="/figure")
    assert Path(path).read_bytes().startswith(b"%PDF")


def test_bundle_arrives_as_a_file(app: App, client: Client) -> None:
    path = client.predict(rgb=encoded(app.files("day")[0]), api_name="/bundle")
    bundle = read_bundle(path)
    assert bundle.analysis["tir"].missing
    assert bundle.manifest["sources"] == {}


def test_settings_are_clamped_as_on_the_page(app: App) -> None:
    kind, data = call(app, "analyse", rgb=encoded(app.files("day")[0]), beta=7, sparse_ratio=-1)
    assert kind == "complete"
    assert (data[0]["settings"]["beta"], data[0]["settings"]["sparse_ratio"]) == (0.5, 0.05)


def big_png() -> str:
    stream = io.BytesIO()
    Image.new("1", (10_000, 10_000)).save(stream, "PNG")
    return base64.b64encode(stream.getvalue()).decode()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "All three images are missing; give at least one."),
        ({"rgb": "%%%"}, "A picture is base64 text"),
        ({"rgb": "/etc/passwd"}, "A picture is base64 text"),
        ({"rgb": {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}}, "A picture is base64 text"),
        ({"rgb": {"path": "../../etc/passwd"}}, "A picture is base64 text"),
        ({"nir": base64.b64encode(b"hello").decode()}, "NIR: The file is not a PNG"),
        ({"tir": big_png()}, "TIR: The image has more than 40 million pixels"),
        ({"rgb": big_png(), "weights": "nothing"}, "These weights are not loaded"),
        ({"rgb": big_png(), "variant": "paper"}, "which these weights lack"),
        ({"rgb": big_png(), "beta": "x"}, "beta must be a number"),
    ],
)
def test_refusals_are_the_pages_sentences(app: App, values: dict[str, Any], sentence: str) -> None:
    kind, data = call(app, "analyse", **values)
    assert kind == "error"
    text = data["error"] or ""
    # Gradio itself may turn a path away before us; whatever answers, nothing was read.
    assert sentence in text or ("path" in str(values) and "root:" not in json.dumps(data))


def test_figure_refuses_what_it_cannot_draw(app: App) -> None:
    kind, data = call(app, "figure", rgb=encoded(app.files("day")[0]), columns=["nothing"])
    assert (kind, "There is no column 'nothing'" in data["error"]) == ("error", True)


def test_the_queue_cannot_be_bypassed(app: App) -> None:
    body = {"data": [encoded(app.files("day")[0])]}
    assert httpx.post(f"{app.url}/gradio_api/run/analyse", json=body).status_code == 404


def test_without_mcp_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r"pip install 'mcp<2'"):
        program.main(["--mcp", "--device", "cpu", "--port", str(free_port())])


def test_mcp_offers_analyse_and_figure_with_descriptions(app: App) -> None:
    with serving_app("--mcp", "--weights", str(app.weights), "--examples", str(app.examples), "--device", "cpu") as url:
        tools = {t["name"]: t for t in httpx.get(f"{url}/gradio_api/mcp/schema", timeout=60).json()}
    for name in ("analyse", "figure"):
        tool = next(t for key, t in tools.items() if key.endswith(name))
        assert "image set" in tool["description"]
        assert "near-infrared" in json.dumps(tool["inputSchema"])
