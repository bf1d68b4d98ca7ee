"""A real app on a free port with a small seeded model, and a real Chromium that fails on any console error."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect

import sdtps
from sdtps.checkpoints.load import random_model, save_checkpoint
from sdtps.models.reid import LoadedModel, ModelConfig
from sdtps.resources import GALLERY
from sdtps.training.synth import sample, write_rgbnt201
from tests.datasets import trees
from tests.harness import Running, chromium, running_app

EXAMPLES = {"day": {"day"}, "night": {"night"}, "black-rgb": {"black_rgb"}}
PERSON, VEHICLE = (256, 128), (128, 256)
PATIENCE = 60_000  # ms; a busy machine is slow, not wrong
expect.set_options(timeout=PATIENCE)


@dataclass(frozen=True)
class App:
    """A running app and what it was started with."""

    url: str
    weights: Path
    vehicle: Path
    cosines: Path
    examples: Path
    data: dict[str, Path]
    server: Running | None = None

    def files(self, name: str) -> tuple[str, str, str]:
        rgb, nir, tir = (str(self.examples / name / f"{m}.png") for m in ("rgb", "nir", "tir"))
        return rgb, nir, tir


def small_model(size: tuple[int, int], **config: Any) -> LoadedModel:
    options = {"timm_options": {"depth": 2}}
    return random_model(ModelConfig("vit", "vit_tiny_patch16_224", size, options, **config), seed=7, device="cpu")


def model_without_predictor() -> LoadedModel:
    """Weights of the variant that has no predictor."""
    model = small_model(PERSON, variant="open-source")
    for m in sdtps.Modality:
        setattr(model.net.sdtps, f"{m}_sparse", None)
    return model


def write_data(folder: Path) -> dict[str, Path]:
    """Generated people in the RGBNT201 layout with one partner missing, RGBNT100 with one damaged, an MSVR310 tree."""
    people = folder / "people"
    write_rgbnt201(people, ids=4, views=4, seed=11, split="test")
    lonely = sorted((people / "RGBNT201" / "test" / "NI").iterdir())[-1]
    lonely.unlink()
    wide = trees.rgbnt100(folder / "wide")
    damaged = sorted((wide / "RGBNT100" / "rgbir" / "query").iterdir())[3]
    damaged.write_bytes(damaged.read_bytes()[:-60])
    return {
        "people": people,
        "wide": wide,
        "scenes": trees.msvr310(folder / "scenes"),
    }


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("ui")
    examples, weights, vehicle = folder / "examples", folder / "person.safetensors", folder / "vehicle.safetensors"
    for i, (name, tags) in enumerate(EXAMPLES.items()):
        triplet = sample(pid=i + 3, view=1, seed=0, force=tags)
        (examples / name).mkdir(parents=True)
        for m in ("rgb", "nir", "tir"):
            Image.fromarray(getattr(triplet, m)).save(examples / name / f"{m}.png")
        Image.fromarray((triplet.person * 255).astype(np.uint8)).save(examples / name / "mask.png")
    titles = {"day": {"en": "Day", "zh": "白天"}, "night": {"en": "Night", "zh": "夜晚"}}
    index = [{"name": n, "title": titles.get(n, {"en": n, "zh": n})} for n in EXAMPLES]
    (examples / "examples.json").write_text(json.dumps(index))
    save_checkpoint(small_model(PERSON).net, weights, half=False)
    save_checkpoint(small_model(VEHICLE).net, vehicle, half=False, trained="no")
    cosines = folder / "cosines.safetensors"
    save_checkpoint(model_without_predictor().net, cosines, half=False)
    data = write_data(folder / "data")
    listed = [part for path in (weights, vehicle, cosines) for part in ("--weights", str(path))]
    listed += [part for path in data.values() for part in ("--data", str(path))]
    listed += ["--gallery", str(GALLERY)]
    with running_app(*listed, "--examples", str(examples), "--device", "cpu") as server:
        yield App(server.url, weights, vehicle, cosines, examples, data, server)


@pytest.fixture(scope="session")
def model(app: App) -> LoadedModel:
    """The same weights as the app's, in this process."""
    return sdtps.load_model(app.weights, device="cpu")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(app: App, browser: Browser) -> Iterator[OpenPage]:
    """`open_page(query, **context options)`: a page that is ready. Console errors and foreign hosts fail the test.

    `allow` names a console error that the test causes on purpose; `edit` changes the page before it arrives.
    """
    complaints: list[str] = []
    contexts = []

    def check_request(url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(app.url).netloc:
            complaints.append(f"foreign host: {url}")

    def check_console(message: ConsoleMessage, allow: str | None) -> None:
        if message.type == "error" and not (allow and allow in message.text):
            complaints.append(f"console: {message.text}")

    def edited(route: Route, edit: Callable[[str], str]) -> None:
        answer = route.fetch()
        # The policy lets inline scripts through by their hash, and this changes one.
        headers = {name: value for name, value in answer.headers.items() if name != "content-security-policy"}
        route.fulfill(response=answer, headers=headers, body=edit(answer.text()))

    def open_(
        query: str = "", *, allow: str | None = None, edit: Callable[[str], str] | None = None, **options: Any
    ) -> Page:
        settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, "locale": "en-US", **options}
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: check_console(message, allow))
        page.on("pageerror", lambda e: complaints.append(f"page error: {e}"))
        page.on("request", lambda request: check_request(request.url))
        if edit is not None:
            page.route(f"{app.url}/{query}", lambda route: edited(route, edit))
        page.goto(f"{app.url}/{query}")
        page.wait_for_selector(".lens-grid[data-settings], .lens-empty:not([hidden])", state="attached")
        page.evaluate("() => document.fonts.ready.then(() => new Promise(requestAnimationFrame))")  # sizes have settled
        return page

    yield open_
    for context in contexts:
        context.close()
    assert complaints == []
