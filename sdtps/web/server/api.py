"""The public HTTP API: named endpoints for `gradio_client` and curl, and a plain health check for proxies.

Pictures travel as base64 text or as files that the client uploaded to this server; no other path is ever read.
"""

import base64
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

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
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.jobs import QUICK_SECONDS, Lane
from sdtps.web.session.requests import SettingsFields, malformed
from sdtps.web.session.tasks.exports import FileFormat, Look

Pictures = tuple[object, object, object]
LONGEST_ADDRESS = 4096
log = logging.getLogger(__name__)


def add_api(backend: PageBackend, files: set[str]) -> None:
    """Add the endpoints to the page that is being built.

    Args:
        backend: answers them.
        files: takes note of the files that were made for clients, so that old ones are deleted.
    """

    def analyse(  # noqa: PLR0913 - the public parameters
        rgb: str | None = None,
        nir: str | None = None,
        tir: str | None = None,
        sparse_ratio: float | None = None,
        aggr_ratio: float | None = None,
        beta: float | None = None,
        tau: float | None = None,
        variant: str | None = None,
        fit: Literal["stretch", "letterbox"] = "stretch",
        weights: str | None = None,
        camera: int | None = None,
        example: str | None = None,
        record: str | None = None,
    ) -> dict[str, Any]:
        """Select patches of an RGB / near-infrared / thermal image set of one person by SDTPS, and say why.

        Returns every number: per modality the self- and cross-attention maps, the predictor, the fused score, the kept
        patches in order, and how they are blended into aggregated tokens, plus the re-identification feature.

        Args:
            rgb: the RGB picture: base64 or data URL of a PNG, JPEG, TIFF, BMP or WebP, or a file. Null if missing.
            nir: the near-infrared picture, likewise.
            tir: the thermal picture, likewise.
            sparse_ratio: share of patches to keep, 0.05 to 1; by default what the weights were trained with.
            aggr_ratio: aggregated tokens per kept share, 0.05 to 1; the same default.
            beta: weight of the attention maps in the score, 0 to 0.5; the same default.
            tau: temperature of the soft decision; never changes what is kept.
            variant: which SDTPS, such as final or importance; by default the one of the weights.
            fit: what to do with pictures of another shape than the model's.
            weights: short hash of loaded weights (see /weights); the first by default.
            camera: label of the camera from 0, for weights with a camera embedding.
            example: name of a shipped image set, instead of pictures (see /sets).
            record: id of an image set of a data folder, instead of pictures.
        """
        settings = given(sparse_ratio=sparse_ratio, aggr_ratio=aggr_ratio, beta=beta, tau=tau, variant=variant)
        found = answered(
            lambda: analysed(
                backend, (rgb, nir, tir), settings, fit, weights, camera, given(example=example, record=record)
            )
        )
        return serialise.as_json(found[1])

    def figure(  # noqa: PLR0913 - the public parameters
        rgb: str | None = None,
        nir: str | None = None,
        tir: str | None = None,
        sparse_ratio: float | None = None,
        aggr_ratio: float | None = None,
        beta: float | None = None,
        tau: float | None = None,
        variant: str | None = None,
        format: Literal["pdf", "svg", "png"] = "pdf",  # noqa: A002 - the public name
        width: str = "cvpr-page",
        columns: list[str] | None = None,
        captions: bool = False,
        language: Literal["en", "zh"] = "en",
        dpi: int = 300,
        fit: Literal["stretch", "letterbox"] = "stretch",
        weights: str | None = None,
        camera: int | None = None,
        example: str | None = None,
        record: str | None = None,
    ) -> FileData:
        """Draw the figure of an image set for a paper: rows RGB, NIR, TIR; one column per step of the selection.

        Args:
            rgb: the RGB picture: base64 or data URL, or an uploaded file. Null if missing.
            nir: the near-infrared picture, likewise.
            tir: the thermal picture, likewise.
            sparse_ratio: share of patches to keep, 0.05 to 1; by default what the weights were trained with.
            aggr_ratio: aggregated tokens per kept share, 0.05 to 1; the same default.
            beta: weight of the attention maps in the score, 0 to 0.5; the same default.
            tau: temperature of the soft decision.
            variant: which SDTPS; by default the one of the weights.
            format: pdf or svg (vector), or png.
            width: cvpr-page, cvpr-column, iclr-page, iclr-column, ieee-page or ieee-column.
            columns: from input, self, cross1, cross2, predictor, score, kept, aggregation, soft, frequency.
            captions: print (a), (b), ... below the columns.
            language: of the labels.
            dpi: of a png.
            fit: what to do with pictures of another shape than the model's.
            weights: short hash of loaded weights; the first by default.
            camera: label of the camera from 0, for weights with a camera embedding.
            example: name of a shipped image set, instead of pictures (see /sets).
            record: id of an image set of a data folder, instead of pictures.
        """
        settings = given(sparse_ratio=sparse_ratio, aggr_ratio=aggr_ratio, beta=beta, tau=tau, variant=variant)

        def work() -> FileData:
            look = Look.parse({"width": width, "columns": columns, "captions": captions, "language": language})
            wanted = FileFormat.parse({"format": format, "dpi": dpi})
            options = look.options()
            opened, analysis = analysed(
                backend, (rgb, nir, tir), settings, fit, weights, camera, given(example=example, record=record)
            )

            def draw(_progress: Progress, _cancelled: Callable[[], bool]) -> dict[str, Any]:
                sheet = drawing.grid_figure(analysis, opened.prepared.pixels, options)
                return {"content": sheet.render(wanted.format, wanted.dots)}

            content = backend.jobs.run(draw, Lane.QUICK, QUICK_SECONDS)["content"]
            return _file(content, f"sdtps-figure.{wanted.format}", files)

        return answered(work)

    def bundle(  # noqa: PLR0913 - the public parameters
        rgb: str | None = None,
        nir: str | None = None,
        tir: str | None = None,
        sparse_ratio: float | None = None,
        aggr_ratio: float | None = None,
        beta: float | None = None,
        tau: float | None = None,
        variant: str | None = None,
        fit: Literal["stretch", "letterbox"] = "stretch",
        weights: str | None = None,
        camera: int | None = None,
        example: str | None = None,
        record: str | None = None,
    ) -> FileData:
        """Pack the analysis of an image set into a zip: figure, inputs, every array, settings, weights, versions.

        The arguments are those of `analyse`.
        """
        settings = given(sparse_ratio=sparse_ratio, aggr_ratio=aggr_ratio, beta=beta, tau=tau, variant=variant)

        def work() -> FileData:
            opened, analysis = analysed(
                backend, (rgb, nir, tir), settings, fit, weights, camera, given(example=example, record=record)
            )

            def pack(progress: Progress, _cancelled: Callable[[], bool]) -> dict[str, Any]:
                return {"content": write_bundle(analysis, opened.prepared.pixels, progress=progress)}

            content = backend.jobs.run(pack, Lane.QUICK, QUICK_SECONDS)["content"]
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
        "analyse": ("files", analyse),
        "figure": ("drawing", figure),
        "bundle": ("drawing", bundle),
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


def given(**values: Any) -> dict[str, Any]:
    """The settings that were named; the rest stays as the weights have it."""
    return {name: value for name, value in values.items() if value is not None}


def analysed(
    backend: PageBackend,
    pictures: Pictures,
    settings: dict[str, Any],
    fit: object,
    weights: object,
    camera: object,
    named: dict[str, Any],
) -> tuple[OpenSet, Analysis]:
    """The analysis of pictures, or of a set by its name: `{"example": ...}` or `{"record": ...}`."""
    asked = SettingsFields.parse(settings)
    model = backend.models.model(weights if isinstance(weights, str) else None)
    if fit not in list(Fit) or not (camera is None or (isinstance(camera, int) and not isinstance(camera, bool))):
        raise malformed()
    wanted = asked.over(model.settings)
    runnable(model, wanted.variant)  # before anything is decoded
    if named:
        triplet, known = backend.named(named, Fit(str(fit)))
        opened = OpenSet.of(model, triplet, known if camera is None else camera, asked=camera is not None)
        return opened, opened.analyse(wanted)
    contents = [_content(p) for p in pictures]
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
