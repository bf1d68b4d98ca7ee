"""Random requests through the gate: what passes must be ours, and what does not must get a sentence."""

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sdtps.web.server.gate.layers import GateOptions, gate
from tests.harness import finished
from tests.hostile.cases import GOOD
from tests.hostile.ends import complaint

OWN = "127.0.0.1:7860"
HOSTS = st.sampled_from((OWN, "localhost", "[::1]:1", "evil.example", "127.0.0.1.evil.example", "", "[", "a@b:c"))
ORIGINS = st.none() | st.sampled_from((f"http://{OWN}", "null", "https://evil.example", "http://[", "//", "x"))
KINDS = st.sampled_from(
    ("application/json", "multipart/form-data; boundary=x", "multipart/form-data", "text/plain", "")
)
PATHS = st.sampled_from(("/", "/config", "/gradio_api/component_server/", "/gradio_api/call/analyse", "/login")) | (
    st.text(max_size=20).map(lambda text: f"/{text}")
)
BODIES = st.lists(
    st.binary(max_size=40)
    | st.sampled_from((b"--x\r\n", b"[],[],", b'{"session_hash": "s"}'))
    | st.sampled_from((b"--x\r\n" * 30, b"[]," * 9000)),
    max_size=4,
)
REQUESTS = st.tuples(st.sampled_from(("GET", "POST", "OPTIONS", "PUT")), PATHS, HOSTS, ORIGINS, KINDS, BODIES)


@cache
def _guarded() -> ASGIApp:
    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await JSONResponse({"passed": True})(scope, receive, send)

    return gate(echo, GateOptions())


def knock(example: tuple[str, str, str, str | None, str, list[bytes]]) -> str:
    """Send one request; how it ended."""
    method, path, host, origin, kind, pieces = example
    headers = [(b"host", host.encode()), (b"content-type", kind.encode())]
    headers += [] if origin is None else [(b"origin", origin.encode())]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode("utf-8", "replace"),
             "query_string": b"", "headers": headers, "client": ("192.0.2.7", 1), "scheme": "http"}  # fmt: skip
    left, said = list(pieces), []

    async def receive() -> Any:
        piece = left.pop(0) if left else b""
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    async def send(event: Any) -> None:
        said.append(event)

    finished(_guarded()(scope, receive, send))
    status, body = said[0]["status"], b"".join(event.get("body", b"") for event in said[1:])
    if status == 200:
        assert host in (OWN, "localhost", "[::1]:1"), host
        assert origin is None or (origin == f"http://{OWN}" and host == OWN), origin
        return GOOD
    error = json.loads(body)["error"]
    assert status != 500
    assert complaint(error["text"]) is None, error["text"]
    return str(error["code"])
