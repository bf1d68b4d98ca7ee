"""The start: nobody can keep a server from it."""

import gradio as gr
from gradio_client import Client
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sdtps.web.server.gate import connections
from tests.harness import free_port


class Crowded:
    """Lets nobody in, until it does."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.full = app, True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = scope["type"] == "http" and self.full
        await (PlainTextResponse("full", 503) if refused else self.app)(scope, receive, send)


def test_a_page_starts_while_a_crowd_lets_no_question_through() -> None:
    def loud(text: str) -> str:
        return text.upper()

    with gr.Blocks() as page:
        gr.api(loud)
    gates: list[Crowded] = []

    def gate(app: ASGIApp) -> ASGIApp:
        gates.append(Crowded(app))
        return gates[0]

    with connections.installed(gate):
        _, address, _ = page.launch(server_port=free_port(), prevent_thread_lock=True, quiet=True, _frontend=False)
    try:
        gates[0].full = False
        client = Client(address, verbose=False, httpx_kwargs={"trust_env": False})
        assert client.predict("queued", api_name="/loud") == "QUEUED", "the queue runs"
    finally:
        page.close(verbose=False)
