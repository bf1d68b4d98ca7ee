"""The example notebook runs from the first cell to the last, and what it shows works in a browser without a server."""

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from sdtps.resources import PROJECT
from tests.harness import chromium
from tests.warm import Warm

SECONDS = 240
SHOWN = ("stream", "display_data", "execute_result", "error")


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory):
    """The notebook after a run, in a kernel of its own, which is forked from a process that has imported torch."""
    found = nbformat.read(PROJECT / "docs" / "notebook.ipynb", as_version=4)
    folder = tmp_path_factory.mktemp("kernel")
    file, _ = write_connection_file(str(folder / "connection.json"))
    launcher = find_spec("ipykernel_launcher")
    assert launcher is not None
    assert launcher.origin is not None
    kernel = Warm(launcher.origin, ["-f", file], os.environ, folder / "log")
    client = BlockingKernelClient(connection_file=file)
    client.load_connection_file()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=SECONDS)
        for cell in found.cells:
            if cell.cell_type == "code":
                run(client, cell)
        client.shutdown()
        kernel.wait(SECONDS)
    finally:
        client.stop_channels()
        kernel.terminate()
    return found


def run(client: BlockingKernelClient, cell: Any) -> None:
    """Run one cell, and keep what it shows."""

    def keep(message: dict[str, Any]) -> None:
        if message["msg_type"] in SHOWN:
            cell.outputs.append(nbformat.v4.output_from_msg(message))

    answer = client.execute_interactive(cell.source, timeout=SECONDS, output_hook=keep)["content"]
    assert answer["status"] == "ok", answer


def shown(book: Any, kind: str) -> list[Any]:
    """What the cells displayed of one kind, in order."""
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    return [out.data[kind] for out in outputs if kind in out.get("data", {})]


def test_cells_show_grid_figure_and_page(book):
    grid, live = shown(book, "text/html")
    assert "srcdoc=" in grid
    assert len(grid) <= 1_000_000
    assert re.search(r'src="http://127\.0\.0\.1:\d+"', live)
    assert len(shown(book, "image/png")) == 1
    said = "".join(out.text for out in book.cells[-1].outputs)
    assert said == "<SDTPS Lens, closed> Grid(rows=16, cols=8)\n"


def test_the_grid_moves_in_a_browser_and_asks_nobody(book, tmp_path: Path):
    page_file = tmp_path / "cell.html"
    page_file.write_text(f"<!doctype html><meta charset=utf-8>{shown(book, 'text/html')[0]}", encoding="utf-8")
    asked, complaints = [], []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 820})
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(page_file.as_uri())
        frame = page.frame_locator("iframe")
        frame.locator(".lens-grid[data-settings]").wait_for()
        frame.locator("[data-setting-field=sparse_ratio]").fill("0.25")
        frame.locator(".lens-grid[data-settings*='\"sparse_ratio\":0.25']").wait_for()
        last_row = frame.locator("canvas[data-modality=tir][data-panel=score]")
        assert last_row.evaluate("node => node.getBoundingClientRect().bottom <= innerHeight"), "in sight at once"
        formulas = frame.locator(".lens-flow-formula")
        assert formulas.evaluate_all("all => all.every((node) => node.scrollWidth <= node.clientWidth)")
    assert [url for url in asked if not url.startswith(("file:", "about:", "data:", "blob:"))] == []
    assert complaints == []
