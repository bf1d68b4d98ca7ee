"""The public API: five named endpoints, the same limits and sentences as the page, and no path of the server."""

import base64
import io
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from PIL import Image

from sdtps.cli import page as program
from sdtps.export.bundle import read_bundle
from tests.harness import finished, free_port, serving_app
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
    assert set(info["named_endpoints"]) == {
        "/analyse", "/figure", "/bundle", "/weights", "/health", "/summary", "/sets"
    }  # fmt: skip
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


def uploaded(url: str, path: str) -> str:
    """What `curl -F files=@rgb.png` does; however large the picture, nothing of it stands on a command line."""
    with Path(path).open("rb") as stream:
        return str(httpx.post(f"{url}/gradio_api/upload", files={"files": stream}, timeout=60).json()[0])


def test_pictures_by_upload_and_sets_by_name_give_the_same(app: App) -> None:
    pictures = {m: uploaded(app.url, path) for m, path in zip(("rgb", "nir", "tir"), app.files("day"), strict=True)}
    by_upload = call(app, "summary", **pictures)[1][0]
    by_name = call(app, "summary", example="day")[1][0]
    assert by_upload["modalities"] == by_name["modalities"]
    address = {m: f"{app.url}/gradio_api/file={path}" for m, path in pictures.items()}
    assert call(app, "summary", **address)[1][0]["modalities"] == by_name["modalities"]
    whole = call(app, "analyse", example="day")[1][0]
    assert whole["arrays"]["rgb.keep"] == by_name["modalities"]["rgb"]["patches"]
    assert "There is no example" in call(app, "summary", example="nothing")[1]["error"]
    assert "day" in call(app, "sets")[1][0]["examples"]


def test_mcp_is_no_way_round_the_accounts() -> None:
    with pytest.raises(SystemExit, match="--mcp does not go with --auth"):
        program.main(["--mcp", "--auth", "accounts", "--device", "cpu", "--port", str(free_port())])


def test_a_real_client_of_mcp_gets_a_short_structured_answer(app: App) -> None:
    given = ("--mcp", "--weights", str(app.weights), "--examples", str(app.examples), "--device", "cpu")
    with serving_app(*given) as url:
        tools, answer, drawn, refused = finished(conversation(url, uploaded(url, app.files("day")[0])))
    assert {"summary", "figure", "sets", "weights"} == set(tools)
    assert "image set" in tools["summary"].description
    assert "near-infrared" in json.dumps(tools["summary"].inputSchema)
    text = answer.content[0].text
    assert json.loads(text) == answer.structuredContent, "JSON, and the same as structured content"
    assert len(text) < 6000
    assert answer.structuredContent["modalities"]["rgb"]["kept"] == 32
    assert answer.structuredContent["modalities"]["nir"] == {"missing": True}
    assert [c.type for c in drawn.content][:1] == ["image"]
    assert refused.isError


async def conversation(url: str, picture: str) -> tuple[Any, ...]:
    """List the tools and use them."""
    async with streamable_http_client(f"{url}/gradio_api/mcp/") as (read, write, *_), ClientSession(read, write) as mcp:
        await mcp.initialize()
        tools = {t.name.rpartition("_")[2]: t for t in (await mcp.list_tools()).tools}
        name = {short: t.name for short, t in tools.items()}
        answer = await mcp.call_tool(name["summary"], {"rgb": picture, "sparse_ratio": 0.25})
        drawn = await mcp.call_tool(name["figure"], {"example": "day", "format": "png", "dpi": 72})
        refused = await mcp.call_tool(name["summary"], {"example": "nothing"})
    return tools, answer, drawn, refused
