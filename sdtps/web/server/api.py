"""The public HTTP API: named endpoints for `gradio_client` and curl, and a plain health check for proxies.

Pictures travel as base64 text or as files that the client uploaded to this server; no other path is ever read.
"""

import base64
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.data_classes import FileData
from gradio.processing_utils import save_bytes_to_cache
from gradio.utils import get_upload_folder
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from sdtps.export import figure as drawing
from sdtps.export import serialise
from sdtps.export.bundle import versions, write_bundle
from sdtps.images.read import MAX_BYTES, Fit
from sdtps.pipeline import OpenSet, runnable
from sdtps.support.errors import InputError, LensError, full_sentence
from sdtps.support.progress import Progress
from sdtps.types import MODALITIES, Analysis
from sdtps.web.server.access_log import with_log
from sdtps.web.server.parameters import (
    ANALYSE,
    FIGURE,
    FILE,
    LOOK,
    MODEL,
    NAMED,
    PICTURES,
    SETTINGS,
    Asked,
    endpoint,
    given,
)
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.jobs import Lane
from sdtps.web.session.requests import SettingsFields, malformed
from sdtps.web.session.tasks.exports import FileFormat, Look

LONGEST_ADDRESS = 4096
ANALYSES = """Select patches of an RGB / near-infrared / thermal image set of one person by SDTPS, and say why.

Returns every number: per modality the self- and cross-attention maps, the predictor, the fused score, the kept
patches in order, and how they are blended into aggregated tokens, plus the re-identification feature."""
DRAWS = "Draw the figure of an image set for a paper: rows RGB, NIR, TIR; one column per step of the selection."
PACKS = "Pack the analysis of an image set into a zip: figure, inputs, every array, settings, weights, versions."
log = logging.getLogger(__name__)


def add_api(backend: PageBackend, files: set[str]) -> None:
    """Add the endpoints to the page that is being built.

    Args:
        backend: answers them.
        files: takes note of the files that were made for clients, so that old ones are deleted.
    """

    def analyse(asked: Asked) -> dict[str, Any]:
        return serialise.as_json(answered(lambda: analysed(backend, asked))[1])

    def figure(asked: Asked) -> FileData:
        def work() -> FileData:
            look = Look.parse({name: asked[name] for name in LOOK})
            wanted = FileFormat.parse({name: asked[name] for name in FILE})
            options = look.options()
            opened, analysis = analysed(backend, asked)

            def draw(_progress: Progress, _cancelled: Callable[[], bool]) -> dict[str, Any]:
                sheet = drawing.grid_figure(analysis, opened.prepared.pixels, options)
                return {"content": sheet.render(wanted.format, wanted.dots)}

            content = backend.jobs.run(draw, Lane.QUICK)["content"]
            return _file(content, f"sdtps-figure.{wanted.format}", files)

        return answered(work)

    def bundle(asked: Asked) -> FileData:
        def work() -> FileData:
            opened, analysis = analysed(backend, asked)

            def pack(progress: Progress, _cancelled: Callable[[], bool]) -> dict[str, Any]:
                return {"content": write_bundle(analysis, opened.prepared.pixels, progress=progress)}

            content = backend.jobs.run(pack, Lane.QUICK)["content"]
            return _file(content, "sdtps-bundle.zip", files)

        return answered(work)

    def weights() -> list[dict[str, Any]]:
        """List the weights to choose from; of those in memory also the report: what was loaded, what is missing."""
        return weights_list(backend)

    def health() -> dict[str, Any]:
        """Say that the server is up, and what it runs."""
        return health_facts(backend)

    # Queues of their own: pages that wait for the backbone must not wait for somebody's files and figures.
    endpoints: dict[str, tuple[str, Callable[..., Any]]] = {
        "analyse": ("files", endpoint(ANALYSES, ANALYSE, dict[str, Any], analyse)),
        "figure": ("drawing", endpoint(DRAWS, FIGURE, FileData, figure)),
        "bundle": ("drawing", endpoint(PACKS, ANALYSE, FileData, bundle)),
    }
    for name, (queue, work) in endpoints.items():
        gr.api(with_log(f"api.{name}", work), api_name=name, concurrency_limit=2, concurrency_id=queue)
    gr.api(weights, api_name="weights")
    gr.api(health, api_name="health")


def health_route(backend: PageBackend, page: gr.Blocks) -> Route:
    """`GET /health` for load balancers; answered without a thread, so that a crowd cannot keep it waiting."""

    async def answer(_request: Request) -> JSONResponse:
        sessions = len(page.state_holder.session_data)
        return JSONResponse(health_facts(backend) | {"sessions": sessions, "cached_bytes": backend.cached_bytes})

    return Route("/health", answer)


def health_facts(backend: PageBackend) -> dict[str, Any]:
    """What a load balancer or an operator wants to know; looks at nothing that would have to be loaded."""
    models = backend.models
    names = [key for key, entry in models.entries.items() if not entry.uploaded]
    device = next((m.device.type for k in models.loaded if (m := models.peek(k)) is not None), models.device)
    return {"status": "ok", "weights": names, "device": device, "versions": versions()}


def weights_list(backend: PageBackend) -> list[dict[str, Any]]:
    """The weights of the command line and of `checkpoints/`; uploads belong to the page that sent them."""
    models, listed = backend.models, []
    for key, entry in models.entries.items():
        if not entry.uploaded:
            model = models.peek(key)
            facts = {} if model is None else serialise.weights_facts(model.weights)
            listed.append({"id": key, "name": entry.name} | facts)
    return listed


def analysed(backend: PageBackend, asked: Asked) -> tuple[OpenSet, Analysis]:
    """The analysis of the pictures, or of the set by its name, that an endpoint was asked for."""
    fit, weights, camera = (asked[name] for name in MODEL)
    fields, named = SettingsFields.parse(given(asked, SETTINGS)), given(asked, NAMED)
    model = backend.models.model(weights if isinstance(weights, str) else None)
    if fit not in list(Fit) or not (camera is None or (isinstance(camera, int) and not isinstance(camera, bool))):
        raise malformed()
    wanted = fields.over(model.settings)
    runnable(model, wanted.variant)  # before anything is decoded
    if named:
        triplet, known = backend.named(named, Fit(str(fit)))
        opened = OpenSet.of(model, triplet, known if camera is None else camera, asked=camera is not None)
        return opened, opened.analyse(wanted)
    contents = [_content(asked[m]) for m in PICTURES]
    if not any(contents):
        raise InputError("input.none", "All three images are missing; give at least one.")
    triplet = backend.read(dict(zip(MODALITIES, contents, strict=True)), Fit(str(fit)))
    opened = OpenSet.of(model, triplet, camera)
    return opened, opened.analyse(wanted)


def _content(picture: object) -> bytes | None:
    """The bytes of base64 text, or of a file in this server's own upload folder."""
    if picture is None or picture == "":
        return None
    if isinstance(picture, str):
        if (uploaded := _path_in(picture)) is not None:
            return _content({"path": uploaded})
        if len(picture) > MAX_BYTES * 4 // 3 + 1024:
            raise InputError("input.too_big", "The file has {megabytes:.1f} MB; the limit is {limit} MB.",
                             megabytes=len(picture) * 3 / 4 / 2**20, limit=MAX_BYTES // 2**20)  # fmt: skip
        try:
            return base64.b64decode(picture.rpartition("base64,")[2], validate=True)
        except ValueError:  # letters that base64 does not have, or a wrong number of them
            raise _not_a_picture() from None
    if isinstance(picture, dict) and isinstance(picture.get("path"), str):
        folder, path = Path(get_upload_folder()).resolve(), Path(picture["path"]).resolve()
        if path.is_relative_to(folder) and path.is_file() and path.stat().st_size <= MAX_BYTES:
            return path.read_bytes()
    raise _not_a_picture()


def _path_in(text: str) -> str | None:
    """The path of an upload, alone or in the address that this server gives it; None for anything else."""
    folder = str(Path(get_upload_folder()).resolve())
    return text[text.index(folder) :] if len(text) < LONGEST_ADDRESS and folder in text else None


def _not_a_picture() -> InputError:
    return InputError("api.picture", "A picture is base64 text, a data URL or an uploaded file; this is none of them.")


def _file(content: bytes, name: str, files: set[str]) -> FileData:
    path = save_bytes_to_cache(content, name, get_upload_folder())
    files.add(path)
    return FileData(path=path, orig_name=name, size=len(content))


def answered(work: Callable[[], Any]) -> Any:
    """The answer, or one sentence, as on the page."""
    try:
        return work()
    except gr.Error:
        raise
    except Exception as error:
        if not isinstance(error, LensError):
            log.exception("A request failed.")
        raise gr.Error(full_sentence(error), print_exception=False) from None
