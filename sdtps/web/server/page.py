"""The Gradio page around the component: one queued event, and how the server is started."""

import json
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from sdtps.web import static
from sdtps.web.server.access_log import logged, outcome
from sdtps.web.server.api import add_api
from sdtps.web.server.component import lens_view
from sdtps.web.server.document import TITLE
from sdtps.web.server.limits import refuse_downloads
from sdtps.web.server.temporary_files import ours
from sdtps.web.server.tools import add_tools
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.model_registry import UPLOAD_BYTES

FONT = ["system-ui", "Segoe UI", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans", "sans-serif"]
QUEUE_SIZE = 32
DAY = 24 * 3600
MEGABYTE = 1024 * 1024
# Gradio's own frame, out of the way before our style sheet arrives with the component.
FRAME_CSS = """
.gradio-container, .gradio-container > .main, .gradio-container .wrap, main.fillable {
  padding: 0 !important; max-width: none !important; }
.gradio-container { overflow: clip !important; } /* hidden, the sides would not stay in sight */
#lens, #lens .html-container { padding: 0 !important; }
.toast-wrap { display: none !important; } /* a lost connection has a banner of its own */
"""


def build_page(backend: PageBackend) -> gr.Blocks:
    """The page for a backend."""
    refuse_downloads()
    ours(Path(get_upload_folder()))  # Gradio writes there from now on
    with gr.Blocks(title=TITLE, fill_width=True, delete_cache=(3600, DAY)) as page:
        made: set[str] = set()
        add_api(backend, made)
        add_tools(backend)
        page.temp_file_sets.append(made)
        view = lens_view(backend)

        def analyse(event: gr.EventData) -> str:
            data = event._data if isinstance(event._data, dict) else {}
            with logged("analyse") as facts:
                answer = backend.analyse(data.get("request"))
                facts["outcome"] = outcome(answer)
            return json.dumps(answer | {"id": str(data.get("id"))[:64]})

        # The scripts join the queue themselves: Gradio's client would hide why a request was refused.
        view.analyse(
            analyse,
            None,
            view,
            show_progress="hidden",
            trigger_mode="multiple",
            concurrency_limit=1,
            concurrency_id="backbone",
            api_visibility="private",
        )
    page.queue(max_size=QUEUE_SIZE, api_open=False)
    return page


def launch_options(*, upload_weights: bool = False) -> dict[str, Any]:
    """How the page is served, the same for every way of starting it.

    Args:
        upload_weights: make room for checkpoints in an upload; pictures have their own limit in either case.
    """
    return {
        # These fonts come with Gradio and are served from here; Chinese falls through to the reader's own fonts.
        "theme": gr.themes.Base(
            font=[gr.themes.LocalFont("Source Sans Pro", weights=(400, 700)), *FONT],
            font_mono=[gr.themes.LocalFont("IBM Plex Mono", weights=(400, 700)), "ui-monospace", "monospace"],
        ),
        "css": FRAME_CSS,
        "favicon_path": static.STATIC / "icon.png",
        "footer_links": [],
        "run_history": False,
        "show_error": False,
        "ssr_mode": False,
        "_frontend": False,  # leaves out a question to itself, which a busy machine fails within its three seconds
        "state_session_capacity": 200,
        "max_file_size": UPLOAD_BYTES + MEGABYTE if upload_weights else 24 * MEGABYTE,
    }
