"""A visitor without a browser: speaks the page's own protocol over HTTP. For tests, load and long runs."""

import json
import secrets
from collections.abc import Mapping
from typing import Any, Self

import httpx

API = "/gradio_api"
TIMEOUT = 120.0
Payload = dict[str, Any]


class Refused(RuntimeError):
    """The server turned a request away.

    Attributes:
        status: of HTTP.
        code: of the sentence, where the server gave one.
    """

    def __init__(self, answer: httpx.Response) -> None:
        self.status = answer.status_code
        try:
            body = answer.json()
        except ValueError:
            body = {}
        error = body.get("error")
        self.code = error.get("code") if isinstance(error, dict) else None
        super().__init__(str(body.get("detail", answer.text))[:300])


class Visitor:
    """One browser's worth of a session.

    Args:
        url: of the page.
        other: a visitor of the same page, whose look at its configuration is reused.
    """

    def __init__(self, url: str, other: "Visitor | None" = None) -> None:
        self.session = secrets.token_hex(6)
        self.http = httpx.Client(base_url=url, timeout=TIMEOUT, limits=httpx.Limits(max_keepalive_connections=2))
        ids = self._look() if other is None else (other.component, other.event)
        self.component: int = ids[0]
        self.event: int = ids[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def stage(self, slot: str, content: bytes) -> Payload:
        """Upload a picture; the answer holds its token."""
        fields = {"slot": slot, "component_id": str(self.component), "fn_name": "stage", "session_hash": self.session}
        return self._answer(self.http.post(f"{API}/component_server/", data=fields, files={"file": ("x.png", content)}))

    def decide(self, key: str, settings: Mapping[str, Any]) -> Payload:
        """Move the sliders."""
        return self._call("decide", {"key": key, "settings": dict(settings), "matrix": False})

    def ask(self, task: str, **fields: Any) -> Payload:
        """Any other task."""
        return self._call("ask", {"task": task, **fields})

    def analyse(self, pictures: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> Payload:
        """Through the queue, as the page does."""
        request = {"pictures": dict(pictures), "settings": dict(settings or {})}
        body = {
            "data": [],
            "fn_index": self.event,
            "trigger_id": self.component,
            "session_hash": self.session,
            "event_data": {"id": 1, "request": request},
        }
        self._answer(self.http.post(f"{API}/queue/join", json=body))
        found: Payload | None = None
        with self.http.stream("GET", f"{API}/queue/data", params={"session_hash": self.session}) as stream:
            for line in stream.iter_lines():
                message = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
                if message.get("msg") == "process_completed":
                    if not message["success"]:
                        raise RuntimeError(f"The queue failed: {message['output']}")
                    found = json.loads(message["output"]["data"][0])
        if found is None:
            raise RuntimeError("The queue closed without an answer.")
        return found

    def _call(self, name: str, data: Payload) -> Payload:
        body = {"data": data, "fn_name": name, "component_id": self.component, "session_hash": self.session}
        return self._answer(self.http.post(f"{API}/component_server/", json=body))

    def _look(self) -> tuple[int, int]:
        config = self._answer(self.http.get("/config"))
        component = next(c["id"] for c in config["components"] if c["props"].get("elem_id") == "lens")
        return component, next(d["id"] for d in config["dependencies"] if [component, "analyse"] in d["targets"])

    @staticmethod
    def _answer(answer: httpx.Response) -> Payload:
        if answer.status_code >= 400:
            raise Refused(answer)
        found: Payload = answer.json()
        return found
