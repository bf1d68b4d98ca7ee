"""Untrusted requests over HTTP and in Python: refused in one sentence, and no path of this machine is ever read."""

import json
import math
import re
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from sdtps.datasets.examples import find_examples
from sdtps.resources import PROJECT
from sdtps.types import Settings
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.requests import AnalyseRequest, Refusal, SettingsFields
from sdtps.web.static import texts
from tests.web.conftest import App

SECRET = Path("/etc/passwd")


@pytest.fixture
def backend(app: App, model) -> PageBackend:
    return PageBackend([model], find_examples(app.examples))


def example(name: str) -> dict:
    return {"pictures": {key: {"example": name} for key in ("rgb", "nir", "tir")}}


@pytest.mark.parametrize(
    "picture",
    [
        {"path": str(SECRET), "meta": {"_type": "gradio.FileData"}},
        str(SECRET),
        {"token": str(SECRET)},
        {"example": "../../../../etc"},
        {"example": "day", "token": "x"},
        {"token": "x" * 10_000},
        7,
    ],
)
def test_pictures_are_named_by_key_only(backend: PageBackend, picture: object) -> None:
    answer = backend.analyse({"pictures": {"rgb": picture}})
    assert answer["error"]["text"].endswith(".")
    assert "modalities" not in answer


def test_path_injection_over_http_is_refused(app: App) -> None:
    config = httpx.get(f"{app.url}/config").json()
    lens = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "lens")
    injected = {"path": str(SECRET), "meta": {"_type": "gradio.FileData"}, "orig_name": "rgb.png"}
    body = {"component_id": lens, "session_hash": "s", "fn_name": "stage", "data": injected}
    answer = httpx.post(f"{app.url}/gradio_api/component_server", json=body)
    assert answer.json()["error"]["code"] == "request.malformed"
    form = {"component_id": str(lens), "session_hash": "s", "fn_name": "stage", "slot": "rgb", "file": str(SECRET)}
    sent = httpx.post(f"{app.url}/gradio_api/component_server", files={k: (None, v) for k, v in form.items()})
    assert sent.json()["error"]["code"] == "request.malformed"
    dependency = next(d for d in config["dependencies"] if d["targets"] and d["targets"][0][1] == "analyse")
    for n, picture in enumerate((injected, {"token": str(SECRET)}, {"example": str(SECRET)})):
        job = {
            "data": [],
            "fn_index": dependency["id"],
            "trigger_id": lens,
            "session_hash": f"s{n}",
            "event_data": {"id": 1, "request": {"pictures": {"rgb": picture}}},
        }
        assert httpx.post(f"{app.url}/gradio_api/queue/join", json=job).status_code == 200
        with httpx.stream("GET", f"{app.url}/gradio_api/queue/data?session_hash=s{n}", timeout=60) as stream:
            lines = [json.loads(line[6:]) for line in stream.iter_lines() if line.startswith("data: ")]
        finished = next(line for line in lines if line["msg"] == "process_completed")
        # Gradio itself refuses what looks like a file; the rest is refused by us.
        assert not finished["success"] or "error" in json.loads(finished["output"]["data"][0])
        assert "root:" not in json.dumps(lines)
    direct = httpx.post(f"{app.url}/gradio_api/run/analyse", json={"data": []})
    assert direct.status_code in (404, 405, 422, 500)


@pytest.mark.parametrize("value", [None, "0.5", True, math.nan, math.inf, [0.5], {}])
def test_settings_must_be_numbers(value: object) -> None:
    with pytest.raises(Refusal, match="beta must be a number"):
        SettingsFields.parse({"beta": value})


def test_settings_are_clamped_into_the_sliders_ranges() -> None:
    asked = SettingsFields.parse({"sparse_ratio": -3, "aggr_ratio": 8, "beta": 0.7, "tau": 1e9, "draws": 10**9})
    settings = asked.over(Settings())
    assert (settings.sparse_ratio, settings.aggr_ratio, settings.beta, settings.tau) == (0.05, 1.0, 0.5, 10.0)
    assert settings.draws == 64


@pytest.mark.parametrize(
    "data", [None, 3, [], {}, {"pictures": []}, {"pictures": {}, "leave_out": "rgb"}, {"pictures": {}, "fit": 1}]
)
def test_malformed_requests(data: object) -> None:
    with pytest.raises(Refusal):
        AnalyseRequest.parse(data)


def test_unknown_variant() -> None:
    with pytest.raises(Refusal, match="no such variant"):
        AnalyseRequest.parse({"pictures": {}, "settings": {"variant": "none"}})


def test_forgotten_uploads_and_triplets_say_so(app: App, model) -> None:
    picture = Path(app.files("day")[0]).read_bytes()
    size = np.asarray(Image.open(app.files("day")[0])).nbytes
    bench = PageBackend([model], find_examples(app.examples), picture_bytes=size, prepared_bytes=3 * size)
    first = bench.stage("rgb", picture)["pictures"]["rgb"]["token"]
    request = {"pictures": {"rgb": {"token": first}}}
    assert "error" not in bench.analyse(request)
    bench.stage("nir", picture)
    assert bench.analyse(request)["expired"] == ["rgb"]
    key = bench.analyse(example("day"))["key"]
    assert "error" not in bench.decide({"key": key})
    bench.analyse(example("night"))
    assert bench.decide({"key": key})["error"]["code"] == "session.expired"


def test_ratios_that_leave_no_token_still_answer(backend: PageBackend) -> None:
    settings = {"sparse_ratio": 0.05, "aggr_ratio": 0.05}
    answer = backend.analyse(example("day") | {"settings": settings, "matrix": True})
    assert answer["counts"]["tokens"] == 0
    assert answer["modalities"]["rgb"]["matrix"] is None
    assert answer["modalities"]["rgb"]["ranges"]["aggregation"] == [0.0, 0.0]


def test_a_failure_inside_is_one_sentence_and_the_next_request_works(backend: PageBackend, monkeypatch) -> None:
    def explode(*_: object) -> None:
        raise RuntimeError("/secret/path exploded")

    with monkeypatch.context() as patch:
        patch.setattr("sdtps.pipeline.open_set._decide", explode)
        answer = backend.analyse(example("day"))
    assert answer["error"]["text"] == "The server could not finish this; try again."
    assert "error" not in backend.analyse(example("day"))


def test_languages_have_the_same_texts_and_every_code_is_translated() -> None:
    english, chinese = texts()["en"], texts()["zh"]
    extra = {k for k in chinese if k.startswith(("note.", "variant."))}
    assert set(chinese) - extra == set(english)
    source = PROJECT / "sdtps"
    found = set()
    terminal = {source / "cli", source / "export" / "batch", source / "training"}  # none of it reaches the page
    errors = "Message|InputError|CheckpointError|SettingsError|Refusal"
    for file in (f for f in source.rglob("*.py") if f.parent not in terminal):
        found |= set(re.findall(rf'(?:{errors})\(\s*f?"([a-z_.]+)"', file.read_text()))
    assert found
    assert {f"note.{code}" for code in found} - set(chinese) == set()
