"""What an MCP client gets: short tools, JSON instead of Python's own writing, and the same as structured content."""

import json
from pathlib import Path
from typing import Any

import gradio as gr
from gradio_client.utils import is_file_obj_with_meta

from sdtps.export.brief import brief
from sdtps.web.server.access_log import with_log
from sdtps.web.server.api import analysed, answered
from sdtps.web.server.gate.aliases import ALIAS
from sdtps.web.server.parameters import SUMMARY, Asked, endpoint
from sdtps.web.session.backend import PageBackend

RECORDS_NAMED = 20
HTTP_ONLY = frozenset({"analyse", "bundle", "health"})  # their answers are too long, or no use, in a conversation
SUMMARISES = """Say in a few kilobytes which patches SDTPS keeps of an image set of one person, and by which scores.

Name a set by example or record (see sets), or give pictures."""


def add_tools(backend: PageBackend) -> None:
    """Add what is short to the page that is being built; over HTTP it can be asked, too."""

    def summary(asked: Asked) -> dict[str, Any]:
        return answered(lambda: brief(analysed(backend, asked)[1]))

    def sets() -> dict[str, Any]:
        """List the image sets that can be named: the examples, and the first records of each data folder."""
        return image_sets(backend)

    short = endpoint(SUMMARISES, SUMMARY, dict[str, Any], summary)
    gr.api(with_log("api.summary", short), api_name="summary", concurrency_limit=1, concurrency_id="backbone")
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
    for known in page.fns.values():
        if known.api_name in HTTP_ONLY:
            known.fn._mcp_type = "endpoint"  # any kind but a tool is not listed
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
