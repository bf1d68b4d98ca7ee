"""The one component of the page: Gradio carries messages, our scripts draw."""

from typing import Any

import gradio as gr
from gradio.data_classes import DataWithFiles

from sdtps.export import payload
from sdtps.web import static
from sdtps.web.server.access_log import remark
from sdtps.web.session.backend import PageBackend
from sdtps.web.session.jobs import Lane
from sdtps.web.session.tasks import TASKS

BUNDLE = "bundle"


def lens_view(backend: PageBackend) -> gr.HTML:
    """Zones, sliders and the grid; the value is the JSON text of the last analysis.

    A function, not a subclass: Gradio writes a stub file beside the source of every component class.

    Args:
        backend: answers the page.
    """

    def noted(task: str, answer: dict[str, Any]) -> dict[str, Any]:
        remark(task, answer)
        return answer

    # Files are worked on in lanes of their own: sliders must not wait for a thread that waits for a decoder.
    async def stage(data: object) -> dict[str, Any]:
        # Files arrive as bytes in the request: the browser never names a path on this machine.
        if not isinstance(data, DataWithFiles) or len(data.files) != 1:
            return noted("stage", backend.stage(None, None))
        slot, content = data.data.get("slot"), data.files[0][1]
        if slot == BUNDLE:
            opened = await backend.jobs.later(lambda: backend.open_bundle(content), Lane.FILES)
            return noted("bundle", opened)
        staged = await backend.jobs.later(lambda: backend.stage(slot, content), Lane.FILES)
        return noted("stage", staged)

    async def upload_weights(data: object) -> dict[str, Any]:
        if not isinstance(data, DataWithFiles) or len(data.files) != 1:
            return noted("weights", backend.upload_weights(None, None, {}))
        (name, content), fields = data.files[0], data.data

        def work() -> dict[str, Any]:
            return backend.upload_weights(name, content, fields)

        return noted("weights", await backend.jobs.later(work, Lane.WEIGHTS))

    def decide(data: object) -> dict[str, Any]:
        return noted("decide", backend.decide(data))

    def ask(data: object) -> dict[str, Any]:
        task = data.get("task") if isinstance(data, dict) else None
        return noted(task if task in TASKS else "ask", backend.ask(data))

    return gr.HTML(
        "",
        # A template without ${value}: otherwise every analysis would wipe the canvases.
        html_template='<div class="lens-root"></div>',
        js_on_load=static.gradio_script(),
        apply_default_css=False,
        server_functions=[stage, upload_weights, decide, ask],
        elem_id="lens",
        lens_config=backend.config() | {"texts": payload.page_texts()},
        lens_css=static.styles(),
    )
