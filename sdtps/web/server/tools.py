"""What an MCP client gets: short tools, JSON instead of Python's own writing, and the same as structured content."""

import json
from pathlib import Path
from typing import Any, Literal

import gradio as gr
from gradio_client.utils import is_file_obj_with_meta

from sdtps.export.brief import brief
from sdtps.web.server.access_log import with_log
from sdtps.web.server.api import analysed, answered, given
from sdtps.web.server.gate.aliases import ALIAS
from sdtps.web.session.backend import PageBackend

RECORDS_NAMED = 20
HTTP_ONLY = frozenset({"analyse", "bundle", "health"})  # their answers are too long, or no use, in a conversation


def add_tools(backend: PageBackend) -> None:
    """Add what is short to the page that is being built; over HTTP it can be asked, too."""

    def summary(  # noqa: PLR0913 - the public parameters
        example: str | None = None,
        record: str | None = None,
        rgb: str | None = None,
        nir: str | None = None,
        tir: str | None = None,
        sparse_ratio: float | None = None,
        aggr_ratio: float | None = None,
        beta: float | None = None,
        variant: str | None = None,
        fit: Literal["stretch", "letterbox"] = "stretch",
        weights: str | None = None,
        camera: int | None = None,
    ) -> dict[str, Any]:
        """Say in a few kilobytes which patches SDTPS keeps of an image set of one person, and by which scores.

        Name a set by example or record (see sets), or give pictures.

        Args:
            example: name of a shipped image set.
            record: id of an image set of a data folder.
            rgb: the RGB picture: the path or address that POST /gradio_api/upload answered, base64 or a data URL.
            nir: the near-infrared picture, likewise.
            tir: the thermal picture, likewise.
            sparse_ratio: share of patches to keep, 0.05 to 1; by default what the weights were trained with.
            aggr_ratio: aggregated tokens per kept share, 0.05 to 1; the same default.
            beta: weight of the attention maps in the score, 0 to 0.5; the same default.
            variant: which SDTPS, such as final or importance; by default the one of the weights.
            fit: what to do with pictures of another shape than the model's.
            weights: short hash of loaded weights (see weights); the first by default.
            camera: label of the camera from 0, for weights with a camera embedding.
        """
        settings = given(sparse_ratio=sparse_ratio, aggr_ratio=aggr_ratio, beta=beta, variant=variant)
        pictures, named = (rgb, nir, tir), given(example=example, record=record)
        return answered(lambda: brief(analysed(backend, pictures, settings, fit, weights, camera, named)[1]))

    def sets() -> dict[str, Any]:
        """List the image sets that can be named: the examples, and the first records of each data folder."""
        return image_sets(backend)

    gr.api(with_log("api.summary", summary), api_name="summary", concurrency_limit=1, concurrency_id="backbone")
    gr.api(sets, api_name="sets")


def image_sets(backend: PageBackend) -> dict[str, Any]:
    """Examples by name, and the first records of each data folder by id."""
    folders = []
    for source in backend.data.browsed:
        ids = source.ids(source.dataset.query)
        folders.append({"name": source.label, "records": len(ids), "first": ids[:RECORDS_NAMED]})
    return {"examples": list(backend.examples), "folders": folders}


def give_structure(page: gr.Blocks, folder: Path) -> None:
    """Let the MCP server of a launched page, if it has one, answer in JSON and as structured content.

    Args:
        page: it.
        folder: of temporary files, which the page's own answers call by an alias.
    """
    server = page.mcp_server_obj
    if server is None:
        return
    for endpoint in page.fns.values():
        if endpoint.api_name in HTTP_ONLY:
            endpoint.fn._mcp_type = "endpoint"  # any kind but a tool is not listed
    plain = server.postprocess_output_data

    def as_json(data: list[Any], root_url: str) -> list[Any]:
        written = [_readable(v, folder) for v in data]
        return list(plain(written, root_url))

    server.postprocess_output_data = as_json
    handlers = server.mcp_server.request_handlers
    answer = handlers[server.types.CallToolRequest]

    async def structured(request: Any) -> Any:
        result = await answer(request)
        found = result.root
        if not found.isError and len(found.content) == 1 and found.content[0].type == "text":
            found.structuredContent = _parsed(found.content[0].text)
        return result

    handlers[server.types.CallToolRequest] = structured


def _readable(value: Any, folder: Path) -> Any:
    """JSON of plain values; a file under its own name, so that a picture can be shown."""
    if not isinstance(value, dict | list):
        return value
    if not is_file_obj_with_meta(value):
        return json.dumps(value)
    assert isinstance(value, dict)
    return {**value, "path": str(value["path"]).replace(f"{ALIAS}/", f"{folder}/", 1)}


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None  # the address of a file
    return value if isinstance(value, dict) else {"items": value}
